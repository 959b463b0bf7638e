import FormStreamTestSupport
import Testing

/// `--digest`, `--anyauth`, `--oauth2-bearer`, netrc files, cookies, and `--compressed-upload` on the command line.
@Suite struct PostAuthenticationTests {
  private static let ways = [["-v"], ["--json"], ["--json", "-v"], ["--dry-run"], ["--to-curl"]]

  /// Runs `post` in each way, and returns everything that was printed.
  private func printed(
    _ arguments: [String], _ url: String, in place: TemporaryDirectory
  ) throws -> String {
    try Self.ways.map { way in
      let result = try run(
        "formstream", ["post", "-d", "a"] + arguments + way + [url], in: place,
        environment: ["HOME": place.path])
      return "\(way): \(result.output)\(result.stderr)"
    }
    .joined(separator: "\n")
  }

  private static func asksForDigest(_ request: RecordedRequest) -> [ScriptedStep] {
    request.header("Authorization") == nil
      ? .good(401, headers: [("WWW-Authenticate", "Digest realm=\"vault\", nonce=\"n\", qop=auth")])
      : .good(headers: [("Set-Cookie", "session=canary")])
  }

  @Test func `secrets of all kinds appear nowhere`() throws {
    let server = try ScriptedServer { Self.asksForDigest($0) }
    let place = try TemporaryDirectory()
    try place.write(".netrc", "machine 127.0.0.1 login canary password canary\n")
    try place.write("user", "canary:canary\n")
    try place.write("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tcanary\n")
    for (arguments, sent, shown) in [
      (["--digest", "-u", "me:canary"], "Digest username=\"me\"", "Authorization: Digest ***"),
      (["--digest", "--user-file", "user"], "Digest username=\"canary\"", "Digest ***"),
      (["--anyauth", "-u", "me:canary"], "Digest username=\"me\"", "Digest or Basic ***"),
      (["--oauth2-bearer", "canary"], "Bearer canary", "--token-file"),
      (["-n"], "Basic Y2FuYXJ5OmNhbmFyeQ==", "Authorization: Basic ***"),
      (["--netrc-file", ".netrc", "--digest"], "Digest username=\"canary\"", "Digest ***"),
      (["-b", "a=canary"], "", "Cookie: ***"),
      (["-b", "jar", "-c", "out"], "", "Cookie: *** (of the file jar"),
    ] {
      let before = server.requests.count
      let all = try printed(arguments, server.url, in: place)
        .replacing("username=\"canary\"", with: "")
      #expect(!all.contains("canary") && !all.contains("Y2FuYXJ5"), "\(arguments): \(all)")
      #expect(all.contains(shown), "\(arguments): \(all)")
      let requests = server.requests.dropFirst(before)
      #expect(
        requests.contains { ($0.header("Authorization") ?? "").hasPrefix(sent) }, "\(arguments)")
      if arguments.contains("-b") {
        #expect(requests.contains { $0.header("Cookie") == "a=canary" }, "\(arguments)")
      }
    }
  }

  @Test func `a password that was refused is named with its scheme, and the exit code is 1`() throws {
    let server = try ScriptedServer { _ in
      .good(401, headers: [("WWW-Authenticate", "Digest realm=\"vault\", nonce=\"n\", qop=auth")])
    }
    let result = try formstream("post", "--digest", "-u", "me:canary", "-d", "a", server.url)
    #expect(result.exit == 1)
    #expect(result.stderr.contains("(Digest, realm \"vault\")"), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a", "a"])
  }

  /// The message said that it asks for Digest, and not why that was not used.
  @Test(arguments: [
    (
      #"qop="auth-int""#,
      "Of Digest it asks for a kind that is not supported (qop=auth-int): let the server offer qop=auth, or another scheme."
    ),
    (
      "qop=auth, algorithm=SHA-512",
      "Of Digest it asks for a kind that is not supported (algorithm=SHA-512): let the server offer MD5, SHA-256 or SHA-512-256, or another scheme."
    ),
    (#"qop="auth-int, auth", algorithm=MD5"#, "It refused the credentials (Digest, realm \"r\")"),
  ])
  func `a kind of Digest that is not supported is named, and what is`(
    _ kind: String, _ says: String
  ) throws {
    let server = try ScriptedServer { _ in
      .good(401, headers: [("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", \(kind)")])
    }
    for way in ["--digest", "--anyauth"] {
      let result = try formstream("post", way, "-u", "me:canary", "-d", "a", server.url)
      #expect(result.exit == 1, "\(result.stderr)")
      #expect(result.stderr.contains(says), "\(result.stderr)")
    }
  }

  @Test func `a challenge with a control character is a response, and has a record`() throws {
    let server = try ScriptedServer { _ in
      .good(
        401, headers: [("WWW-Authenticate", "Digest realm=\"a\", nonce=\"\u{1}\", qop=auth")])
    }
    let result = try formstream(
      "post", "--json", "--digest", "-u", "me:canary", "-d", "a", server.url)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(result.output.contains("\"status\":401,\"outcome\":\"failed\""), "\(result.output)")
    #expect(server.requests.count == 1)
  }

  @Test func `a pipe that is not read ahead is not begun before the server has asked`() throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? [
          .skipBody,
          .respond(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")]),
        ] : .good()
    }
    let sent = try shell(
      "echo words | $F post -u me:p --digest --read-ahead 0 -T - \(server.url)")
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["", "words\n"])
    let refused = try shell(
      "echo words | $F post -u me:p --digest --read-ahead 0 --expect never -T - \(server.url)")
    #expect(refused.exit == 1)
    #expect(refused.stderr.contains("(--expect)"), "\(refused.stderr)")
    #expect(server.requests.count == 2)
  }

  // MARK: netrc

  @Test func `only the entry of the host is used, and others can be told apart`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write(
      "n",
      "machine localhost login a password b\nmachine localhost login c password d\ndefault login e password f\n"
    )
    let (named, other) = (server.url(host: "localhost"), server.url)
    for (flags, url, authorization, note) in [
      (["--netrc-file", "n"], named, "Basic YTpi", ""),
      (["--netrc-file", "n"], named.replacing("//", with: "//c@"), "Basic Yzpk", ""),
      (["--netrc-file", "n", "-u", "x:y"], named, "Basic eDp5", ""),
      (["--netrc-file", "n", "--oauth2-bearer", "t"], named, "Bearer t", ""),
      (["--netrc-file", "n"], other, nil, "has no entry for 127.0.0.1"),
      (["--netrc-file", "n", "--netrc-optional"], other, nil, ""),
      (["--netrc-file", "missing", "--netrc-optional"], other, nil, ""),
    ] as [([String], String, String?, String)] {
      let result = try run("formstream", ["post", "-d", "a"] + flags + [url], in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.requests.last?.header("Authorization") == authorization, "\(flags) \(url)")
      #expect(note.isEmpty ? result.stderr.isEmpty : result.stderr.contains(note))
    }
  }

  @Test func `a netrc file that can't be used is an error, and one that others can read a warning`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      export HOME=$PWD
      $F post -n -d a \(server.url); echo $?
      echo 'machine 127.0.0.1 canary' > bad; $F post --netrc-file bad -d a \(server.url); echo $?
      echo 'machine 127.0.0.1 login a password b' > .netrc; chmod 644 .netrc
      $F post -n -d a \(server.url); echo $?
      $F post --digest -d a \(server.url); echo $?
      $F post --digest --oauth2-bearer t -d a \(server.url); echo $?
      """)
    #expect(
      result.output.split(separator: "\n") == ["66", "64", "0", "64", "64"], "\(result.stderr)")
    for says in [
      "The file of --netrc can't be read", "Line 1 of the netrc file",
      "Other users can read the secrets",
      "need a user and a password", "a token is sent as it is",
    ] {
      #expect(result.stderr.contains(says), "\(says): \(result.stderr)")
    }
    #expect(!result.stderr.contains("canary"))
    #expect(server.requests.count == 1)
  }

  // MARK: Cookies

  @Test func `the cookies of a command go on in the next, and only their owner can read them`()
    throws
  {
    let server = try ScriptedServer { request in
      .good(headers: [("Set-Cookie", "n\(request.number)=1; Max-Age=1000")])
    }
    let result = try shell(
      """
      for i in 1 2 3; do $F post -b jar -c jar -d a \(server.url) || exit 9; done
      stat -c %a jar; curl -sS -b jar -d a \(server.url); ls
      """)
    #expect(result.output.split(separator: "\n") == ["600", "jar"], "\(result.stderr)")
    #expect(
      server.requests.map { $0.header("Cookie")?.split(separator: "; ").count ?? 0 } == [
        0, 1, 2, 3,
      ])
    #expect(server.faults == [])
  }

  /// What `-o` does: a link stays a link, and what is no file is written as it is.
  @Test func `a link, a device or a FIFO of -c stays what it is`() throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=1")]) }
    let result = try shell(
      """
      mkfifo pipe; echo old > file; ln -s file link; ln -s /dev/null null
      cat pipe > got & for jar in pipe link null; do $F post -c $jar -d a \(server.url) || echo $jar; done
      wait; [ -p pipe ] && [ -L link ] && [ -L null ] && [ -c /dev/null ] && grep -c "a.1$" got file
      """, in: TemporaryDirectory())
    #expect(result.output == "got:1\nfile:1\n", "\(result.stderr)")
  }

  @Test func `cookies that can't be read or written are errors`() throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=1")], body: "fine\n") }
    let place = try TemporaryDirectory()
    try place.write("bad", "canary\n")
    for (flags, exit, says) in [
      (["-b", "canary", "-b", "bad"], 66, "is no cookie"), (["-b", "-"], 64, "name a file"),
      (["-b", "bad"], 66, "is no cookie"),
      (["-c", "no/such"], 74, "Choose another with -c"), (["-c", "-"], 64, "name a file"),
      (["-b", "a=1", "-H", "Cookie: b=2"], 64, "both set the Cookie"),
    ] as [([String], Int32, String)] {
      let result = try run("formstream", ["post", "-d", "a"] + flags + [server.url], in: place)
      #expect(result.exit == exit, "\(flags): \(result.stderr)")
      #expect(result.stderr.contains(says), "\(flags): \(result.stderr)")
      #expect(!result.stderr.contains("canary"))
    }
    #expect(server.connectionCount == 0)
  }

  // MARK: Other commands

  @Test func `send asks once, and keeps cookies`() throws {
    let server = try ScriptedServer { Self.asksForDigest($0) }
    let place = try TemporaryDirectory()
    for name in ["a", "b", "c"] { try place.write(name, "words") }
    let result = try formstream(
      "send", "-j", "1", "-u", "me:p", "--digest", "-c", "jar", "--compressed-upload", "gzip",
      server.url, "a", "b", "c", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      server.requests.map { $0.header("Authorization") == nil } == [true, false, false, false])
    #expect(
      server.requests.map { $0.header("Cookie") } == [nil, nil, "session=canary", "session=canary"])
    #expect(server.requests.allSatisfy { $0.header("Content-Encoding") == "gzip" })
    #expect(try shell("cat jar", in: place).output.contains("canary"))
  }

  @Test func `a compressed body is shown as one of unknown length`() throws {
    let place = try TemporaryDirectory()
    try place.write("words", "words\n")
    let shown = try formstream(
      "post", "--dry-run", "--compressed-upload", "gzip", "-T", "words", "http://h.example/",
      in: place)
    #expect(shown.output.contains("Content-Encoding: gzip\n"), "\(shown.output)")
    #expect(shown.output.contains("Content-Length: unknown (6 before gzip)\n"), "\(shown.output)")
    let curl = try formstream(
      "post", "--to-curl", "--compressed-upload", "gzip", "-d", "a", "http://h.example/")
    #expect(curl.exit == 64 && curl.stderr.contains("curl can't compress a body"))
    let other = try formstream("post", "--compressed-upload", "br", "-d", "a", "http://h.example/")
    #expect(other.exit == 64 && other.stderr.contains("write gzip"))
  }

  @Test func `curl gets the same flags, and no secrets`() throws {
    let place = try TemporaryDirectory()
    try place.write("n", "machine h.example login a password canary\n")
    let result = try formstream(
      "post", "--to-curl", "-d", "a", "--netrc-file", "n", "--netrc-optional", "--anyauth", "-b",
      "n",
      "-c", "jar", "http://h.example/", in: place)
    #expect(
      result.output
        == "curl -d a --anyauth --netrc-file n --netrc-optional -b n -c jar http://h.example/\n",
      "\(result.output)\(result.stderr)")
    #expect(result.stderr.contains("curl also uses the entry \"default\""))
    for secret in [["-b", "a=canary"], ["--oauth2-bearer", "canary"]] {
      let refused = try run(
        "formstream", ["post", "--to-curl", "-d", "a"] + secret + ["http://h.example/"])
      #expect(refused.exit == 64 && !refused.stderr.contains("canary"))
      #expect(refused.stderr.contains("would be printed"))
    }
  }
}
