import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `send` with several files in a request.
@Suite struct SendPackingTests {
  private static func makeFiles(_ count: Int) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in", in: place)
    for number in 1...count { try place.write("in/f\(number)", "contents \(number)") }
    return place
  }

  @Test func `text fields come first, and the files of a request last, in their order`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    for name in ["a.txt", "b.txt", "c.txt"] { try place.write(name, "of \(name)") }
    let result = try formstream(
      "send", "--json", "--boundary", "B", "--per-request", "2", "-F", "album={{Summer}", "--as",
      "photo[{i}]", "--filename", "{i}-{index}-{name}", server.url, "a.txt", "b.txt", "c.txt",
      in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      Set(server.requests.map { String(decoding: $0.body, as: UTF8.self) }) == [
        """
        --B\r
        Content-Disposition: form-data; name="album"\r
        \r
        {Summer}\r
        --B\r
        Content-Disposition: form-data; name="photo[0]"; filename="0-0-a.txt"\r
        Content-Type: text/plain\r
        \r
        of a.txt\r
        --B\r
        Content-Disposition: form-data; name="photo[1]"; filename="1-1-b.txt"\r
        Content-Type: text/plain\r
        \r
        of b.txt\r
        --B--\r

        """,
        """
        --B\r
        Content-Disposition: form-data; name="album"\r
        \r
        {Summer}\r
        --B\r
        Content-Disposition: form-data; name="photo[0]"; filename="0-2-c.txt"\r
        Content-Type: text/plain\r
        \r
        of c.txt\r
        --B--\r

        """,
      ])
    #expect(Set(sentNames(result.output, with: #""outcome":"ok""#)) == ["a.txt", "b.txt", "c.txt"])
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [
    (["--per-request-bytes", "22"], [2, 2, 2, 2, 1]), (["--per-request-bytes", "1"], [1]),
    (["--per-request-bytes", "1K", "--per-request", "4"], [4, 4, 1]), (["--together"], [9]),
    (["--per-request", "100000"], [9]),
  ])
  func `requests bring as many files as the flags say`(_ flags: [String], _ counts: [Int]) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(9)
    let result = try run(
      "formstream", ["send", "--json"] + flags + [server.url, "in"], in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    let forms = try server.sentForms()
    let expected = counts == [1] ? Array(repeating: 1, count: 9) : counts
    #expect(forms.map(\.files.count).sorted() == expected.sorted())
    let expectedFiles = (1...9).map { SentFile("f\($0)", "contents \($0)") }
    #expect(Set(forms.flatMap(\.files)) == Set(expectedFiles))
    #expect(sentNames(result.output, with: #""outcome":"ok""#).count == 9)
  }

  /// More files than the process may have open.
  @Test func `files of one request are not open at the same time`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(400)
    let result = try shell(
      "ulimit -n 64; $F send --together -j 2 --sha256 \(server.url) in", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try server.sentForms().map(\.files.count) == [400])
  }

  @Test func `a listing that fails sends nothing together, and what it found otherwise`() throws {
    for (flags, count) in [("--together", 0), ("--per-request 2", 3)] {
      let server = try ScriptedServer { _ in .good() }
      let place = try Self.makeFiles(3)
      let result = try shell(
        """
        (ls -d in/*; head -c 100000 /dev/zero | tr '\\0' x) > list
        $F send --json \(flags) \(server.url) --files-from list
        """, in: place)
      #expect(result.exit == 66, "\(result.stderr)")
      #expect(try server.sentForms().flatMap(\.files).count == count)
    }
  }

  // MARK: Files that can't be sent

  @Test func `files that can't be opened are left out, and the others of the request are sent`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(3)
    let result = try shell(
      """
      printf 'in/f1\\nin/missing\\nin/f2\\nlink\\nin/f3\\n' > list; ln -s /etc/passwd link
      $F plan --files-from list -o manifest; rm in/f2
      $F send --json --together \(server.url) --manifest manifest
      """, in: place)
    #expect(result.exit == 66, "\(result.output) \(result.stderr)")
    #expect(try server.sentForms().map(\.names) == [["f1", "f3"]])
    #expect(Set(sentNames(result.output, with: #""outcome":"ok""#)) == ["f1", "f3"])
    #expect(
      Set(sentNames(result.output, with: #""outcome":"failed""#)) == ["missing", "link", "f2"])
  }

  @Test func `a file whose name can't be sent is left out`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(2)
    let result = try shell(
      """
      echo x > in/$'a\\nb'
      $F send --json --together --escaping backslash --retry 0 \(server.url) in
      """, in: place)
    #expect(result.exit == 1, "\(result.output) \(result.stderr)")
    #expect(try server.sentForms().map { Set($0.names) } == [["f1", "f2"]])
    #expect(result.output.contains("\"code\":\"invalid-filename\""))
  }

  /// A server that makes a change after the first bytes of the first request. The first file is more than the buffers of
  /// both sides hold, so the others are not open then.
  private static func changing(
    _ place: TemporaryDirectory, _ change: String,
    after: [ScriptedStep] = [.readBody, .respond(200)]
  ) throws -> ScriptedServer {
    _ = try place.sparse("in/a", size: 40_000_000)
    for name in ["b", "c", "d"] { try place.write("in/\(name)", "contents of \(name)") }
    var options = ScriptedServer.Options()
    options.keptBodyLimit = 64 << 20
    return try ScriptedServer(on: .local, options) { request in
      guard request.number == 0 else { return .good() }
      return [
        .read(upTo: 1000, rate: nil), .call { _ = try? shell(change, in: place) },
      ] + after
    }
  }

  private static let list = "printf 'in/a\\nin/b\\nin/c\\nin/d\\n' | $F send --json --together "

  @Test(arguments: [
    ("echo other > in/c", "source-changed", 74), ("rm in/c", "source-changed", 74),
    ("mv in/d in/c", "source-changed", 74),
    ("rm in/c; ln -s ../../secret in/c", "source-changed", 74),
    ("rm in/c; mkfifo in/c", "source-changed", 74),
    ("mv in/c in/x; cp in/x in/c", "source-changed", 74),
  ])
  func `a file that changes while its request is sent ends it, and the others are sent again`(
    _ change: String, _ outcome: String, _ exit: Int
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("secret", "contents of c")
    _ = try shell("mkdir in", in: place)
    let server = try Self.changing(place, change)
    let result = try shell(
      "\(Self.list) --expect never \(server.url) --files-from -", in: place)
    #expect(result.exit == Int32(exit), "\(result.output) \(result.stderr)")
    let rest = change.contains("in/d") ? ["a", "b"] : ["a", "b", "d"]
    #expect(try server.sentForms().map(\.names) == [rest])
    #expect(sentNames(result.output, with: "\"outcome\":\"\(outcome)\"").contains("c"))
    #expect(Set(sentNames(result.output, with: #""outcome":"ok","attempts":2"#)) == Set(rest))
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `without another attempt, the others of a request that was cut short are retryable`()
    throws
  {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in", in: place)
    let server = try Self.changing(place, "echo other > in/c")
    let result = try shell(
      "\(Self.list) --expect never --retry 0 \(server.url) --files-from -", in: place)
    #expect(result.exit == 74, "\(result.output) \(result.stderr)")
    #expect(server.requests.count == 1)
    #expect(sentNames(result.output, with: #""outcome":"source-changed""#) == ["c"])
    #expect(sentNames(result.output, with: #""outcome":"retryable""#) == ["a", "b", "d"])
    #expect(sentNames(result.output, with: #""code":"request-cut-short""#) == ["a", "b", "d"])
  }

  @Test func `while a file becomes a link and a file again, nothing from outside is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(800)
    let result = try shell(
      """
      mkdir outside; for n in {1..20}; do echo secret > outside/x$n; echo words > in/x$n; done
      ls -d in/* | shuf > list
      $F send -q -j 4 --per-request 6 --retry 9 \(server.url) --files-from list & pid=$!
      while kill -0 $pid 2> /dev/null; do
        x=x$((RANDOM % 20 + 1)); ln -s ../outside/$x t && mv -T t in/$x; echo words > t && mv -T t in/$x
        mv -T in e && ln -s outside in; rm in; mv -T e in
        # On a busy machine, a form gets through only if there is time for it.
        sleep 0.00$((RANDOM % 10))
      done
      wait $pid
      """, in: place)
    #expect(result.signal == nil)
    for request in server.requests {
      #expect(!String(decoding: request.body, as: UTF8.self).contains("secret"))
    }
    // Each body is a form with its last delimiter.
    #expect(try !server.sentForms().isEmpty)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  /// The server may have carried out the first request, which had another key.
  @Test func `files that a server may have are not sent again with other files`() throws {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in", in: place)
    for name in ["a", "b"] { try place.write("in/\(name)", "contents of \(name)") }
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return .good() }
      return [
        .readBody, .call { _ = try? shell("echo other > in/b", in: place) }, .reset,
      ]
    }
    let sent = try shell(
      "$F send --json --together --idempotency-key auto \(server.url) in/a in/b", in: place)
    #expect(sent.exit == 3, "\(sent.output) \(sent.stderr)")
    #expect(Set(sentNames(sent.output, with: #""outcome":"unknown""#)) == ["a", "b"])
    #expect(server.requests.filter(\.hasCompleteBody).count == 1)
  }

  // MARK: Journals

  private static func arguments(_ server: ScriptedServer, _ more: String...) -> [String] {
    ["send", "--json", "--retry", "0", "-j", "2", "--per-request", "3", "--journal", "journal"]
      + more + [server.url, "in"]
  }

  /// The process is killed while a request is complete and has no response: the nastiest moment.
  @Test(arguments: [1, 2, 4, 7])
  func `after a kill at any request, all files arrive, and duplicates are marked`(
    _ killedAt: Int
  ) throws {
    let pid = Guarded<Int32>(0)
    let server = try ScriptedServer { request in
      guard request.number == killedAt - 1 else { return .good() }
      return .killing(pid)
    }
    let place = try Self.makeFiles(20)
    let first = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server, "--idempotency-key", "auto").map { Array($0.utf8) },
      in: place)
    pid.withLock { $0 = first.pid }
    let killed = try first.wait()
    #expect(killed.signal == SIGKILL)
    #expect(server.waitForEnds())
    let before = server.requests.filter(\.hasCompleteBody).count
    let proven = Set(sentNames(killed.output, with: #""outcome":"ok""#))
    let second = try run(
      "formstream", Self.arguments(server, "--idempotency-key", "auto"), in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    let forms = try server.sentForms()
    let all = forms.flatMap(\.names)
    #expect(Set(all).count == 20)
    // Nothing that the first run had proven is sent again.
    #expect(proven.isDisjoint(with: forms.dropFirst(before).flatMap(\.names)))
    // What arrived twice is marked.
    let twice = Set(all.filter { name in all.count { $0 == name } > 1 })
    #expect(twice.isSubset(of: sentNames(second.output, with: #""maybe_duplicate":true"#)))
    #expect(all.count <= 26, "at most two requests are sent again")
    // The packs are the same, so a server that remembers keys has each file once.
    let complete = server.requests.filter(\.hasCompleteBody)
    var stored: [String: [String]] = [:]
    for (request, form) in zip(complete, forms) {
      stored[request.header("Idempotency-Key") ?? ""] = form.names
    }
    #expect(stored.values.flatMap(\.self).count == 20)
  }

  @Test func `after a kill at any line of the journal, only what is not proven is packed again`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(10)
    let arguments = [
      "send", "--json", "-j", "1", "--per-request", "4", "--journal", "journal", server.url, "in",
    ]
    let complete = try run("formstream", arguments, in: place)
    #expect(complete.exit == 0, "\(complete.stderr)")
    let name = try #require(
      try shell("ls journal | grep ^journal-", in: place).output.split(separator: "\n").first)
    let lines = try shell("cat journal/\(name)", in: place).output.split(separator: "\n")
    #expect(lines.count == 22)
    let kinds = lines.map { line in
      line.contains("formstream.started/1") ? "s" : line.contains("formstream.record/2") ? "r" : "."
    }
    // All files of a request are in the journal before the request begins.
    let first = try SentForm(server.requests[0]).files.count
    #expect(kinds.prefix { $0 != "r" }.count { $0 == "s" } >= first)
    for kept in 1...lines.count {
      _ = try shell("rm journal/journal-*", in: place)
      try place.write("journal/\(name)", lines[..<kept].map { "\($0)\n" }.joined())
      let before = server.requests.count
      let resumed = try run("formstream", arguments, in: place)
      #expect(resumed.exit == 0, "\(resumed.stderr)")
      let proven = kinds[..<kept].count { $0 == "r" }
      let begun = kinds[..<kept].count { $0 == "s" } - proven
      let sent = try server.requests.dropFirst(before).flatMap { try SentForm($0).names }
      #expect(sent.count == 10 - proven, "\(kept)")
      #expect(server.requests.count - before == (10 - proven + 3) / 4, "\(kept)")
      #expect(
        sentNames(resumed.output, with: #""maybe_duplicate":true"#).count == begun, "\(kept)")
    }
  }

  /// How the first run sends, and the second, and whether the second may send a duplicate.
  @Test(arguments: [
    (["--idempotency-key", "auto"], ["--idempotency-key", "auto"], false),
    ([], ["--idempotency-key", "auto"], true),
    (["--idempotency-key", "auto"], [], true),
    (["--idempotency-key", "auto"], ["--idempotency-key", "auto", "--per-request", "2"], true),
    (["--idempotency-key", "auto", "--per-request", "2"], ["--idempotency-key", "auto"], true),
    (["--idempotency-key", "auto", "--slice", "4"], ["--idempotency-key", "auto"], true),
    (["--idempotency-key", "auto"], ["--idempotency-key", "auto", "--slice", "4"], true),
    (
      ["--idempotency-key", "auto", "--slice", "4"], ["--idempotency-key", "auto", "--slice", "4"],
      false
    ),
    (
      ["--idempotency-key", "auto", "--slice", "4"], ["--idempotency-key", "auto", "--slice", "5"],
      true
    ),
  ])
  func `a file is marked unless it is sent again with the same key`(
    _ first: [String], _ second: [String], _ isMarked: Bool
  ) throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .reset] : .good()
    }
    let place = try Self.makeFiles(1)
    func send(_ flags: [String]) throws -> Invocation {
      try run(
        "formstream",
        ["send", "--json", "--retry", "0", "--journal", "journal"] + flags + [server.url, "in"],
        in: place)
    }
    #expect(try send(first).exit == 3)
    let sent = try send(second)
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(sent.output.contains("\"maybe_duplicate\":\(isMarked)"), "\(sent.output)")
    let keys = server.requests.map { $0.header("Idempotency-Key") }
    if !isMarked { #expect(keys[0] == keys[1]) }
  }

  @Test func `a report of packs counts what may have been accepted twice`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .reset] : .good()
    }
    let place = try Self.makeFiles(4)
    let arguments = Self.arguments(server, "--idempotency-key", "auto", "-j", "1")
    #expect(try run("formstream", arguments, in: place).exit == 3)
    #expect(try run("formstream", arguments, in: place).exit == 0)
    let report = try formstream("report", "--json", "journal", in: place)
    #expect(report.exit == 3, "\(report.output)")
    #expect(report.output.contains(#""ok":4,"#), "\(report.output)")
    let count = try SentForm(server.requests[0]).files.count
    #expect(report.output.contains("\"maybe_duplicates\":\(count),"), "\(report.output)")
  }

  // MARK: What the server says

  @Test func `each file of a request is compared with its own value`() throws {
    let server = try ScriptedServer { _ in
      .good(body: #"{"files":[{"size":10},{"size":10},{"size":99}]}"#)
    }
    let place = try Self.makeFiles(3)
    let result = try shell(
      "$F send --json --together --verify 'files[{i}].size' \(server.url) in/f1 in/f2 in/f3",
      in: place)
    #expect(result.exit == 1, "\(result.output)")
    #expect(sentNames(result.output, with: #""outcome":"ok""#) == ["f1", "f2"])
    #expect(sentNames(result.output, with: "digest-mismatch") == ["f3"])
  }

  @Test func `the place can be a part of a name, and is that among the files that were sent`()
    throws
  {
    let server = try ScriptedServer { _ in .good(body: #"{"f0":{"n":10},"f1":{"n":10}}"#) }
    let place = try Self.makeFiles(2)
    let result = try shell(
      """
      $F send --json --keep-going --together --verify 'f{i}.n' \(server.url) in/missing in/f1 in/f2
      """, in: place)
    #expect(result.exit == 66, "\(result.output)")
    #expect(sentNames(result.output, with: #""outcome":"ok""#) == ["f1", "f2"])
  }

  @Test func `a long response is not repeated in each record`() throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 5000)) }
    let place = try Self.makeFiles(64)
    for (flags, length) in [("--per-request 16", 4096), ("--together", 1024)] {
      let result = try shell("$F send --json \(flags) \(server.url) in", in: place)
      let records = result.output.split(separator: "\n").dropLast()
      #expect(records.count == 64)
      let body = String(repeating: "x", count: length)
      for record in records {
        #expect(record.contains("\"body\":\"\(body)\",\"body_b64\":null,\"truncated\":true"))
      }
    }
  }

  @Test(arguments: [
    (["--together", "--per-request", "2"], "leave out --per-request"),
    (["--together", "--per-request-bytes", "2"], "leave out --per-request"),
    (["--put", "--together"], "leave out --together"),
    (["--put", "--per-request", "2"], "leave out --per-request"),
    (["--slice", "2", "--per-request-bytes", "2"], "--slice"),
    (["--slice", "2", "--put"], "--slice"),
    (["--together", "--verify", "sha256"], "write {i}"),
    (["--together", "-F", "a={name}"], "--filename can"),
    (["--together", "--as", "{name}"], "use {i}"), (["--together", "--as", "f[{i"], "no }"),
    (["--per-request", "0"], "from 1"), (["--per-request", "100001"], "100000"),
    (["--per-request-bytes", "0"], "not a size"), (["--slice", "0"], "not a size"),
    (["--slice", "x"], "not a size"), (["--slice", "9999999999T"], "not a size"),
    (["-F", "a={slice}"], "{slice} is none"), (["--filename", "{i}"], "{i} is none"),
  ])
  func `flags that contradict each other are an error before anything is sent`(
    _ flags: [String], _ says: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(1)
    let result = try run("formstream", ["send"] + flags + ["\(server.url)/", "in"], in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }

  /// Regression: the files before that one were sent.
  @Test(arguments: ["--per-request 2", "--per-request-bytes 20", "--together"])
  func `fields of the last file of a manifest are found before the first is sent`(
    _ packing: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(5)
    let result = try shell(
      """
      $F plan --sort in -o plain; sed '$ s/"size"/"fields":[["a","b"]],"size"/' plain > manifest
      $F send --json \(packing) \(server.url) --manifest manifest
      """, in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains("f5\", and a request with"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
    // Other shards are not packed here.
    let shard = try shell(
      "$F send --shard 1/2 \(packing) \(server.url) --manifest manifest", in: place)
    #expect(shard.exit == 0, "\(shard.stderr)")
  }

  @Test func `a manifest with fields for a file can't be packed`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(1)
    let result = try shell(
      """
      $F plan in -o plain; sed 's/"size"/"fields":[["a","b"]],"size"/' plain > manifest
      $F send --json --per-request 2 \(server.url) --manifest manifest
      """, in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains("a request of its own"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }
}
