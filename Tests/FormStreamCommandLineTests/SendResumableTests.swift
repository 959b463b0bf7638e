import FormStreamTestSupport
import Testing

/// `send --resumable`: files go on where they broke, in one run and in the next.
@Suite struct SendResumableTests {
  private let place: TemporaryDirectory
  private let server: ScriptedServer

  /// Makes a file that is longer than the system's buffers, and a server that cuts the first request in the middle of it.
  init() throws {
    place = try TemporaryDirectory()
    _ = try place.sparse("film", size: 20_000_000)
    server = try ScriptedServer { request in
      switch request.method {
      case "HEAD":
        [.respond(204, headers: [("Upload-Offset", "1000000"), ("Upload-Complete", "?0")])]
      case "PATCH":
        [.continueIfExpected, .readBody, .respond(200, headers: [("Upload-Complete", "?1")])]
      case _ where request.number == 0:
        [
          .continueIfExpected,
          .informational(
            104, headers: [("Location", "/uploads/1"), ("Upload-Draft-Interop-Version", "8")]),
          .readBody(upTo: 1_000_000), .reset,
        ]
      default: .good(200)
      }
    }
  }

  private func send(_ flags: String) throws -> Invocation {
    try shell("$F send --json --resumable=http --journal j \(flags) \(server.url)/form film", in: place)
  }

  private var methods: [String] { server.requests.map(\.method) }

  private func isWhole(_ pieces: [RecordedRequest]) -> Bool {
    let length = pieces.first?.headers.first { $0.name == "Upload-Length" }.flatMap { Int($0.value) }
    return length == 1_000_000 + (pieces.last?.bodyCount ?? 0)
  }

  @Test func `a file goes on in the same run`() throws {
    let result = try send("--retry 2 --retry-delay 0.01")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(methods == ["POST", "HEAD", "PATCH"])
    #expect(isWhole(server.requests))
    #expect(result.output.contains("\"outcome\":\"ok\""))
    #expect(result.output.contains("\"maybe_duplicate\":false"))
  }

  @Test func `a file goes on in the next run`() throws {
    let first = try send("--retry 0")
    #expect(first.exit != 0)
    #expect(try shell("cat j/journal-*", in: place).output.contains("formstream.unfinished/1"))
    let second = try send("--retry 0")
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(methods == ["POST", "HEAD", "PATCH"])
    #expect(isWhole(server.requests))
    #expect(second.output.contains("\"maybe_duplicate\":false"))
    let third = try send("--retry 0")
    #expect(third.exit == 0, "\(third.stderr)")
    #expect(methods.count == 3)
  }

  @Test func `a file that has changed since is sent from its start`() throws {
    _ = try send("--retry 0")
    _ = try shell("echo x >> film", in: place)
    let second = try send("--retry 0")
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(methods == ["POST", "POST"])
    #expect(server.requests.last?.bodyCount ?? 0 > 20_000_000)
  }

  /// Regression: the report said "maybe twice", and ended with 3.
  @Test(arguments: [false, true])
  func `a file that went on is stored once, as the report says`(_ isKilled: Bool) throws {
    _ = try send("--retry 0")
    // The journal of a killed run has neither the file's record nor its last line.
    if isKilled { _ = try shell("sed -i '/formstream.record/d; /formstream.closed/d' j/journal-*", in: place) }
    let second = try send("--retry 0")
    let journals = try shell("cat j/journal*", in: place).output
    #expect(second.exit == 0 && methods == ["POST", "HEAD", "PATCH"], "\(methods) \(second.output) \(journals)")
    let report = try shell("$F report j", in: place)
    #expect(report.exit == 0 && report.output.hasPrefix("1 file: 1 ok."), "\(report.output) \(report.stderr)")
  }

  /// Regression: the file was not marked, or could not be sent.
  @Test(arguments: ["", "--per-request 2 --resumable=http", "--slice 30M"])
  func `a run that continues no uploads marks what the server may have`(_ flags: String) throws {
    _ = try send("--retry 0")
    _ = try shell("sed -i '/formstream.record/d; /formstream.closed/d' j/journal-*", in: place)
    let second = try shell("$F send --json --retry 0 --journal j \(flags) \(server.url)/form film; $F report j", in: place)
    #expect(methods == ["POST", "POST"], "\(second.stderr)")
    #expect(second.output.contains(#""maybe_duplicate":true"#), "\(second.output)")
    #expect(second.exit == 3, "\(second.output)")
  }

  @Test func `report reads such a journal`() throws {
    _ = try send("--retry 0")
    let report = try shell("$F report --json j", in: place)
    #expect(report.exit != 70, "\(report.stderr)")
    #expect(!report.stderr.contains("can't be read"), "\(report.stderr)")
    #expect(report.output.contains("\"files\":1"), "\(report.output)")
  }
}
