import FormStreamTestSupport
import Testing

/// Secrets are sent to the server and shown nowhere.
@Suite struct PostSecretTests {
  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.write("headers", "X-Key: canary-1\r\n\nX-Other:canary-2\n")
    try place.write("user", "me:canary-3\n")
    try place.write("token", "canary-4\n")
    return place
  }

  private static let flags: [[String]] = [
    ["--header-file", "headers"], ["--user-file", "user"], ["--token-file", "token"],
    ["--header-file", "headers", "--user-file", "user"],
  ]

  @Test(arguments: flags, [200, 401])
  func `secrets in files are sent, and never shown`(_ flags: [String], _ status: Int) throws {
    let place = try Self.place()
    let server = try ScriptedServer { _ in .good(status) }
    for more in [["-v"], ["--json", "--verbose"], ["--dry-run"], ["--to-curl"]] {
      let result = try run(
        "formstream", ["post", "-d", "a"] + flags + more + [server.url], in: place)
      #expect(
        result.exit
          == (status == 401 && more[0].hasPrefix("--j") || status == 401 && more[0] == "-v" ? 1 : 0)
      )
      for secret in ["canary", "bWU6Y2FuYXJ5LTM"] {
        #expect(!result.output.contains(secret), "\(result.output)")
        #expect(!result.stderr.contains(secret), "\(result.stderr)")
      }
    }
    #expect(server.requests.count == 2)
    for request in server.requests {
      if flags.contains("headers") {
        #expect(request.header("X-Key") == "canary-1")
        #expect(request.header("X-Other") == "canary-2")
      }
      if flags.contains("user") {
        #expect(request.header("Authorization") == "Basic bWU6Y2FuYXJ5LTM=")
      }
      if flags.contains("token") { #expect(request.header("Authorization") == "Bearer canary-4") }
    }
    #expect(server.faults.isEmpty)
  }

  @Test func `the trace shows headers, with secrets masked`() throws {
    let server = try ScriptedServer(requests: [
      .good(headers: [("Set-Cookie", "canary"), ("X-B", "2")])
    ])
    let result = try formstream(
      "post", "-v", "-u", "me:canary", "-A", "agent", "-H", "X-A: 1", "-d", "a", "\(server.url)/p")
    for line in [
      "> POST /p HTTP/1.1\n", "> Authorization: ***\n", "> X-A: 1\n", "> User-Agent: agent\n",
      "< HTTP/1.1 200 OK\n", "< Set-Cookie: ***\n", "< X-B: 2\n",
    ] {
      #expect(result.stderr.contains(line), "\(result.stderr)")
    }
    #expect(!result.stderr.contains("canary"))
    #expect(server.faults.isEmpty)
  }

  @Test func `a file that other users can read causes a warning`() throws {
    let place = try Self.place()
    let server = try ScriptedServer { _ in .good() }
    #expect(
      try formstream("post", "-d", "a", "--token-file", "token", server.url, in: place).stderr == ""
    )
    let result = try shell(
      "chmod 644 token; $F post -d a --token-file token \(server.url)", in: place)
    #expect(
      result.stderr.contains("Other users can read the secrets in \"token\""), "\(result.stderr)")
    let piped = try shell("$F post -d a --token-file <(cat token) \(server.url)", in: place)
    #expect(piped.stderr == "")
    let input = try shell("$F post -d a --user-file - \(server.url) < user", in: place)
    #expect(input.stderr == "")
    #expect(server.requests.last?.header("Authorization") == "Basic bWU6Y2FuYXJ5LTM=")
  }

  @Test(arguments: [
    "canary", "can ary: 1", ": canary", "X-Key:", "X-canary: a\u{7}b", "Content-Length: canary",
    "X-ü: canary", "canary;canary",
  ])
  func `an error about a line of secrets names only its number`(
    _ line: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("headers", "X-A: 1\n\r\n\(line)\nX-B: 2\n")
    let result = try formstream(
      "post", "-v", "--header-file", "headers", "-d", "a", "http://127.0.0.1:1/", in: place)
    #expect(result.exit == 64)
    #expect(
      result.stderr
        == "formstream: Line 3 of the file \"headers\" of --header-file is not a header that can be "
        + "sent: write Name: value, and no header about the body's length or framing.\n")
  }

  @Test func `a token with blanks is refused`() throws {
    let place = try TemporaryDirectory()
    for token in ["Bearer canary", "canary ", "\tcanary"] {
      try place.write("token", token)
      let result = try formstream(
        "post", "--token-file", "token", "-d", "a", "http://127.0.0.1:1/", in: place)
      #expect(result.exit == 64)
      #expect(result.stderr.contains("has a blank in it"), "\(result.stderr)")
      #expect(!result.stderr.contains("canary"))
    }
  }

  /// Regression: some of these headers were never masked, and none were masked in records.
  @Test func `headers whose names suggest secrets are masked everywhere`() throws {
    let names = [
      "Authorization", "Cookie", "X-Api-Key", "X_APIKEY", "My-Token", "x-client-secret",
      "X-Password",
      "X-Amz-Security-Token", "Session-Id", "X-Vault-AUTH",
    ]
    let responseHeaders = names.dropFirst().map { ($0, "canary") } + [("Set-Cookie", "canary")]
    let plain = [("WWW-Authenticate", "Bearer realm=r"), ("X-Id", "7")]
    let server = try ScriptedServer { _ in .good(401, headers: responseHeaders + plain) }
    let flags = names.flatMap { ["-H", "\($0): canary"] } + ["-H", "X-Plain: plain"]
    for more in [["-v"], ["--json"], ["--dry-run"], ["--to-curl"]] {
      let result = try run("formstream", ["post", "-d", "a"] + flags + more + [server.url])
      let all = result.output + result.stderr
      #expect(!all.contains("canary"), "\(all)")
      switch more[0] {
      case "-v":
        for name in names { #expect(all.contains("> \(name): ***"), "\(all)") }
        #expect(all.contains("> X-Plain: plain"))
        #expect(all.contains("< WWW-Authenticate: Bearer realm=r"))
      case "--json":
        #expect(all.contains(#"["Set-Cookie","***"]"#), "\(all)")
        #expect(all.contains(#"["WWW-Authenticate","Bearer realm=r"],["X-Id","7"]"#), "\(all)")
      case "--dry-run":
        for name in names { #expect(all.contains("\(name): ***"), "\(all)") }
        #expect(all.contains("X-Plain: plain"))
      default:
        #expect(result.exit == 64)
      }
    }
    #expect(server.requests.first?.values(of: "My-Token") == ["canary"])
    #expect(server.faults.isEmpty)
  }

  @Test func `headers are sent as they were typed`() throws {
    let server = try ScriptedServer(requests: [.good()])
    let result = try formstream(
      "post", "--header", "X-Empty;", "-H", "X-Two:  a b ", "-H", "X-Two: c", "--user-agent", "me",
      "--user", "a:b:c", "--content-digest", "--query", "a=b c", "--query", "d", "-d", "abc",
      "--request", "POST", "\(server.url)/?x")
    #expect(result.exit == 0, "\(result.stderr)")
    let request = try #require(server.requests.first)
    #expect(request.values(of: "X-Empty") == [""])
    #expect(request.values(of: "X-Two") == ["a b", "c"])
    #expect(request.header("User-Agent") == "me")
    #expect(request.header("Authorization") == "Basic YTpiOmM=")
    #expect(
      request.header("Content-Digest") == "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:")
    #expect(request.target == "/?x&a=b+c&d")
    #expect(server.faults.isEmpty)
  }
}
