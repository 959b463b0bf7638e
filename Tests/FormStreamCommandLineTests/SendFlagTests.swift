import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Flags of `send`: each one in the help is run here and must have its effect.
@Suite struct SendFlagTests {
  private struct Effect {
    let arguments: [String]
    /// What appears in the requests or in the output because of the flag; with `!` before it, what disappears.
    let expected: String
    let path: String
    /// Whether the URL and the file `words` are among the arguments.
    let isComplete: Bool

    init(
      _ arguments: String..., shows expected: String, at path: String = "/",
      isComplete: Bool = false
    ) {
      (self.arguments, self.expected, self.path) = (arguments, expected, path)
      self.isComplete = isComplete
    }
  }

  private static let effects: [String: Effect] = [
    "files-from": Effect("--files-from", "list", shows: "filename=\"x.png\""),
    "files-from0": Effect("--files-from0", "list0", shows: "filename=\"x.png\""),
    "form": Effect("-F", "a=b", shows: "name=\"a\"\r\n\r\nb\r\n"),
    "field": Effect("--field", "a=@b;c", shows: "\r\n\r\n@b;c\r\n"),
    "file": Effect("--file", "a=x.png", shows: "name=\"a\"; filename=\"x.png\""),
    "type": Effect("-F", "a=b", "--type", "text/x", shows: "Content-Type: text/x\r\n"),
    "filename": Effect("--filename", "{stem};d", shows: "filename=\"words;d\""),
    "field-template": Effect("--field-template", "a=@{size}", shows: "\r\n\r\n@6\r\n"),
    "make-collections": Effect("--make-collections", shows: "add --put"),
    "put": Effect("--put", shows: "PUT /words HTTP/1.1\r\n"),
    "per-request": Effect("--per-request", "2", "x.png", "bird", shows: "2 requests"),
    "per-request-bytes": Effect(
      "--per-request-bytes", "14", "x.png", "bird", shows: "2 requests"),
    "together": Effect("--together", "x.png", "bird", shows: "1 requests"),
    "slice": Effect("--slice", "2", shows: "3 requests"),
    "verify": Effect("--verify", "sha256", shows: "digest-mismatch"),
    "idempotency-key": Effect("--idempotency-key", "auto", shows: "Idempotency-Key: \""),
    "include": Effect("--include", "*.png", ".", shows: "!filename=\"bird\""),
    "exclude": Effect("--exclude", "b*", ".", shows: "!filename=\"bird\""),
    "hidden": Effect("--hidden", ".", shows: "filename=\".hidden\""),
    "follow-symlinks": Effect("--follow-symlinks", ".", shows: "filename=\"link\""),
    "manifest": Effect("--manifest", "nosuch", "URL", shows: "\"nosuch\"", isComplete: true),
    "shard": Effect("--shard", "1/2", shows: "--manifest FILE"),
    "shards": Effect("--shards", "2", shows: "--shard auto"),
    "shard-base": Effect("--shard-base", "1", shows: "--shard auto"),
    "part-header": Effect("-F", "a=b", "--part-header", "X-P: 1", shows: "X-P: 1\r\n"),
    "range": Effect("--file", "a=words", "--range", "1:3", shows: "\r\n\r\nord\r\n"),
    "sniff": Effect("--sniff", "extension", "x.png", shows: "Content-Type: image/png\r\n"),
    "type-for": Effect("--type-for", "*.png=a/b", "x.png", shows: "Content-Type: a/b\r\n"),
    "charset": Effect("--charset", shows: "charset=us-ascii"),
    "magic-file": Effect("--magic-file", "missing", shows: "\"missing\""),
    "boundary": Effect("--boundary", "xyz", shows: "--xyz--"),
    "escaping": Effect("--escaping", "backslash", "--field", "a\"=b", shows: #"name="a\"""#),
    "browser-text": Effect("--browser-text", "--field", "a=1\n2", shows: "1\r\n2"),
    "verify-boundary": Effect(
      "--verify-boundary", "--boundary", "B", "bird", shows: "boundary-collision"),
    "request": Effect("-X", "PATCH", shows: "PATCH / HTTP/1.1\r\n"),
    "header": Effect("-H", "X-A: 1", shows: "X-A: 1\r\n"),
    "header-file": Effect("--header-file", "headers", shows: "X-Key: k\r\n"),
    "user": Effect("-u", "me:p", shows: "Authorization: Basic bWU6cA==\r\n"),
    "user-file": Effect("--user-file", "user", shows: "Basic bWU6cA==\r\n"),
    "basic": Effect("--basic", "-u", "me:p", shows: "Basic bWU6cA==\r\n"),
    "digest": Effect("--digest", "-u", "me:p", shows: "username=\"me\"", at: "/digest"),
    "anyauth": Effect("--anyauth", "-u", "me:p", shows: "username=\"me\"", at: "/digest"),
    "oauth2-bearer": Effect("--oauth2-bearer", "t", shows: "Authorization: Bearer t\r\n"),
    "netrc": Effect("-n", shows: "Basic bmU6cA==\r\n"),
    "netrc-optional": Effect("--netrc-optional", shows: "Basic bmU6cA==\r\n"),
    "netrc-file": Effect("--netrc-file", ".netrc", shows: "Basic bmU6cA==\r\n"),
    "cookie": Effect("-b", "a=b", shows: "Cookie: a=b\r\n"),
    "cookie-jar": Effect("-c", "no/such", shows: "no/such\" can't be written"),
    "compressed-upload": Effect("--compressed-upload", "gzip", shows: "Content-Encoding: gzip\r\n"),
    "read-ahead": Effect(
      "--compressed-upload", "gzip", "--read-ahead", "0", shows: "Transfer-Encoding: chunked"),
    "spool": Effect(
      "--compressed-upload", "gzip", "--read-ahead", "0", "--spool", shows: "Content-Length: "),
    "token-env": Effect("--token-env", "HOME", shows: "Authorization: Bearer /"),
    "token-file": Effect("--token-file", "token", shows: "Authorization: Bearer t\r\n"),
    "insecure-auth": Effect(
      "-q", "--insecure-auth", "--resolve", "h.example:80:127.0.0.1", "--retry", "0", "-u", "me:p",
      "http://h.example:80/", "words", shows: "!without encryption", isComplete: true),
    "url-file": Effect("--json", "--url-file", "url", "words", shows: "/***\"", isComplete: true),
    "user-agent": Effect("-A", "me", shows: "User-Agent: me\r\n"),
    "query": Effect("--query", "a=b c", shows: " /?a=b+c HTTP/1.1\r\n"),
    "content-digest": Effect("--content-digest", shows: "Content-Digest: sha-256="),
    "resumable": Effect("--resumable", shows: "OPTIONS / HTTP/1.1\r\n"),
    "piece-size": Effect(
      "--resumable=tus", "--piece-size", "2", shows: "Upload-Offset: 4\r\n", at: "/tus"),
    "upload-metadata": Effect(
      "--resumable=tus", "--upload-metadata", "a=b", shows: "Upload-Metadata: a Yg==,", at: "/tus"),
    "retry": Effect("--retry", "1", shows: "2 requests", at: "/busy"),
    "max-retry-after": Effect(
      "--retry", "1", "--max-retry-after", "0.5", shows: "1 requests", at: "/slow"),
    "retry-delay": Effect(
      "--retry", "1", "--retry-delay", "0.01", shows: "2 requests", at: "/busy"),
    "retry-unsafe": Effect("--retry", "1", "--retry-unsafe", shows: "2 requests", at: "/lost"),
    "retry-all-errors": Effect(
      "--retry", "1", "--retry-all-errors", shows: "2 requests", at: "/lost"),
    "connect-timeout": Effect(
      "--connect-timeout", "0.2", "--retry", "0", "--resolve", "h.example:80:192.0.2.1",
      "http://h.example:80/", "words", shows: "exit 75", isComplete: true),
    "max-time": Effect("--max-time", "0.2", shows: "0.2 s", at: "/silent"),
    "stall-timeout": Effect(
      "--stall-timeout", "0.2", "--expect", "never", "--retry", "0", "large", shows: "0.2 s",
      at: "/stuck"),
    "response-timeout": Effect("--response-timeout", "0.2", shows: "0.2 s", at: "/silent"),
    "limit-rate": Effect("--limit-rate", "1M", shows: "exit 0"),
    "location": Effect("-L", shows: "2 requests", at: "/moved"),
    "max-redirs": Effect("--max-redirs", "0", shows: "1 requests", at: "/away"),
    "expect": Effect("--expect", "always", shows: "Expect: 100-continue\r\n"),
    "expect100-timeout": Effect(
      "--expect", "always", "--expect100-timeout", "0.1", shows: "exit 0", at: "/deaf"),
    "jobs": Effect("-j", "1", "x.png", "bird", shows: "1 connections"),
    "as": Effect("--as", "photo", shows: "name=\"photo\"; filename=\"words\""),
    "journal": Effect("--journal", "missing/journal", shows: "mkdir -p"),
    "failed": Effect("--failed", "rest", "--retry", "0", shows: "The failed list", at: "/lost"),
    "log": Effect("--log", "/dev/stderr", shows: "\tok\t6\twords\n"),
    "map": Effect(
      "--map", "/dev/stderr", "--map-value", "id", shows: "not in the file of --map: the response is not JSON"),
    "map-value": Effect("--map-value", "id", shows: "add --map FILE"),
    "progress": Effect("--progress", "json", shows: "formstream.progress/2"),
    "all": Effect("--all", shows: "--all is about what a journal says"),
    "checksum": Effect("--checksum", "--journal", "j", "--json", shows: "\"sha256\":\"ff6"),
    "resume-only": Effect(
      "--resume-only", "--all", "--journal", "j", shows: "--resume-only begins no new round"),
    "skip-unknown": Effect("--skip-unknown", shows: "--journal DIR"),
    "keep-going": Effect("--keep-going", "missing", shows: "1 requests"),
    "max-rate": Effect("--max-rate", "100", shows: "exit 0"),
    "at-least": Effect("--at-least", "2", shows: "and --at-least is 2: nothing is sent"),
    "max-failures": Effect(
      "--max-failures", "1", "-j", "1", "--retry", "0", "x.png", "bird", shows: "--max-failures says", at: "/lost"),
    "http1.1": Effect("--http1.1", shows: " HTTP/1.1\r\n"),
    "http2": Effect("--http2", shows: " HTTP/1.1\r\n"),
    "http2-prior-knowledge": Effect(
      "--http2-prior-knowledge", "--retry", "0", shows: "PRI * HTTP/2.0"),
    "unix-socket": Effect("--unix-socket", "nosuch", "--retry", "0", shows: "exit 75"),
    "resolve": Effect(
      "--retry", "0", "--resolve", "h.example:1:127.0.0.1", "http://h.example:1/", "words",
      shows: "nothing is listening", isComplete: true),
    "cacert": Effect("--cacert", "missing", shows: "\"missing\""),
    "cert": Effect("-E", "missing", shows: "\"missing\""),
    "key": Effect("-E", "words", "--key", "missing", shows: "\"missing\""),
    "capath": Effect("--capath", "missing", shows: "\"missing\""),
    "pass": Effect("--pass", "canary", shows: "--cert FILE"),
    "pass-file": Effect("-E", "words", "--pass-file", "missing", shows: "can't be read"),
    "pinnedpubkey": Effect("--pinnedpubkey", "missing", shows: "\"missing\""),
    "tlsv1.2": Effect("--tlsv1.3", "--tlsv1.2", "--tls-max", "1.2", shows: "1 requests"),
    "tlsv1.3": Effect("--tlsv1.3", "--tls-max", "1.2", shows: "No version of TLS is left"),
    "tls-max": Effect("--tls-max", "1.1", shows: "choose one of 1.2, 1.3"),
    "insecure": Effect("-k", shows: "the server's identity is not checked"),
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
    "proxy-user": Effect("-U", "canary", shows: "no colon"),
    "proxy-user-file": Effect("--proxy-user-file", "token", shows: "no colon"),
    "proxy-cacert": Effect("--proxy-cacert", "missing", shows: "\"missing\""),
    "noproxy": Effect("-x", "127.0.0.1:1", "--noproxy", "127.0.0.1", shows: "1 requests"),
    "connect-to": Effect("--connect-to", "canary", shows: "is not HOST:PORT:HOST:PORT"),
    "ipv4": Effect("-4", shows: "1 requests"),
    "ipv6": Effect("-6", "--retry", "0", shows: "used (--ipv6)"),
    "interface": Effect("--interface", "if!nosuch0", shows: "interface-unusable"),
    "keepalive-time": Effect("--keepalive-time", "0", shows: "from 1 to 32767"),
    "no-keepalive": Effect("--no-keepalive", shows: "1 requests"),
    "json": Effect("--json", shows: "{\"schema\":\"formstream.record/2\","),
    "expect-status": Effect("--expect-status", "200", shows: "exit 1\n"),
    "sha256": Effect("--json", "--sha256", shows: "\"sha256\":\"ff6"),
    "quiet": Effect("-q", shows: "!1 file: 1 ok"),
    "verbose": Effect("-v", shows: "> User-Agent: "),
  ]

  @Test func `every flag in the help is run here`() throws {
    #expect(try flags(inHelpOf: "send") == Set(Self.effects.keys))
  }

  @Test(arguments: effects.keys.sorted())
  func `each flag has its effect`(_ flag: String) throws {
    let effect = try #require(Self.effects[flag])
    let seen = try Self.observe(effect)
    if effect.expected.hasPrefix("!") {
      #expect(!seen.contains(effect.expected.dropFirst()), "\(seen)")
    } else {
      #expect(seen.contains(effect.expected), "\(seen)")
    }
  }

  /// Runs `send`, and returns the requests, the output and the exit code as one text.
  private static func observe(_ effect: Effect) throws -> String {
    let place = try TemporaryDirectory()
    for (name, contents) in [
      ("words", "words\n"), ("x.png", "words\n"), ("bird", "x\r\n--B\r\n"),
      ("headers", "X-Key: k\n"), ("user", "me:p\n"), ("token", "t\n"), ("list", "x.png\n"),
      ("list0", "x.png\0"), (".hidden", "words\n"),
      (".netrc", "machine 127.0.0.1 login ne password p\n"),
    ] {
      try place.write(name, contents)
    }
    let server = try ScriptedServer { request in
      switch (request.target, request.index) {
      case ("/busy", 0): [.readBody, .respond(503, headers: [("Retry-After", "0")])]
      case ("/slow", 0): [.readBody, .respond(503, headers: [("Retry-After", "1")])]
      case ("/lost", 0): [.readBody, .reset]
      case ("/away", 0): [.readBody, .respond(307, headers: [("Location", "/")])]
      case ("/moved", 0):
        [
          .readBody,
          .respond(
            307,
            headers: [
              (
                "Location",
                "http://localhost:\(request.header("Host")?.split(separator: ":").last ?? "")/"
              )
            ]),
        ]
      case ("/silent", _): [.readBody, .stall]
      case ("/tus", _), ("/tus/1", _): tusSteps(request)
      case ("/digest", 0):
        .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
      case ("/stuck", _) where (request.header("Content-Length")?.count ?? 0) > 6: [.stall]
      case ("/deaf", _): [.readBody, .respond(201)]
      default: .good(201, body: "made")
      }
    }
    _ = try shell("ln -s words link", in: place)
    // More than the buffers of both sides hold.
    if effect.arguments.contains("large") { _ = try place.sparse("large", size: 40_000_000) }
    try place.write("url", "\(server.url)/secret\n")
    let result = try run(
      "formstream",
      effect.isComplete
        ? ["send"] + effect.arguments.map { $0 == "URL" ? server.url : $0 }
        : ["send", server.url + effect.path] + effect.arguments + ["words"], in: place,
      environment: ["HOME": place.path])
    let requests = server.requests.map { String(decoding: $0.head + $0.body, as: UTF8.self) }
    return """
      \(requests.joined(separator: "\n"))
      \(requests.count) requests, \(server.connections.count) connections, exit \(result.exit ?? -1)
      \(result.output)
      \(result.stderr)
      """
  }
}
