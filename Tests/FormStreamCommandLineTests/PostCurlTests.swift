import FormStreamTestSupport
import Testing

/// The curl command line of `--to-curl`, tried with curl.
@Suite struct PostCurlTests {
  private static let same: [[String]] = [
    ["post", "-F", "a=b"], ["post", "--field", "a=b; \"c\" \\ 'd' @", "--field", "l=1\n2"],
    ["post", "--field", "at=@x", "--field", "lt=<x", "--field", "p=(x", "--field", "e="],
    ["post", "-F", "f=@\"a b,c;d\\\".txt\""],
    ["post", "--file", "f=a b,c;d\".txt", "--type", "a/b; c=d"],
    ["post", "--file", "f=-", "--filename", "x\"y\\z", "--type", "a/b"],
    ["post", "-F", "f=<words"],
    ["post", "-F", "f=@words;type=text/html;filename=\"q;\"", "--part-header", "X-A: \"1\""],
    ["post", "-F", "f=@words;headers=@headers"],
    ["post", "--escaping", "backslash", "--field", "a\"=b", "-F", "f=@\"a b,c;d\\\".txt\""],
    ["put", "-T", "words"], ["put", "-T", "a b,c;d\".txt"], ["put", "-T", "a[1-2].txt"],
    ["post", "-T", "words", "-H", "Content-Type: a/b"], ["put", "-T", "-"],
    ["put", "-F", "a=b"], ["post", "-d", "a=b", "-d", "@words", "--data-raw", "@x"],
    ["post", "--data-binary", "@words"],
    ["post", "--data-urlencode", "n=a b&", "--data-urlencode", "n@words"],
    ["post", "--json-body", "{\"a\":\"it's\"}"], ["post", "--json-body", "@words"],
    ["post", "-X", "PATCH", "-d", "a"], ["post"],
    ["post", "-H", "X-A: 1", "-H", "X-E;", "-A", "me", "-d", "a"],
    ["post", "-A", "", "-d", "a"], ["post", "-H", "Accept:", "--json", "{\"a\":1}"],
    ["post", "--query", "a=[1] 2", "-d", "a"], ["post", "--expect", "always", "-d", "a"],
    ["post", "--idempotency-key", "k\"1", "-d", "a"],
    ["post", "--header-file", "headers", "-d", "a"],
    ["post", "-d", "@-"], ["post", "-d", "x", "--data-urlencode", "n@-"],
    ["post", "--user-file", "user", "-d", "a"], ["post", "--token-file", "token", "-d", "a"],
    [
      "post", "-q", "-v", "--http1.1", "--retry", "1", "--retry-max-time", "9.5", "--retry-unsafe",
      "--connect-timeout", "5", "--max-time", "50", "--stall-timeout", "7", "--limit-rate", "1M",
      "--max-redirs", "3", "--expect100-timeout", "2", "-L", "--insecure", "-d", "a",
    ],
  ]

  /// The parts of a request in which both must agree.
  private static func shape(_ request: RecordedRequest, comparesExpect: Bool) -> [String] {
    let type = request.header("Content-Type") ?? ""
    let boundary = type.split(separator: "boundary=").dropFirst().first.map(String.init)
    func plain(_ text: String) -> String { boundary.map { text.replacing($0, with: "B") } ?? text }
    let names =
      ["Accept", "Authorization", "Idempotency-Key", "X-A", "X-E", "X-Key"]
      + (comparesExpect ? ["Expect"] : [])
    let isFromAProgram = request.header("User-Agent").map { $0 == "me" ? $0 : "a program" }
    return [request.method, request.target, plain(type), isFromAProgram ?? "no User-Agent"]
      + names.map { "\($0): \(request.values(of: $0))" }
      + [plain(String(decoding: request.body, as: UTF8.self))]
  }

  @Test(arguments: same)
  func `curl sends the same request`(_ arguments: [String]) throws {
    let place = try TemporaryDirectory()
    for name in ["words", "a b,c;d\".txt", "a[1-2].txt"] { try place.write(name, "words\nof 1\n") }
    try place.write("headers", "X-Key: canary\n")
    try place.write("user", "me:canary\n")
    try place.write("token", "canary\n")
    let server = try ScriptedServer { _ in .good() }
    let input = Array("input\n".utf8)
    let url = "\(server.url)/d/"
    let sent = try run("formstream", arguments + [url], standardInput: input, in: place)
    #expect(sent.exit == 0, "\(sent.stderr)")
    let printed = try run(
      "formstream", arguments + ["--to-curl", url], standardInput: input, in: place)
    #expect(printed.exit == 0, "\(printed.stderr)")
    #expect(!printed.output.contains("canary"))
    let curled = try run(
      program: "/bin/sh", ["-c", printed.output], standardInput: input, in: place,
      environment: ["HOME": place.path])
    #expect(curled.exit == 0, "\(printed.output)\(curled.stderr)")
    let requests = server.requests
    try #require(requests.count == 2)
    // curl has its own rule for sending Expect by itself.
    let shapes = requests.map { Self.shape($0, comparesExpect: arguments.contains("--expect")) }
    #expect(shapes[0] == shapes[1], "\(printed.output)")
  }

  @Test func `what curl does differently is listed`() throws {
    let result = try formstream(
      "post", "--to-curl", "--json", "--sha256", "--content-digest", "--boundary", "B",
      "--expect-status", "200", "--response-timeout", "5", "-F", "a=b", "-o", "x", "http://h/")
    #expect(result.exit == 0)
    #expect(result.output == "curl -F 'a=\"b\"' -o x http://h/\n")
    for flag in [
      "--json", "--sha256", "--content-digest", "--boundary", "--expect-status",
      "--response-timeout",
    ] {
      #expect(result.stderr.contains("formstream: \(flag): curl "), "\(flag): \(result.stderr)")
    }
  }

  /// Regression: these flags were dropped, and nothing said so.
  @Test(arguments: [
    (["-d", "a", "--compressed", "http://h/"], "-d a --compressed http://h/", "--compressed: "),
    (
      ["-d", "a", "--max-filesize", "3K", "http://h/"], "-d a --max-filesize 3072 http://h/",
      "--max-"
    ),
    (["-d", "a", "-O", "http://h/f"], "-d a -O http://h/f", ""),
    (["-d", "a", "-O", "http://h/.a%20b"], "-d a -O http://h/.a%20b", "-O: curl "),
    (
      ["-d", "a", "-o", "x/y", "--output-dir", "a b", "--create-dirs", "http://h/"],
      "-d a -o x/y --output-dir 'a b' --create-dirs http://h/", ""
    ),
    (["-d", "a", "--proto", "=https", "https://h/"], "-d a --proto =https https://h/", ""),
    (["-d", "a", "--proto", "=https,http", "http://h/"], "-d a http://h/", ""),
    (
      ["-d", "a", "--proto-redir", "=https", "https://h/"], "-d a --proto-redir =https https://h/",
      ""
    ),
    (["-d", "a", "https://h/"], "-d a https://h/", ""),
    (
      ["-F", "f=@big;type=a/b", "https://h/"], "-F 'f=@\"big\";type=a/b' --http1.1 https://h/", ""
    ),
    (["-F", "f=@big;type=a/b", "http://h/"], "-F 'f=@\"big\";type=a/b' http://h/", ""),
    (
      ["--http2", "-F", "f=@big;type=a/b", "https://h/"],
      "-F 'f=@\"big\";type=a/b' --http2 https://h/", ""
    ),
    (["--data-binary", "@-", "https://h/"], "--data-binary @- --http1.1 https://h/", ""),
    (["-d", "a", "--spool", "http://h/"], "-d a http://h/", "--spool: curl "),
    (["-d", "a", "--read-ahead", "0", "http://h/"], "-d a http://h/", "--read-ahead: curl "),
    (["-F", "a=b", "--growing", "http://h/"], "-F 'a=\"b\"' http://h/", "--growing: curl "),
    (["-d", "a", "--show-cookies", "-v", "http://h/"], "-d a -v http://h/", ""),
  ])
  func `no flag is dropped without a word`(
    _ arguments: [String], _ line: String, _ note: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("big", [UInt8](repeating: 1, count: 100_000))
    let result = try run("formstream", ["post", "--to-curl"] + arguments, in: place)
    #expect(result.output == "curl \(line)\n", "\(result.stderr)")
    #expect(note.isEmpty ? result.stderr.isEmpty : result.stderr.contains(note), "\(result.stderr)")
  }

  @Test func `each curl command line has its own output`() throws {
    let place = try TemporaryDirectory()
    for name in ["a", "b"] { try place.write(name, "") }
    let result = try formstream(
      "put", "--to-curl", "-H", "Content-Type: a/b", "-T", "a", "-T", "b", "-o", "x", "-O",
      "--output-dir", "out", "http://h/", in: place)
    #expect(
      result.output == """
        curl -T a -H 'Content-Type: a/b' -o x --output-dir out http://h/a
        curl -T b -H 'Content-Type: a/b' -O --output-dir out http://h/b

        """, "\(result.stderr)")
  }

  @Test func `the connection flags are translated`() throws {
    let result = try formstream(
      "post", "--to-curl", "--unix-socket", "s", "--resolve", "h:80:::1", "--cacert", "c", "--cert",
      "d", "--key", "e", "--http2-prior-knowledge", "-d", "", "http://h/")
    #expect(
      result.output
        == "curl -d '' --http2-prior-knowledge --unix-socket s --resolve h:80:::1 --cacert c --cert d "
        + "--key e http://h/\n")
    let place = try TemporaryDirectory()
    try place.write("key", "canary\n")
    try place.write("user", "me:canary\n")
    let digest = "sha256//" + String(repeating: "a", count: 43) + "="
    let more = try formstream(
      "post", "--to-curl", "-4", "--interface", "lo", "--keepalive-time", "9", "--capath", "c",
      "--cert", "a\\:b", "--pass-file", "key", "--pinnedpubkey", digest, "--tlsv1.3", "--tls-max",
      "1.3", "-k", "-x", "socks5h://p:1", "--noproxy", "a b", "--proxy-user-file", "user",
      "--proxy-cacert", "d", "-q", "-d", "", "http://h/", in: place)
    #expect(
      more.output
        == "curl -d '' --ipv4 --interface lo --keepalive-time 9 --capath c --cert 'a\\:b' "
        + "--pass \"$(cat -- key)\" --pinnedpubkey \(digest) --tlsv1.3 --tls-max 1.3 --insecure "
        + "--proxy socks5h://p:1 --noproxy 'a b' --proxy-user \"$(cat -- user)\" --proxy-cacert d "
        + "-sS http://h/\n", "\(more.stderr)")
  }

  @Test(arguments: [
    (["-F", "f=@/etc/hostname", "--range", "0:1"], "nothing like --range"),
    (["--escaping", "rfc2231", "-F", "a=b"], "nothing like --escaping rfc2231"),
    (["--field", "a\nb=c"], "line breaks in names"),
    (["--browser-text", "--field", "a=b\nc"], "nothing like --browser-text"),
    (["-d", "a", "-H", "Authorization: canary"], "would be printed"),
    (["-d", "a", "-E", "c", "--pass", "canary"], "would be printed"),
    (["-d", "a", "-x", "http://me:canary@p"], "would be printed"),
    (["-d", "a", "--socks5", "me:canary@p"], "would be printed"),
    (["-d", "a", "--socks5-hostname", "me:canary@p:1"], "would be printed"),
    (["-d", "a", "-H", "Referer: https://me:canary@h/"], "would be printed"),
    (["-d", "a", "-H", "X-Callback: https://h/?token=canary"], "would be printed"),
    (["-d", "a", "-A", "robot https://me:canary@h/"], "would be printed"),
  ])
  func `what curl can't send is an error`(_ arguments: [String], _ says: String) throws {
    let result = try run("formstream", ["post", "--to-curl"] + arguments + ["http://h/"])
    #expect(result.exit == 64)
    #expect(result.output == "")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
  }

  @Test func `curl asks for a typed password again`() throws {
    let result = try formstream("post", "--to-curl", "-u", "me:canary", "-d", "a", "http://h/")
    #expect(result.output == "curl -d a -u me http://h/\n")
    let url = try formstream("post", "--to-curl", "-d", "a", "http://me:canary@h/")
    #expect(url.exit == 64)
    #expect(!url.stderr.contains("canary"))
  }
}
