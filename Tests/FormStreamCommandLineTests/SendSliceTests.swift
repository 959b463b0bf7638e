import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `send --slice`: files in several requests each.
@Suite struct SendSliceTests {
  private static func makeFile(_ contents: String = "0123456789") throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.write("f", contents)
    return place
  }

  /// What a server does that puts slices of four bytes together.
  private static let template = [
    "-F", "slice={slice}/{slices} at {offset} of {total} {size}", "--filename",
    "{name}.{slice}", "--as", "part{slice}",
  ]

  private static func arguments(_ server: ScriptedServer, _ more: String...) -> [String] {
    ["send", "--json", "--retry", "0", "--slice", "4", "--journal", "journal"] + template + more
      + [server.url, "f"]
  }

  private static func slices(_ server: ScriptedServer) throws -> [String] {
    try server.sentForms().map { form in
      form.files.map { String(decoding: $0.contents, as: UTF8.self) }.joined(separator: "|")
    }
  }

  @Test func `a file is sent in slices, one after another, each in a form of its own`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFile()
    let result = try run(
      "formstream", Self.arguments(server, "--boundary", "B", "-j", "4"), in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        == [
          (0, "0123"), (1, "4567"), (2, "89"),
        ].map { index, bytes in
          """
          --B\r
          Content-Disposition: form-data; name="slice"\r
          \r
          \(index)/3 at \(4 * index) of 10 10\r
          --B\r
          Content-Disposition: form-data; name="part\(index)"; filename="f.\(index)"\r
          Content-Type: text/plain\r
          \r
          \(bytes)\r
          --B--\r

          """
        })
    let records = result.output.split(separator: "\n").dropLast()
    #expect(records.count == 1)
    #expect(records[0].contains(#""outcome":"ok","attempts":3,"maybe_duplicate":false"#))
    let kinds = try shell("cat journal/journal-*", in: place).output.split(separator: "\n")
      .map { $0.firstMatch(of: /formstream\.(?<kind>[a-z]+)/).map { String($0.kind) } ?? "" }
    #expect(kinds == ["journal", "started", "slices", "slices", "slices", "record", "closed"])
  }

  @Test(arguments: [("", [""]), ("0", ["0"]), ("0123", ["0123"]), ("01234", ["0123", "4"])])
  func `files of each size have as many slices as they need`(
    _ contents: String, _ slices: [String]
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try formstream(
      "send", "--slice", "4", server.url, "f", in: try Self.makeFile(contents))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try Self.slices(server) == slices)
  }

  @Test func `after a slice that is refused, no other is sent, and the file has failed`() throws {
    let server = try ScriptedServer { request in
      request.number == 1 ? [.readBody, .respond(400)] : .good()
    }
    let place = try Self.makeFile()
    let result = try run("formstream", Self.arguments(server), in: place)
    #expect(result.exit == 1, "\(result.output)")
    #expect(result.output.contains(#""status":400,"outcome":"failed""#))
    #expect(server.requests.count == 2)
    let again = try run("formstream", Self.arguments(server), in: place)
    #expect(again.exit == 0, "\(again.output)")
    #expect(again.output.contains(#""outcome":"ok","attempts":2,"maybe_duplicate":false"#))
    #expect(try Self.slices(server) == ["0123", "4567", "4567", "89"])
  }

  @Test func `a slice that a server is too busy for is repeated, and the others are not`() throws {
    let server = try ScriptedServer { request in
      request.number == 1
        ? [.readBody, .respond(503, headers: [("Retry-After", "0")])] : .good()
    }
    let result = try formstream(
      "send", "--json", "--slice", "4", server.url, "f", in: try Self.makeFile())
    #expect(result.exit == 0, "\(result.output)")
    #expect(try Self.slices(server) == ["0123", "4567", "4567", "89"])
  }

  @Test(arguments: [
    "echo 012345678 > f", "echo more >> f", "truncate -s 5 f", "touch f",
    "cp f g; mv g f", "rm f",
  ])
  func `a file that changes between two slices is not accepted`(_ change: String) throws {
    let place = try Self.makeFile()
    let server = try ScriptedServer { request in
      [
        .continueIfExpected, .readBody,
        .call { if request.number == 0 { _ = try? shell(change, in: place) } }, .respond(200),
      ]
    }
    let result = try run("formstream", Self.arguments(server), in: place)
    #expect(result.exit == 74, "\(result.output)")
    #expect(result.output.contains(#""outcome":"source-changed""#), "\(result.output)")
    #expect(try Self.slices(server) == ["0123"])
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  // MARK: Journals

  /// The process is killed while a slice is complete and has no response: the nastiest moment.
  @Test(arguments: [1, 2, 5, 8])
  func `after a kill at any slice, the file goes on with that slice`(_ killedAt: Int) throws {
    let pid = Guarded<Int32>(0)
    let server = try ScriptedServer { request in
      guard request.number == killedAt - 1 else { return .good() }
      return .killing(pid)
    }
    let place = try Self.makeFile("abcdefghijklmnopqrstuvwxyz012345")
    let first = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server).map { Array($0.utf8) }, in: place)
    pid.withLock { $0 = first.pid }
    #expect(try first.wait().signal == SIGKILL)
    #expect(server.waitForEnds())
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(
      second.output.contains(
        "\"outcome\":\"ok\",\"attempts\":\(9 - killedAt),\"maybe_duplicate\":true"),
      "\(second.output)")
    var expected = ["abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx", "yz01", "2345"]
    expected.insert(expected[killedAt - 1], at: killedAt)
    #expect(try Self.slices(server) == expected)
    let third = try run("formstream", Self.arguments(server), in: place)
    #expect(third.exit == 0)
    #expect(server.requests.count == 9)
  }

  @Test func `after a kill at any line of the journal, only slices that are not proven are sent`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFile("abcdefghijklmnop")
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 0)
    let name = try #require(
      try shell("ls journal | grep ^journal-", in: place).output.split(separator: "\n").first)
    let lines = try shell("cat journal/\(name)", in: place).output.split(separator: "\n")
    #expect(lines.count == 8)
    // The lines: head, started, 0 bytes, 4 bytes, 8 bytes, 12 bytes, record, closed.
    for (kept, sent) in [(1, 4), (2, 4), (3, 4), (4, 3), (5, 2), (6, 1), (7, 0), (8, 0)] {
      _ = try shell("rm journal/journal-*", in: place)
      try place.write("journal/\(name)", lines[..<kept].map { "\($0)\n" }.joined())
      let before = server.requests.count
      let resumed = try run("formstream", Self.arguments(server), in: place)
      #expect(resumed.exit == 0, "\(resumed.stderr)")
      #expect(server.requests.count - before == sent, "\(kept)")
      let isMarked = resumed.output.contains("\"maybe_duplicate\":true")
      #expect(isMarked == (2...6).contains(kept), "\(kept)")
    }
  }

  /// The manifest's size and time stay the same after such a change; the time of the change doesn't.
  @Test(arguments: ["chmod 600 f", "cp f g; touch -r f g; cat g > f; touch -r g f"])
  func `slices of a file that was changed since are not continued`(_ change: String) throws {
    let server = try ScriptedServer { request in
      request.number == 2 ? [.readBody, .respond(503)] : .good()
    }
    let place = try Self.makeFile()
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 75)
    _ = try shell(change, in: place)
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0, "\(second.output)")
    #expect(second.output.contains("\"maybe_duplicate\":true"))
    #expect(try Self.slices(server).dropFirst(3) == ["0123", "4567", "89"])
  }

  @Test func `slices of another size begin with the first`() throws {
    let server = try ScriptedServer { request in
      request.number == 1 ? [.readBody, .respond(413)] : .good()
    }
    let place = try Self.makeFile()
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 1)
    let second = try run("formstream", Self.arguments(server, "--slice", "3"), in: place)
    #expect(second.exit == 0, "\(second.output)")
    #expect(second.output.contains("\"maybe_duplicate\":true"))
    #expect(try Self.slices(server).dropFirst(2) == ["012", "345", "678", "9"])
  }

  @Test func `SIGTERM ends a file between two slices, and the next run goes on there`() throws {
    let reached = try Gate()
    let server = try ScriptedServer { request in
      request.number == 1 ? [.open(reached)] + .good() : .good()
    }
    let count = 20_000
    let place = try Self.makeFile(String(repeating: "0123", count: count))
    let program = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server).map { Array($0.utf8) }, in: place)
    #expect(reached.wait())
    program.signal(SIGTERM)
    let end = try program.wait()
    #expect(end.exit == 75, "\(end.stderr)")
    let sent = server.requests.count
    #expect(sent < count)
    #expect(
      end.output.contains("\"outcome\":\"retryable\",\"attempts\":\(sent),"), "\(end.output)")
    #expect(end.output.contains("after \(sent) of \(count) slices"), "\(end.output)")
    let second = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server).map { Array($0.utf8) }, in: place)
    // When the second request begins, the first is complete.
    #expect(server.waitForRequests(sent + 2))
    second.signal(SIGKILL)
    _ = try second.wait()
    let form = try SentForm(server.requests[sent])
    #expect(form.names == ["f.\(sent)"])
  }

  @Test func `each slice has an idempotency key, and with it nothing is marked`() throws {
    let server = try ScriptedServer { request in
      request.number == 1 ? [.readBody, .reset] : .good()
    }
    let place = try Self.makeFile()
    #expect(
      try run("formstream", Self.arguments(server, "--idempotency-key", "auto"), in: place).exit
        == 3)
    let second = try run(
      "formstream", Self.arguments(server, "--idempotency-key", "auto"), in: place)
    #expect(second.exit == 0)
    #expect(second.output.contains("\"maybe_duplicate\":false"))
    let keys = server.requests.map { $0.header("Idempotency-Key") ?? "" }
    try #require(keys.count == 4)
    #expect(keys[1] == keys[2])
    #expect(Set(keys).count == 3)
    #expect(try Self.slices(server) == ["0123", "4567", "4567", "89"])
  }

  @Test func `what the server says is compared after the last slice`() throws {
    for (size, exit) in [(10, 0), (2, 1)] as [(Int, Int32)] {
      let server = try ScriptedServer { request in
        .good(body: request.number == 2 ? "{\"size\":\(size)}" : "next")
      }
      let result = try formstream(
        "send", "--json", "--slice", "4", "--verify", "size", server.url, "f",
        in: try Self.makeFile())
      #expect(result.exit == exit, "\(result.output)")
      #expect(server.requests.count == 3)
    }
  }

  @Test func `a file that the server did not confirm is sent from its beginning`() throws {
    let server = try ScriptedServer { request in
      .good(body: request.number == 2 ? "{\"size\":7}" : "{\"size\":10}")
    }
    let place = try Self.makeFile()
    #expect(
      try run("formstream", Self.arguments(server, "--verify", "size"), in: place).exit == 1)
    let second = try run("formstream", Self.arguments(server, "--verify", "size"), in: place)
    #expect(second.exit == 0, "\(second.output)")
    #expect(second.output.contains("\"maybe_duplicate\":true"))
    #expect(try Self.slices(server).dropFirst(3) == ["0123", "4567", "89"])
  }

  /// Regression: the slice had another key, and no mark.
  @Test func `a slice in doubt that gets another key is marked`() throws {
    let isReset = Guarded(true)
    let server = try ScriptedServer { _ in
      [
        .readBody,
        isReset.withLock { isReset in
          defer { isReset = false }; return isReset
        } ? .reset : .respond(200),
      ]
    }
    let place = try Self.makeFile("abcdefgh")
    let arguments = Self.arguments(server) + ["--idempotency-key", "auto", "--retry", "0"]
    #expect(try run("formstream", arguments, in: place).exit == 3)
    _ = try shell("chmod 600 f", in: place)
    let second = try run("formstream", arguments, in: place)
    #expect(second.exit == 0 && second.output.contains(#""maybe_duplicate":true"#), "\(second.output)")
    #expect(server.requests[0].header("Idempotency-Key") != server.requests[1].header("Idempotency-Key"))
  }

  /// Regression: they were sent again without a mark.
  @Test func `slices of a version that came back are marked`() throws {
    let statuses = Guarded([200, 400, 400])
    let server = try ScriptedServer { _ in
      [.readBody, .respond(statuses.withLock { $0.isEmpty ? 200 : $0.removeFirst() })]
    }
    let place = try Self.makeFile("abcdefgh")
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 1)
    _ = try shell("cp -p f kept; echo changed >> f", in: place)
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 1)
    _ = try shell("cp -p kept f", in: place)
    let last = try run("formstream", Self.arguments(server), in: place)
    #expect(last.exit == 0, "\(last.output)")
    #expect(last.output.contains(#""maybe_duplicate":true"#), "\(last.output)")
  }
}
