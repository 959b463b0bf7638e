import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send`: what the server may have twice, or may have got in part, is said to be so.
@Suite struct SendStoredTwiceTests {
  private static func place(_ contents: String = "0123456789") throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.write("f", contents)
    return place
  }

  /// Responds with something else than the file's size until it is repaired.
  private static let otherSize = #"{"size":3}"#

  @Test func `a file that the server did not confirm is sent again as a possible duplicate`() throws {
    let server = try ScriptedServer { request in
      [.readBody, .respond(200, body: request.number == 0 ? Self.otherSize : #"{"size":10}"#)]
    }
    let place = try Self.place()
    let first = try formstream(
      "send", "--retry", "0", "--verify", "size", "--journal", "j", "--failed", "rest", server.url,
      "f", in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    let reported = try formstream("report", "j", "--failed", "reported", in: place)
    #expect(reported.exit == 1, "\(reported.stderr)")
    for list in ["rest", "reported"] {
      let text = try shell("cat \(list)", in: place).output
      #expect(text.contains(#""maybe_duplicate":true"#), "\(list): \(text)")
    }
    let second = try formstream(
      "send", "--json", "--verify", "size", server.url, "--manifest", "rest", in: place)
    #expect(second.output.contains(#""outcome":"ok","attempts":1,"maybe_duplicate":true"#))
  }

  @Test(arguments: [400, 503])
  func `a file with accepted slices is sent again as a possible duplicate`(_ status: Int) throws {
    let server = try ScriptedServer { request in
      request.number == 2 ? [.readBody, .respond(status)] : .good()
    }
    let place = try Self.place()
    let first = try formstream(
      "send", "--retry", "0", "--slice", "4", "--journal", "j", "--failed", "rest", server.url, "f",
      in: place)
    #expect(first.exit == (status == 400 ? 1 : 75), "\(first.stderr)")
    _ = try formstream("report", "j", "--failed", "reported", in: place)
    for list in ["rest", "reported"] {
      let text = try shell("cat \(list)", in: place).output
      #expect(text.contains(#""maybe_duplicate":true"#), "\(list): \(text)")
    }
  }

  @Test func `an attempt after one in doubt makes a possible duplicate`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .close] : .good()
    }
    let place = try Self.place()
    let sent = try formstream(
      "send", "--json", "--retry", "2", "--retry-unsafe", "--journal", "j", server.url, "f",
      in: place)
    #expect(sent.output.contains(#""outcome":"ok","attempts":2,"maybe_duplicate":true"#))
    #expect(server.requests.count == 2)
    #expect(try formstream("report", "j", in: place).exit == 3)
  }

  /// With a key, the server stores it once.
  @Test func `an attempt with the key of the one in doubt makes none`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .close] : .good()
    }
    let place = try Self.place()
    let sent = try formstream(
      "send", "--json", "--retry", "2", "--idempotency-key", "auto", "--journal", "j", server.url,
      "f", in: place)
    #expect(sent.output.contains(#""outcome":"ok","attempts":2,"maybe_duplicate":false"#))
    #expect(try formstream("report", "j", in: place).exit == 0)
  }

  @Test(arguments: [(400, "failed", 1), (503, "retryable", 75)])
  func `a slice that was accepted in the end leaves no doubt`(
    _ status: Int, _ outcome: String, _ exit: Int32
  ) throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0: [.readBody, .close]
      case 1: .good()
      default: [.readBody, .respond(status, headers: [("Retry-After", "0")])]
      }
    }
    let sent = try formstream(
      "send", "--json", "--slice", "4", "-F", "n={slice}", "--retry", "1", "--idempotency-key",
      "auto", server.url, "f", in: try Self.place())
    #expect(sent.exit == exit, "\(sent.output)")
    #expect(sent.output.contains(#""outcome":"\#(outcome)""#), "\(sent.output)")
  }

  @Test(arguments: [["PUT"], ["DELETE"], ["GET"], ["HEAD"], ["PUT", "--slice", "4"]])
  func `forms that would replace each other are refused`(_ method: [String]) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.place()
    let sent = try run(
      "formstream", ["send", server.url, "f", "-X"] + method, in: place)
    #expect(sent.exit == 64, "\(sent.output) \(sent.stderr)")
    #expect(sent.stderr.contains("-X") && sent.stderr.contains("--put"), "\(sent.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test func `one form that replaces what the URL has is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let sent = try formstream(
      "send", "--together", "-X", "PUT", server.url, "f", in: try Self.place())
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.map(\.method) == ["PUT"])
  }

  /// A record that can't be written to the journal is written to standard output all the same.
  @Test(.enabled(if: sanitizer == nil, "a sanitizer can't begin with this limit"))
  func `each stored file has a record, though the journal's disk is full`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let sent = try shell(
      """
      mkdir d; for n in {1..40}; do echo $n > d/$n; done; mkfifo out; cat out > records & pid=$!
      (ulimit -f 5; $F send --json -j 1 --journal j \(server.url) d > out); echo $?; wait $pid
      grep -c '"outcome":"ok"' records
      """, in: place)
    let lines = sent.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "74", "\(sent.output) \(sent.stderr)")
    #expect(lines.last == "\(server.sentFiles.count)", "\(sent.output) \(sent.stderr)")
  }
}
