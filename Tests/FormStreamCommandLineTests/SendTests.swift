import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// `send`: what arrives, what is printed, and how it ends.
@Suite struct SendTests {
  /// Names that other programs misread, and how browsers write them.
  private static let hostileNames: [([UInt8], sent: [UInt8])] =
    [
      "a b", "a,b", "a;b;type=x", "@a", "<a", "-a", "--json", "=a", "a=b", "{name}", "%41", "a\\",
      "*", "#",
      "\u{202E}a", "ü",
    ].map { (Array($0.utf8), Array($0.utf8)) } + [
      (Array("a\"b".utf8), Array("a%22b".utf8)), (Array("a\nb".utf8), Array("a%0Ab".utf8)),
      (Array("a\rb".utf8), Array("a%0Db".utf8)), ([0xFF, 0x41, 0xFE], [0xFF, 0x41, 0xFE]),
    ]

  @Test func `files of any name arrive with their names and contents`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    var expected: Set<SentFile> = []
    for (index, (name, sent)) in Self.hostileNames.enumerated() {
      try writeFile(
        LocalPath(bytes: Array("\(place.path)/".utf8) + name), Array("contents \(index)".utf8))
      expected.insert(SentFile(name: sent, contents: Array("contents \(index)".utf8)))
    }
    let result = try shell(
      "find . -type f -print0 | $F send -j 3 \(server.url)/up --files-from0 -", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(Set(server.sentFiles) == expected)
    #expect(server.requests.count == expected.count)
    #expect(server.faults.isEmpty)
    #expect(server.connections.count <= 3)
  }

  @Test func `each file has a record, and the run has a summary`() throws {
    let server = try ScriptedServer { _ in .good(201, body: "stored") }
    let place = try TemporaryDirectory()
    for name in ["a.txt", "b.txt"] { try place.write(name, "words") }
    let result = try formstream(
      "send", "--json", "--sha256", server.url, "a.txt", "b.txt", in: place)
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == 3, "\(result.output) \(result.stderr)")
    for line in lines.dropLast() {
      #expect(line.hasPrefix(#"{"schema":"formstream.record/2","manifest":null,"index":"#))
      #expect(line.contains(#""size":5,"#))
      #expect(line.contains(#""type":"text/plain","type_source":"content","sha256":"#))
      #expect(line.contains(#""status":201,"outcome":"ok","attempts":1,"maybe_duplicate":false"#))
      #expect(line.contains(#""response":{"body":"stored","body_b64":null,"truncated":false}"#))
    }
    #expect(lines.count { $0.contains(#""path":"a.txt""#) } == 1)
    #expect(
      lines[2].hasPrefix(
        #"{"schema":"formstream.summary/1","manifest":null,"shard":null,"round":null,"resumed":false,"files":2,"ok":2,"failed":0,"#
      ))
    #expect(lines[2].hasSuffix(#""exit":0}"#))
    #expect(result.stderr.isEmpty)
  }

  @Test func `fields come before the file, and the file has the name of the field`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("a.txt", "words")
    let result = try formstream(
      "send", "--boundary", "B", "-F", "album=Summer", "--as", "photo", server.url, "a.txt",
      in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      server.requests.first.map { String(decoding: $0.body, as: UTF8.self) } == """
        --B\r
        Content-Disposition: form-data; name="album"\r
        \r
        Summer\r
        --B\r
        Content-Disposition: form-data; name="photo"; filename="a.txt"\r
        Content-Type: text/plain\r
        \r
        words\r
        --B--\r

        """)
  }

  /// What each file's name makes the server do, and the outcome that follows.
  private static let endings = [
    "ok": "ok", "refused": "failed", "busy": "retryable", "lost": "unknown",
  ]

  private static func server() throws -> ScriptedServer {
    try ScriptedServer { _ in
      [
        .continueIfExpected, .readBody,
        .decide { request in
          let name = SentFile(lastPartOf: request).map { String(decoding: $0.name, as: UTF8.self) }
          return switch name?.split(separator: "-").first {
          case "refused": [.respond(400)]
          case "busy": [.respond(429)]
          case "lost": [.reset]
          default: [.respond(200)]
          }
        },
      ]
    }
  }

  @Test(arguments: [
    (["ok"], 0), (["ok", "busy"], 75), (["ok", "refused", "busy"], 1),
    (["busy", "lost", "ok", "refused"], 3),
  ])
  func `the exit code is the worst of all files, in any order`(
    _ kinds: [String], _ exit: Int
  ) throws {
    let server = try Self.server()
    let place = try TemporaryDirectory()
    for kind in kinds { for number in 1...3 { try place.write("\(kind)-\(number)", kind) } }
    for jobs in ["1", "4", "50"] {
      let result = try formstream(
        "send", "--json", "--retry", "0", "-j", jobs, server.url, ".", in: place)
      #expect(result.exit == Int32(exit), "\(result.output) \(result.stderr)")
      for kind in kinds {
        let outcome = try #require(Self.endings[kind])
        let count = result.output.split(separator: "\n").count {
          $0.contains("\"path\":\"./\(kind)-") && $0.contains("\"outcome\":\"\(outcome)\"")
        }
        #expect(count == 3, "\(kind) with \(jobs): \(result.output)")
      }
    }
  }

  @Test func `a file of the command line that is missing ends the command before the first byte`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("a", "a")
    let result = try formstream("send", server.url, "a", "missing", in: place)
    #expect(result.exit == 66)
    #expect(result.stderr.contains("\"missing\""))
    #expect(server.requests.isEmpty)
  }

  @Test func `what a directory has and is not sent is counted`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      mkdir in; echo a > in/a; echo b > in/.b; ln -s a in/c; mkfifo in/d
      $F send \(server.url) in; $F send --journal j \(server.url) in; $F send -q \(server.url) in
      """)
    #expect(result.exit == 0)
    for line in [
      "1 hidden name left out; --hidden lists them.", "1 symbolic link left out; --follow-symlinks",
      "1 FIFO, socket or device left out.",
    ] {
      #expect(result.stderr.ranges(of: line).count == 2, "\(result.stderr)")
    }
    #expect(server.requests.count == 3)
  }

  @Test func `an entry of a list that is missing fails, and the others are sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("a", "a")
    try place.write("list", "a\nmissing\n")
    let result = try formstream("send", "--json", server.url, "--files-from", "list", in: place)
    #expect(result.exit == 66)
    #expect(result.output.contains(#""outcome":"failed""#))
    #expect(result.output.contains(#""code":"input-missing""#))
    #expect(server.sentFiles == [SentFile("a", "a")])
  }

  @Test func `the summary has at most twelve lines, and names the commonest errors`() throws {
    let server = try ScriptedServer { request in
      [.readBody, .respond([400, 401, 402, 403, 404, 405, 406, 409][request.number % 8])]
    }
    let place = try TemporaryDirectory()
    for number in 1...40 { try place.write("f\(number)", "x") }
    let result = try formstream("send", "-q", server.url, ".", in: place)
    #expect(result.exit == 1)
    #expect(result.output.isEmpty)
    let lines = result.stderr.split(separator: "\n")
    #expect(lines.first == "40 files: 40 failed.")
    #expect(lines.count <= 12)
    #expect(
      lines.contains { $0.contains(/^  5 status-refused 400, \.\/f\d+, \.\/f\d+, \.\/f\d+ and 2 others: The server/) },
      "\(result.stderr)")
    let records = try formstream("send", "--json", server.url, "f1", in: place)
    #expect(
      records.stderr == """
        The commonest errors:
          1 status-refused 400, f1: The server at \(server.url)/ responded 400 to POST.
        formstream: 1 file: 1 failed.

        """, "\(records.stderr)")
    let loud = try formstream("send", server.url, "f1", in: place)
    #expect(loud.stderr.contains("\n  1 status-refused 401: The server"), "\(loud.stderr)")
  }

  @Test(arguments: [
    ("", true), ("--retry 0", false), ("--idempotency-key auto", false), ("--put", false), ("--retry-unsafe", false),
  ]) func `after 500, the summary says what would allow a repetition`(_ flags: String, _ isSaid: Bool) throws {
    let server = try ScriptedServer { _ in .good(500) }
    let place = try TemporaryDirectory()
    try place.write("f1", "x")
    let result = try shell("$F send -q --retry-delay 0 \(flags) \(server.url)/ f1", in: place)
    #expect(
      result.stderr.contains("After 500, --retry repeats a request only if --idempotency-key auto or --retry-unsafe allows it")
        == isSaid, "\(result.stderr)")
  }

  @Test func `if nothing accepts connections, the run ends before all files have failed`() throws {
    let place = try TemporaryDirectory()
    for number in 1...500 { try place.write("f\(number)", "x") }
    let result = try formstream(
      "send", "--json", "--retry", "0", "-j", "2", "http://127.0.0.1:1/", ".", in: place)
    #expect(result.exit == 75)
    let records = result.output.split(separator: "\n").count { $0.contains("formstream.record/2") }
    #expect((10..<30).contains(records), "\(records)")
  }

  @Test func `a file is not sent twice to a server that does not get its key`() throws {
    let there = try ScriptedServer { $0.number == 0 ? [.readBody, .close] : .good() }
    let here = try ScriptedServer { [url = there.url] _ in
      .good(307, headers: [("Location", url)])
    }
    let place = try TemporaryDirectory()
    try place.write("a.txt", "words")
    let result = try formstream(
      "send", "-L", "--retry", "2", "--idempotency-key", "auto", here.url, "a.txt", in: place)
    #expect(result.exit == 3, "\(result.stderr)")
    #expect(there.requests.count == 1)
  }

  @Test(arguments: [[], ["--digest"], ["--anyauth"]])
  func `a password that was refused is not tried with every file`(_ flags: [String]) throws {
    let server = try ScriptedServer { request in
      .good(
        401,
        headers: [("WWW-Authenticate", "Digest realm=a, nonce=\"\(request.number)\", qop=auth")])
    }
    let place = try TemporaryDirectory()
    let names = (0..<50).map { "f\($0)" }
    for name in names { try place.write(name, "words") }
    let result = try run(
      "formstream", ["send", "-j", "2", "-u", "me:canary"] + flags + [server.url] + names, in: place
    )
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(result.stderr.contains("so the run was ended"), "\(result.stderr)")
    #expect(result.stderr.contains("not begun"), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
    let tried = server.requests.count { $0.header("Authorization") != nil }
    #expect((1...2).contains(tried))
    #expect(server.requests.count <= 4)
  }

  /// Regression: it was sent ten times, and the summary said that nothing accepts connections.
  @Test(arguments: ["http://h.example/", "https://h.example/"])
  func `a password that a proxy refused is not sent with every file`(_ url: String) throws {
    let proxy = try ScriptedServer { _ in
      .good(407, headers: [("Proxy-Authenticate", "Basic realm=\"p\"")])
    }
    let place = try TemporaryDirectory()
    let names = (0..<50).map { "f\($0)" }
    for name in names { try place.write(name, "words") }
    let result = try run(
      "formstream",
      ["send", "-j", "2", "-x", "127.0.0.1:\(proxy.port)", "-U", "me:canary", url] + names,
      in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(
      result.stderr.contains("The proxy demands a user and a password, or other ones, so the run"),
      "\(result.stderr)")
    #expect(result.stderr.contains("not begun"), "\(result.stderr)")
    #expect(!result.stderr.contains("accepts connections") && !result.stderr.contains("canary"))
    #expect((1...2).contains(proxy.requests.count))
  }

  /// Regression: the messages named the library's settings, and a key that can't be used ended as 1.
  @Test func `messages, records and journals name flags, and the exit codes are those of get`()
    throws
  {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good() }
    let encrypted = try TLSProxy(to: server.port, made.server)
    let redirecting = try ScriptedServer { _ in
      .good(307, headers: [("Location", "http://elsewhere.example/")])
    }
    let place = try TemporaryDirectory()
    try place.write("a", "a")
    for (flags, url, flag, exit) in [
      (["--cacert", made.otherAuthority], encrypted.url, "--cacert", 1),
      (
        ["--cacert", made.authority, "-E", made.client.certificate, "--key", made.otherClient.key],
        encrypted.url, "--pass-file", 66
      ), ([], redirecting.url, "-L", 1),
    ] as [([String], String, String, Int32)] {
      let sent = try run(
        "formstream", ["send", "--journal", "j\(flag)"] + flags + [url, "a"], in: place)
      let record = try run("formstream", ["send", "--json"] + flags + [url, "a"], in: place)
      let journal = try shell("cat ./j\(flag)/*", in: place)
      for text in [sent.stderr, record.output, journal.output] {
        let namesSetting = text.contains("Settings.") || text.contains("Policy.")
        #expect(text.contains(flag) && !namesSetting, "\(text)")
      }
      let report = try formstream("report", "j\(flag)", in: place)
      #expect([sent.exit, record.exit, report.exit] == [exit, exit, exit], "\(report)")
      let got = try run("formstream", ["get", "-L", "--retry", "0"] + flags + [url], in: place)
      if flag != "-L" { #expect(got.exit == exit) }
    }
  }
}
