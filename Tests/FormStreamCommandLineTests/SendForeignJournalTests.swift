import FormStreamTestSupport
import Testing

/// What a journal says about an upload is believed no more than a resume file.
@Suite struct SendForeignJournalTests {
  private let place: TemporaryDirectory
  private let server: ScriptedServer
  private let other: ScriptedServer

  init() throws {
    place = try TemporaryDirectory()
    _ = try place.sparse("film", size: 20_000_000)
    other = try ScriptedServer { _ in .good() }
    server = try ScriptedServer { request in
      switch request.method {
      case "POST":
        [
          .continueIfExpected,
          .informational(104, headers: [("Location", "/uploads/1"), ("Upload-Draft-Interop-Version", "8")]),
          .readBody(upTo: 1_000_000), .reset,
        ]
      case "HEAD": [.respond(204, headers: [("Upload-Offset", "1000000"), ("Upload-Complete", "?0")])]
      default: [.continueIfExpected, .readBody, .respond(200, headers: [("Upload-Complete", "?1")])]
      }
    }
  }

  private func send(_ flags: String = "--resumable=http", after change: String = "true") throws -> Invocation {
    try shell("\(change); $F send --json --retry 0 --journal j \(flags) \(server.url)/form film", in: place)
  }

  /// Regression: the URL in such a journal was used.
  @Test(arguments: ["620", "602", "666"])
  func `a journal that others can write to continues no upload`(_ mode: String) throws {
    _ = try send()
    let refused = try send(after: "chmod \(mode) j/journal-*")
    #expect(refused.exit == 74 && refused.stderr.contains("Other users may write to the journal"), "\(refused.stderr)")
    let remedy = "If you trust the journal, run chmod 600 on it; otherwise leave out --resumable."
    #expect(refused.stderr.contains(remedy), "\(refused.stderr)")
    #expect(server.requests.map(\.method) == ["POST"])
    let trusted = try send(after: "chmod 600 j/journal-*")
    #expect(trusted.exit == 0 && server.requests.map(\.method) == ["POST", "HEAD", "PATCH"], "\(trusted.stderr)")
    // What is accepted needs no upload.
    let done = try send(after: "chmod \(mode) j/journal-*")
    #expect(done.exit == 0 && server.requests.count == 3, "\(done.stderr)")
  }

  @Test func `a journal of another user continues no upload`() throws {
    _ = try send()
    let refused = try send(after: "chown 4242 j/journal-*")
    #expect(refused.exit == 74 && refused.stderr.contains("belongs to another user"), "\(refused.stderr)")
    #expect(server.requests.count == 1)
  }

  /// Regression: the next round, too, takes the upload from the journal of the round before.
  @Test func `the next round doesn't believe such a journal either`() throws {
    _ = try send()
    let refused = try send(after: "touch new; chmod 620 j/journal-*")
    #expect(refused.exit == 74, "\(refused.stderr)")
    let next = try shell("$F send --json --retry 0 --journal j --resumable=http \(server.url)/form film new", in: place)
    #expect(next.exit != 0 && server.requests.count == 1, "\(next.stderr)")
  }

  @Test func `without --resumable, nothing of it is believed, and nothing is refused`() throws {
    _ = try send()
    let run = try send("", after: "chmod 666 j/journal-*")
    #expect(server.requests.map(\.method) == ["POST", "POST"] && !run.stderr.contains("Other users"), "\(run.stderr)")
  }

  /// Moves the upload to the other server.
  private var moved: String { "sed -i 's|\(server.url)/uploads|\(other.url)/uploads|' j/journal-*" }

  /// All rules for redirects hold for a URL that is stored.
  @Test func `an upload at another origin is not continued without -L`() throws {
    _ = try send()
    let refused = try send(after: moved)
    #expect(refused.exit != 0 && other.requests.isEmpty && other.connectionCount == 0, "\(refused.stderr) \(refused.output)")
    #expect(server.requests.map(\.method) == ["POST"], "\(refused.output)")
    #expect(!(refused.output + refused.stderr).contains("uploads/1"), "\(refused.output)")
  }

  @Test func `with -L it is, and gets no header`() throws {
    _ = try send()
    _ = try send("--resumable=http -L -H 'X-Secret: 1'", after: moved)
    #expect(!other.requests.isEmpty && other.requests.allSatisfy { $0.header("X-Secret") == nil })
  }
}
