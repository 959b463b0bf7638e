import FormStreamTestSupport
import Testing

/// Flags of `post` and `put`: each one in the help is run here and must have its effect.
@Suite struct PostFlagTests {
  private struct Effect {
    let arguments: [String]
    /// What appears in the request or in the output because of the flag; with `!` before it, what disappears.
    let expected: String
    /// Nil if the URL is among the arguments.
    var path: String? = "/"

    init(_ arguments: String..., shows expected: String, at path: String? = "/") {
      (self.arguments, self.expected, self.path) = (arguments, expected, path)
    }
  }

  private static let effects: [String: Effect] = [
    "form": Effect("-F", "a=b", shows: "name=\"a\"\r\n\r\nb\r\n"),
    "field": Effect("--field", "a=@b;c", shows: "\r\n\r\n@b;c\r\n"),
    "file": Effect("--file", "a=words", shows: "filename=\"words\""),
    "type": Effect("-F", "a=b", "--type", "text/x", shows: "Content-Type: text/x\r\n"),
    "filename": Effect("-F", "a=b", "--filename", "c;d", shows: "filename=\"c;d\""),
    "part-header": Effect("-F", "a=b", "--part-header", "X-P: 1", shows: "X-P: 1\r\n"),
    "range": Effect("--file", "a=words", "--range", "1:3", shows: "\r\n\r\nord\r\n"),
    "sniff": Effect("--sniff", "extension", "-F", "a=@x.png", shows: "Content-Type: image/png\r\n"),
    "type-for": Effect(
      "--type-for", "*.png=a/b", "-F", "a=@x.png", shows: "Content-Type: a/b\r\n"),
    "charset": Effect("--charset", "-F", "a=@words", shows: "charset=us-ascii"),
    "magic-file": Effect("--magic-file", "missing", "-F", "a=@words", shows: "\"missing\""),
    "boundary": Effect("--boundary", "xyz", "-F", "a=b", shows: "--xyz--"),
    "escaping": Effect("--escaping", "backslash", "--field", "a\"=b", shows: #"name="a\"""#),
    "browser-text": Effect("--browser-text", "--field", "a=1\n2", shows: "1\r\n2"),
    "verify-boundary": Effect(
      "--verify-boundary", "--boundary", "B", "-F", "a=@bird", shows: "exit 64"),
    "read-ahead": Effect("--read-ahead", "0", "-T", "-", shows: "Transfer-Encoding: chunked\r\n"),
    "spool": Effect("--read-ahead", "0", "--spool", "-T", "-", shows: "Content-Length: 0\r\n"),
    // PostGrowingTests has files that grow.
    "growing": Effect("--growing", "-T", "words", shows: "\r\n\r\nwords\n"),
    "verify-growing": Effect("--verify-growing", "-T", "words", shows: "\r\n\r\nwords\n"),
    "upload-file": Effect("-T", "words", shows: "\r\n\r\nwords\n"),
    "globoff": Effect("-g", "-T", "x[1].png", shows: "The file \"x[1].png\" does not exist"),
    "data": Effect("-d", "a=b", shows: "\r\n\r\na=b"),
    "data-raw": Effect("--data-raw", "@a", shows: "\r\n\r\n@a"),
    "data-binary": Effect("--data-binary", "@words", shows: "\r\n\r\nwords\n"),
    "data-urlencode": Effect("--data-urlencode", "a b", shows: "\r\n\r\na+b"),
    "json-body": Effect("--json-body", "{}", shows: "Content-Type: application/json\r\n"),
    "request": Effect("-X", "PATCH", "-d", "", shows: "PATCH / HTTP/1.1\r\n"),
    "header": Effect("-H", "X-A: 1", "-d", "", shows: "X-A: 1\r\n"),
    "header-file": Effect("--header-file", "headers", "-d", "", shows: "X-Key: k\r\n"),
    "user": Effect("-u", "me:p", "-d", "", shows: "Authorization: Basic bWU6cA==\r\n"),
    "user-file": Effect("--user-file", "user", "-d", "", shows: "Basic bWU6cA==\r\n"),
    "token-file": Effect("--token-file", "token", "-d", "", shows: "Authorization: Bearer t\r\n"),
    "token-env": Effect(
      "--token-env", "HOME", "-d", "", shows: "Authorization: Bearer /"),
    "show-cookies": Effect("-v", "--show-cookies", "-d", "", shows: "< Set-Cookie: a=canary"),
    "basic": Effect("--basic", "-u", "me:p", "-d", "", shows: "Basic bWU6cA==\r\n"),
    "digest": Effect("--digest", "-u", "me:p", "-d", "", shows: "username=\"me\"", at: "/digest"),
    "anyauth": Effect("--anyauth", "-u", "me:p", "-d", "", shows: "username=\"me\"", at: "/digest"),
    "oauth2-bearer": Effect(
      "--oauth2-bearer", "t", "-d", "", shows: "Authorization: Bearer t\r\n"),
    "netrc": Effect("-n", "-d", "", shows: "Basic bmU6cA==\r\n"),
    "netrc-optional": Effect("--netrc-optional", "-d", "", shows: "Basic bmU6cA==\r\n"),
    "netrc-file": Effect("--netrc-file", ".netrc", "-d", "", shows: "Basic bmU6cA==\r\n"),
    "cookie": Effect("-b", "a=b", "-d", "", shows: "Cookie: a=b\r\n"),
    "junk-session-cookies": Effect("-j", "-b", "none", "-d", "", shows: "does not exist"),
    "path-as-is": Effect("--path-as-is", "-d", "", shows: " /a/../b HTTP/1.1", at: "/a/../b"),
    "request-target": Effect("--request-target", "*", "-d", "", shows: "POST * HTTP/1.1"),
    "post301": Effect("--to-curl", "--post301", "-d", "", shows: "--post301"),
    "post302": Effect("--to-curl", "--post302", "-d", "", shows: "--post302"),
    "post303": Effect("--to-curl", "--post303", "-d", "", shows: "--post303"),
    "cookie-jar": Effect("-c", "jar", "-d", "", shows: "\njar\n"),
    "compressed-upload": Effect(
      "--compressed-upload", "gzip", "-d", "a", shows: "Content-Encoding: gzip\r\n"),
    "insecure-auth": Effect(
      "-q", "--insecure-auth", "-u", "me:p", "-d", "", shows: "!without encryption"),
    "url-file": Effect(
      "--dry-run", "--url-file", "url", "-d", "", shows: "POST http://h.example:80/***\n", at: nil),
    "user-agent": Effect("-A", "me", "-d", "", shows: "User-Agent: me\r\n"),
    "query": Effect("--query", "a=b c", "-d", "", shows: " /?a=b+c HTTP/1.1\r\n"),
    "idempotency-key": Effect(
      "--idempotency-key", "k", "-d", "", shows: "Idempotency-Key: \"k\"\r\n"),
    "content-digest": Effect("--content-digest", "-d", "", shows: "Content-Digest: sha-256="),
    "resumable": Effect("--resumable", "-d", "a", shows: "Upload-Complete: ?1\r\n"),
    "resume-file": Effect(
      "--resumable", "--resume-file", "words", "-d", "a", shows: "\"words\" is not a resume file"),
    "piece-size": Effect(
      "--resumable=tus", "--piece-size", "2", "-d", "abc", shows: "Upload-Offset: 2\r\n", at: "/tus"),
    "upload-metadata": Effect(
      "--resumable=tus", "--upload-metadata", "a=b", "-d", "abc", shows: "Upload-Metadata: a Yg==", at: "/tus"),
    "retry": Effect("--retry", "1", "-d", "", shows: "2 requests", at: "/busy"),
    "retry-max-time": Effect(
      "--retry", "1", "--retry-max-time", "0.5", "-d", "", shows: "1 requests", at: "/slow"),
    "max-retry-after": Effect(
      "--retry", "1", "--max-retry-after", "0.5", "-d", "", shows: "1 requests", at: "/slow"),
    "retry-unsafe": Effect(
      "--retry", "1", "--retry-unsafe", "-X", "POST", "-d", "", shows: "2 requests", at: "/lost"),
    "retry-all-errors": Effect(
      "--retry", "1", "--retry-all-errors", "-X", "POST", "-d", "", shows: "2 requests", at: "/lost"
    ),
    "connect-timeout": Effect(
      "--to-curl", "--connect-timeout", "5", "-d", "", shows: "--connect-timeout 5"),
    "max-time": Effect("--max-time", "0.2", "-d", "", shows: "0.2 s", at: "/silent"),
    "stall-timeout": Effect("--to-curl", "--stall-timeout", "7", "-d", "", shows: "--speed-time 7"),
    "response-timeout": Effect(
      "--response-timeout", "0.2", "-d", "", shows: "0.2 s", at: "/silent"),
    "limit-rate": Effect("--to-curl", "--limit-rate", "1K", "-d", "", shows: "--limit-rate 1024"),
    "location": Effect("--to-curl", "-L", "-d", "", shows: "--location"),
    "max-redirs": Effect("--max-redirs", "0", "-d", "", shows: "1 requests", at: "/away"),
    "expect": Effect("--expect", "always", "-d", "a", shows: "Expect: 100-continue\r\n"),
    "expect100-timeout": Effect(
      "--to-curl", "--expect100-timeout", "2", "-d", "", shows: "--expect100-timeout 2"),
    "http1.1": Effect("--to-curl", "--http1.1", "-d", "", shows: "--http1.1"),
    "http2": Effect("--to-curl", "--http2", "-d", "", shows: "--http1.1"),
    "http2-prior-knowledge": Effect(
      "--to-curl", "--http2-prior-knowledge", "-d", "", shows: "--http2-prior-knowledge"),
    "unix-socket": Effect("--unix-socket", "nosuch", "-d", "", shows: "\"nosuch\""),
    "resolve": Effect(
      "--to-curl", "--resolve", "h:80:::1", "-d", "", shows: "--resolve h:80:::1"),
    "cacert": Effect("--to-curl", "--cacert", "c", "-d", "", shows: "--cacert c"),
    "cert": Effect("--to-curl", "-E", "c", "-d", "", shows: "--cert c"),
    "key": Effect("--to-curl", "-E", "c", "--key", "k", "-d", "", shows: "--key k"),
    "capath": Effect("--to-curl", "--capath", "c", "-d", "", shows: "--capath c"),
    "pass": Effect("--pass", "canary", "-d", "", shows: "--cert FILE"),
    "pass-file": Effect(
      "--to-curl", "-E", "c", "--pass-file", "token", "-d", "", shows: "--pass \"$(cat -- token)\""),
    "pinnedpubkey": Effect("--pinnedpubkey", "nosuch", "-d", "", shows: "\"nosuch\""),
    "tlsv1.2": Effect("--to-curl", "--tlsv1.3", "--tlsv1.2", "-d", "", shows: "!--tlsv1.3"),
    "tlsv1.3": Effect("--to-curl", "--tlsv1.3", "-d", "", shows: "--tlsv1.3"),
    "tls-max": Effect(
      "--tls-max", "1.2", "--tlsv1.3", "-d", "", shows: "No version of TLS is left"),
    "insecure": Effect("-k", "-d", "", shows: "the server's identity is not checked"),
    "proxy": Effect("-x", "127.0.0.1:1", "-d", "", shows: "listening at http://127.0.0.1:1"),
    "socks4": Effect(
      "--socks4", "127.0.0.1:1", "-d", "", shows: "listening at socks4://127.0.0.1:1"),
    "socks4a": Effect(
      "--socks4a", "127.0.0.1:1", "-d", "", shows: "listening at socks4a://127.0.0.1:1"),
    "socks5": Effect(
      "--socks5", "127.0.0.1:1", "-d", "", shows: "listening at socks5://127.0.0.1:1"),
    "socks5-hostname": Effect(
      "--socks5-hostname", "127.0.0.1:1", "-d", "", shows: "listening at socks5h://127.0.0.1:1"),
    "proxy-user": Effect(
      "--to-curl", "-x", "p", "-U", "me:canary", "-d", "", shows: "--proxy p --proxy-user me http"),
    "proxy-user-file": Effect(
      "--to-curl", "--proxy-user-file", "user", "-d", "", shows: "--proxy-user \"$(cat -- user)\""),
    "proxy-cacert": Effect("--proxy-cacert", "nosuch", "-d", "", shows: "\"nosuch\""),
    "noproxy": Effect(
      "-x", "127.0.0.1:1", "--noproxy", "127.0.0.1", "-d", "", shows: "POST / HTTP"),
    "ipv4": Effect("--to-curl", "-4", "-d", "", shows: "--ipv4"),
    "ipv6": Effect("--to-curl", "-6", "-d", "", shows: "--ipv6"),
    "interface": Effect("--interface", "if!nosuch0", "-d", "", shows: "(--interface)"),
    "keepalive-time": Effect(
      "--to-curl", "--keepalive-time", "7", "-d", "", shows: "--keepalive-time 7"),
    "no-keepalive": Effect("--to-curl", "--no-keepalive", "-d", "", shows: "--no-keepalive"),
    "connect-to": Effect(
      "--to-curl", "--connect-to", "::h:1", "-d", "", shows: "--connect-to ::h:1"),
    "create-dirs": Effect("-o", "e/kept", "--create-dirs", "-d", "", shows: "\ne\n"),
    "dump-header": Effect("-D", "heads", "-d", "", shows: "\nheads\n"),
    "fail": Effect("-f", "-d", "", shows: "404 to POST. The server says: the page is gone\n", at: "/gone"),
    "get": Effect("-G", "-d", "a=b", shows: "GET /?a=b HTTP/1.1\r\n"),
    "head": Effect("-I", shows: "HEAD / HTTP/1.1\r\n"),
    "include": Effect("-i", "-d", "", shows: "HTTP/1.1 201 Created\r\n"),
    "output-dir": Effect(
      "-o", "kept", "--output-dir", "made", "--create-dirs", "-d", "", shows: "\nmade\n"),
    "proto": Effect("--proto", "=https", "-d", "", shows: "--proto allows only https"),
    "proto-redir": Effect("--proto-redir", "=ftp", "-d", "", shows: "--proto-redir (argument"),
    "referer": Effect("-e", "http://r/", "-d", "", shows: "Referer: http://r/\r\n"),
    "remote-name": Effect("-O", "-d", "", shows: "\nname.txt\n", at: "/d/name.txt"),
    "retry-delay": Effect(
      "--to-curl", "--retry", "1", "--retry-delay", "3", "-d", "", shows: "--retry-delay 3"),
    "show-error": Effect("-s", "-S", "-d", "", shows: "formstream: ", at: "/gone"),
    "silent": Effect("-s", "-d", "", shows: "!formstream: ", at: "/gone"),
    "url": Effect(
      "--dry-run", "--url", "http://h.example/x", "-d", "", shows: "POST http://h.example/x\n",
      at: nil),
    "url-query": Effect("--url-query", "a=b c", "-d", "", shows: " /?a=b+c HTTP/1.1\r\n"),
    "write-out": Effect("-w", "%{http_code}\\n", "-d", "", shows: "made201\n"),
    "dry-run": Effect("--dry-run", "-F", "a=b", shows: "@0 "),
    "json": Effect("--json", "-d", "", shows: "{\"schema\":\"formstream.result/5\","),
    "output": Effect("-o", "kept", "-d", "", shows: "\nkept\n"),
    "expect-status": Effect("--expect-status", "200", "-d", "", shows: "exit 1\n"),
    "output-any-status": Effect(
      "-o", "kept", "--output-any-status", "--expect-status", "200", "-d", "", shows: "\nkept\n"),
    "compressed": Effect("--compressed", "-d", "", shows: "Accept-Encoding: deflate, gzip\r\n"),
    "max-filesize": Effect("-o", "kept", "--max-filesize", "3", "-d", "", shows: "--max-filesize"),
    "max-response": Effect("--json", "--max-response", "2", "-d", "", shows: "\"body\":\"ma\""),
    "sha256": Effect("--json", "--sha256", "-d", "abc", shows: "\"sha256\":\"ba7816bf"),
    "to-curl": Effect("--to-curl", "-d", "", shows: "curl "),
    "progress": Effect("--progress", "json", "-d", "", shows: "formstream.progress/2"),
    "quiet": Effect("-q", "--insecure", "-d", "", shows: "!formstream: "),
    "verbose": Effect("-v", "-d", "", shows: "> User-Agent: "),
  ]

  @Test(arguments: ["post", "put"])
  func `every flag in the help is run here`(_ verb: String) throws {
    #expect(try flags(inHelpOf: verb) == Set(Self.effects.keys))
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

  /// Runs `post`, and returns the requests, the output, the exit code and the files afterwards as one text.
  private static func observe(_ arguments: [String], path: String?) throws -> String {
    let place = try TemporaryDirectory()
    for (name, contents) in [
      ("words", "words\n"), ("x.png", "words\n"), ("bird", "x\r\n--Bird\r\n"),
      ("headers", "X-Key: k\n"), ("user", "me:p\n"), ("token", "t\n"),
      ("url", "http://h.example/hook\n"), (".netrc", "machine 127.0.0.1 login ne password p\n"),
    ] {
      try place.write(name, contents)
    }
    let server = try ScriptedServer { request in
      switch (request.target, request.index) {
      case ("/busy", 0): [.readBody, .respond(503, headers: [("Retry-After", "0")])]
      case ("/slow", 0): [.readBody, .respond(503, headers: [("Retry-After", "1")])]
      case ("/lost", 0): [.readBody, .reset]
      case ("/away", 0): [.readBody, .respond(307, headers: [("Location", "/")])]
      case ("/silent", _): [.readBody, .stall]
      case ("/tus", _), ("/tus/1", _): tusSteps(request)
      case ("/gone", _): .good(404, body: "the page is gone")
      case ("/digest", 0):
        .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
      default: .good(201, headers: [("Set-Cookie", "a=canary")], body: "made")
      }
    }
    let result = try run(
      "formstream", ["post"] + arguments + (path.map { [server.url + $0] } ?? []), in: place,
      environment: ["HOME": place.path])
    let requests = server.requests.map { String(decoding: $0.head + $0.body, as: UTF8.self) }
    let files = try shell("ls", in: place).output
    return """
      \(requests.joined(separator: "\n"))
      \(requests.count) requests, exit \(result.exit ?? -1)
      \(result.output)
      \(result.stderr)
      \(files)
      """
  }
}
