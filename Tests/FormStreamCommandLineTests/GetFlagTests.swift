import FormStreamTestSupport
import Testing

/// Flags of `get`: each one in the help is run here and must have its effect.
@Suite struct GetFlagTests {
  private struct Effect {
    let arguments: [String]
    /// What appears in the requests, in the output or in the list of files because of the flag; with `!` before it, what
    /// disappears.
    let expected: String
    /// Nil if the URL is among the arguments; HTTPS there is the server, which never completes a handshake.
    var path: String? = "/dir/name.txt"

    init(_ arguments: String..., shows expected: String, at path: String? = "/dir/name.txt") {
      (self.arguments, self.expected, self.path) = (arguments, expected, path)
    }
  }

  private static let effects: [String: Effect] = [
    "output": Effect("-o", "kept", shows: "\nkept\n"),
    "remote-name": Effect("-O", shows: "\nname.txt\n"),
    "remote-name-all": Effect("--remote-name-all", shows: "\nname.txt\n"),
    "remote-name-safe": Effect("-J", shows: "\nfrom server.txt\n", at: "/named"),
    "output-dir": Effect("-O", "--output-dir", "d", shows: "\nd/name.txt\n"),
    "create-dirs": Effect("-o", "e/f/kept", "--create-dirs", shows: "\ne/f/kept\n"),
    "continue-at": Effect(
      "--json", "-C", "-", "-o", "begun", shows: "\"resumed_from\":4", at: "/begun"),
    "no-clobber": Effect("-o", "token", "--no-clobber", shows: "\ntoken.1\n"),
    "skip-existing": Effect("--skip-existing", "-o", "token", shows: "\n0 requests, exit 0\n"),
    "remove-on-error": Effect(
      "--retry", "0", "-m", "0.5", "-o", "f", "--remove-on-error", shows: "!\nf.part\n", at: "/half"
    ),
    "remote-time": Effect("-o", "f", "-R", shows: "\nfrom 1994: f\n", at: "/timed"),
    "time-cond": Effect("-z", "1999-12-12", shows: "If-Modified-Since: Sun, 12 Dec 1999"),
    "jobs": Effect("-j", "2", "-O", shows: "1 URL: 1 ok.\n"),
    "files-from": Effect("--retry", "0", "--files-from", "url", shows: "2 URLs: 1 ok, 1 "),
    "files-from0": Effect("--files-from0", "url", shows: "The URL (line 1 of \"url\")"),
    "range": Effect("-r", "4-7", shows: "Range: bytes=4-7\r\n", at: "/range"),
    "sha256": Effect("--sha256", String(repeating: "a", count: 64), shows: "not that of --sha256"),
    "compressed": Effect("--compressed", shows: "Accept-Encoding: deflate, gzip\r\n"),
    "max-filesize": Effect("--max-filesize", "3", shows: "3 bytes that --max-filesize"),
    "max-response": Effect("--json", "--max-response", "2", shows: "\"body\":\"th\""),
    "connect-to": Effect(
      "--connect-to", "h.invalid:1:127.0.0.1:1", "--retry", "0", "http://h.invalid:1/",
      shows: "nothing is listening", at: nil),
    "data": Effect("-G", "-d", "a=b", shows: "GET /dir/name.txt?a=b HTTP/1.1\r\n"),
    "data-binary": Effect("-G", "--data-binary", "a=b", shows: "?a=b HTTP/1.1\r\n"),
    "data-raw": Effect("-G", "--data-raw", "@a", shows: "?@a HTTP/1.1\r\n"),
    "data-urlencode": Effect("-G", "--data-urlencode", "a=b&", shows: "?a=b%26 HTTP/1.1\r\n"),
    "dump-header": Effect("-D", "heads", shows: "\nheads\n"),
    "fail": Effect("-f", shows: "404 to GET. The server says: missing\n", at: "/missing"),
    "get": Effect("-G", "-d", "a=b", shows: "?a=b HTTP/1.1\r\n"),
    "head": Effect("-I", shows: "HEAD /dir/name.txt HTTP/1.1\r\n"),
    "include": Effect("-i", shows: "HTTP/1.1 200 OK\r\n"),
    "proto": Effect("--proto", "=https", shows: "--proto allows only https"),
    "proto-redir": Effect("--proto-redir", "=ftp", shows: "--proto-redir (argument"),
    "referer": Effect("-e", "http://r/", shows: "Referer: http://r/\r\n"),
    "request": Effect("-X", "DELETE", shows: "DELETE /dir/name.txt HTTP/1.1\r\n"),
    "retry-delay": Effect(
      "--retry", "1", "--retry-delay", "0.3", "--retry-max-time", "0.2", shows: "1 requests",
      at: "/busy"),
    "show-error": Effect("-s", "-S", shows: "formstream: ", at: "/missing"),
    "silent": Effect("-s", shows: "!formstream: ", at: "/missing"),
    "url": Effect("--retry", "0", "--url", "http://h.invalid/x", shows: "h.invalid", at: nil),
    "url-query": Effect("--url-query", "a=b c", shows: "?a=b+c HTTP/1.1\r\n"),
    "write-out": Effect("-w", "%{http_code}\\n", shows: "the body\n200\n"),
    "header": Effect("-H", "X-A: 1", shows: "X-A: 1\r\n"),
    "header-file": Effect("--header-file", "headers", shows: "X-Key: k\r\n"),
    "user": Effect("-u", "me:p", shows: "Authorization: Basic bWU6cA==\r\n"),
    "user-file": Effect("--user-file", "user", shows: "Basic bWU6cA==\r\n"),
    "token-env": Effect("--token-env", "HOME", shows: "Authorization: Bearer /"),
    "token-file": Effect("--token-file", "token", shows: "Authorization: Bearer t\r\n"),
    "insecure-auth": Effect(
      "--connect-timeout", "0.01", "--retry", "0", "--insecure-auth", "-u", "me:p",
      "http://192.0.2.1/", shows: "!without encryption", at: nil),
    "url-file": Effect(
      "--retry", "0", "--url-file", "url", shows: "http://h.invalid:80/***", at: nil),
    "user-agent": Effect("-A", "me", shows: "User-Agent: me\r\n"),
    "query": Effect("--query", "a=b c", shows: " /dir/name.txt?a=b+c HTTP/1.1\r\n"),
    "retry": Effect("--retry", "1", shows: "2 requests", at: "/busy"),
    "max-retry-after": Effect(
      "--retry", "2", "--max-retry-after", "0.5", shows: "1 requests", at: "/slow"),
    "retry-max-time": Effect(
      "--retry", "2", "--retry-max-time", "0.5", shows: "1 requests", at: "/slow"),
    "retry-all-errors": Effect(
      "--retry", "1", "--retry-delay", "0.01", "--retry-all-errors", shows: "2 requests",
      at: "/missing"),
    "connect-timeout": Effect(
      "--connect-timeout", "0.3", "--retry", "0", "HTTPS", shows: "could not be reached in time",
      at: nil),
    "max-time": Effect("--max-time", "0.2", "--retry", "0", shows: "0.2 s", at: "/silent"),
    "stall-timeout": Effect("--stall-timeout", "0.2", "--retry", "0", shows: "0.2 s", at: "/half"),
    "response-timeout": Effect(
      "--response-timeout", "0.2", "--retry", "0", shows: "0.2 s", at: "/silent"),
    // libcurl waits for two seconds after the first piece. Without the flag it is little more than half a second.
    "limit-rate": Effect(
      "--json", "--limit-rate", "50K", shows: "!\"seconds\":0.", at: "/large"),
    "location": Effect("-L", shows: "the body", at: "/elsewhere"),
    "max-redirs": Effect("--max-redirs", "0", shows: "1 requests", at: "/away"),
    "http1.1": Effect("-v", "--http1.1", shows: "> GET /dir/name.txt HTTP/1.1"),
    "http2": Effect("-v", "--http2", shows: "> GET /dir/name.txt HTTP/1.1"),
    "http2-prior-knowledge": Effect(
      "--http2-prior-knowledge", "--retry", "0", shows: "PRI * HTTP/2.0\r\n"),
    "unix-socket": Effect("--unix-socket", "nosuch", "--retry", "0", shows: "\"nosuch\""),
    "resolve": Effect(
      "--resolve", "h.invalid:1:127.0.0.1", "--retry", "0", "http://h.invalid:1/",
      shows: "nothing is listening", at: nil),
    "cacert": Effect("--cacert", "missing", "HTTPS", shows: "exit 66", at: nil),
    "cert": Effect("-E", "missing", "HTTPS", shows: "exit 66", at: nil),
    "key": Effect(
      "-E", "missing", "--key", "missing2", "HTTPS", shows: "exit 66", at: nil),
    "insecure": Effect("-k", shows: "the server's identity is not checked"),
    "capath": Effect("--capath", "nosuch", shows: "\"nosuch\""),
    "pass": Effect("--pass", "canary", shows: "--cert FILE"),
    "pass-file": Effect("-E", "missing", "--pass-file", "nosuch", shows: "--pass-file"),
    "pinnedpubkey": Effect("--pinnedpubkey", "nosuch", shows: "\"nosuch\""),
    "tlsv1.2": Effect("--tls-max", "1.2", "--tlsv1.3", "--tlsv1.2", shows: "the body"),
    "tlsv1.3": Effect("--tls-max", "1.2", "--tlsv1.3", shows: "No version of TLS is left"),
    "tls-max": Effect("--tlsv1.3", "--tls-max", "1.2", shows: "No version of TLS is left"),
    "proxy": Effect("--retry", "0", "-x", "127.0.0.1:1", shows: "listening at http://127.0.0.1:1"),
    "socks4": Effect(
      "--retry", "0", "--socks4", "127.0.0.1:1", shows: "listening at socks4://127.0.0.1:1"),
    "socks4a": Effect(
      "--retry", "0", "--socks4a", "127.0.0.1:1", shows: "listening at socks4a://127.0.0.1:1"),
    "socks5": Effect(
      "--retry", "0", "--socks5", "127.0.0.1:1", shows: "listening at socks5://127.0.0.1:1"),
    "socks5-hostname": Effect(
      "--retry", "0", "--socks5-hostname", "127.0.0.1:1",
      shows: "listening at socks5h://127.0.0.1:1"),
    "proxy-user": Effect("-U", "canary", shows: "-U (argument 3) has no colon"),
    "proxy-user-file": Effect("--proxy-user-file", "nosuch", shows: "--proxy-user-file"),
    "proxy-cacert": Effect("--proxy-cacert", "nosuch", shows: "\"nosuch\""),
    "noproxy": Effect("-x", "127.0.0.1:1", "--noproxy", "127.0.0.1", shows: "the body"),
    "ipv4": Effect("-6", "-4", shows: "the body"),
    "ipv6": Effect("--retry", "0", "-6", shows: "could not be sent"),
    "interface": Effect("--interface", "if!nosuch0", shows: "(--interface)"),
    "keepalive-time": Effect("--keepalive-time", "canary", shows: "--keepalive-time"),
    "no-keepalive": Effect("--no-keepalive", shows: "the body"),
    "basic": Effect("--basic", "-u", "me:p", shows: "Basic bWU6cA==\r\n"),
    "digest": Effect("--digest", "-u", "me:p", shows: "username=\"me\"", at: "/digest"),
    "anyauth": Effect("--anyauth", "-u", "me:p", shows: "username=\"me\"", at: "/digest"),
    "oauth2-bearer": Effect("--oauth2-bearer", "t", shows: "Authorization: Bearer t\r\n"),
    "netrc": Effect("-n", shows: "Basic bmU6cA==\r\n"),
    "netrc-optional": Effect("--netrc-optional", shows: "Basic bmU6cA==\r\n"),
    "netrc-file": Effect("--netrc-file", ".netrc", shows: "Basic bmU6cA==\r\n"),
    "cookie": Effect("-b", "a=b", shows: "Cookie: a=b\r\n"),
    "junk-session-cookies": Effect("-j", "-b", "none", shows: "does not exist"),
    "path-as-is": Effect("--path-as-is", shows: " /a/../b HTTP/1.1", at: "/a/../b"),
    "request-target": Effect("--request-target", "*", shows: "GET * HTTP/1.1"),
    "post301": Effect("--post301", shows: "the body\n"),
    "post302": Effect("--post302", shows: "the body\n"),
    "post303": Effect("--post303", shows: "the body\n"),
    "cookie-jar": Effect("-c", "jar", shows: "\njar\n"),
    "globoff": Effect("-g", shows: "GET /[1-2] HTTP/1.1", at: "/[1-2]"),
    "show-cookies": Effect("-v", "--show-cookies", shows: "< Set-Cookie: a=canary"),
    "json": Effect("--json", shows: "{\"schema\":\"formstream.result/5\","),
    "expect-status": Effect("--expect-status", "404", shows: "exit 0\n", at: "/missing"),
    "output-any-status": Effect(
      "-o", "kept", "--output-any-status", shows: "\nkept\n", at: "/missing"),
    "progress": Effect("--progress", "json", shows: "\"phase\":\"done\""),
    "quiet": Effect("-q", "--insecure", shows: "!formstream: "),
    "verbose": Effect("-v", shows: "> User-Agent: "),
  ]

  @Test func `every flag in the help is run here`() throws {
    #expect(try flags(inHelpOf: "get") == Set(Self.effects.keys))
  }

  @Test(arguments: effects.keys.sorted())
  func `each flag has its effect`(_ flag: String) throws {
    let effect = try #require(Self.effects[flag])
    let seen = try Self.observe(effect.arguments, path: effect.path)
    if effect.expected.hasPrefix("!") {
      #expect(!seen.contains(effect.expected.dropFirst()), "\(seen)")
    } else {
      #expect(seen.contains(effect.expected), "\(seen)")
    }
  }

  /// Runs `get`, and returns the requests, the output, the exit code and the files afterwards as one text.
  private static func observe(_ arguments: [String], path: String?) throws -> String {
    let place = try TemporaryDirectory()
    for (name, contents) in [
      ("headers", "X-Key: k\n"), ("user", "me:p\n"), ("token", "t\n"),
      ("url", "http://h.invalid/hook\n"), ("d/old", "old"),
      (".netrc", "machine 127.0.0.1 login ne password p\n"),
    ] {
      if name.contains("/") { _ = try shell("mkdir d", in: place) }
      try place.write(name, contents)
    }
    let other = try ScriptedServer { _ in .good(body: "the body\n") }
    let server = try ScriptedServer { request in
      switch (request.target, request.index) {
      case ("/busy", _): .good(503, headers: [("Retry-After", "0")])
      case ("/slow", 0): .good(503, headers: [("Retry-After", "1")])
      case ("/away", 0): .good(302, headers: [("Location", "/")])
      case ("/elsewhere", _): .good(302, headers: [("Location", other.url)])
      case ("/silent", _): [.stall]
      case ("/half", _): [.respond(200, body: "half", framing: .announced(9)), .stall]
      case ("/large", _):
        [.send("HTTP/1.1 200 OK\r\nContent-Length: 300003\r\n\r\n")]
          + [0, 1, 2].flatMap { _ in
            [
              .send([UInt8](repeating: 120, count: 100_000)),
              .sendSlowly([120], each: .milliseconds(200)),
            ]
          }
      case ("/missing", _): .good(404, body: "missing")
      case ("/timed", _): .good(headers: [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")])
      case ("/digest", 0):
        .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
      case ("/named", _):
        .good(
          headers: [("Content-Disposition", "attachment; filename=\"../from server.txt\"")],
          body: "the body\n")
      case ("/range", _):
        .good(206, headers: [("Content-Range", "bytes 4-7/9")], body: "body")
      case ("/begun", _):
        if request.header("Range") == "bytes=4-" {
          .good(
            206, headers: [("Content-Range", "bytes 4-8/9"), ("ETag", "\"1\"")], body: "body\n")
        } else {
          [.respond(200, headers: [("ETag", "\"1\"")], body: "the ", framing: .announced(9))]
        }
      default: .good(headers: [("Set-Cookie", "a=canary")], body: "the body\n")
      }
    }
    if path == "/begun" {
      let begun = try formstream(
        "get", "--retry", "0", "-o", "begun", "\(server.url)/begun", in: place)
      #expect(begun.exit == 75, "\(begun.stderr)")
    }
    let https = server.url.replacing("http:", with: "https:")
    let arguments = arguments.map { $0 == "HTTPS" ? https : $0 }
    let result = try run(
      "formstream", ["get"] + arguments + (path.map { [server.url + $0] } ?? []), in: place,
      environment: ["HOME": place.path])
    let requests = server.requests.map { String(decoding: $0.head + $0.body, as: UTF8.self) }
    let files = try shell(
      "find . -type f | cut -c3- | sort; find . ! -newermt 1995-01-01 -printf 'from %TY: %P\n'",
      in: place
    ).output
    return """
      \(requests.joined(separator: "\n"))
      \(requests.count) requests, exit \(result.exit ?? -1)
      \(result.output)
      \(result.stderr)
      \(files)
      """
  }
}
