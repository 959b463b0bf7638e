import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Framing without an end: it takes no more memory than a connection has, and the receiver lives on.
@Suite struct EndlessTests {
  private static func expectEnd(
    after start: String, of piece: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let stand = try Stand()
    let answers = try await onNewThread {
      let client = try stand.client()
      try client.send(
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(start)")
      let bytes = Array(String(repeating: piece, count: 10_000).utf8)
      while (try? client.send(bytes)) != nil {}
      return (try? client.answersUpToEnd()) ?? []
    }
    #expect(answers.count <= 1, sourceLocation: sourceLocation)
    #expect(!answers.contains { $0.status < 400 }, "\(answers)", sourceLocation: sourceLocation)
    let told = try await stand.told(1)
    #expect(told.map(\.isComplete) == [false], sourceLocation: sourceLocation)
    #expect(stand.handler.alive == 0, sourceLocation: sourceLocation)
    let good = try await stand.answer(
      to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
    #expect(good.status == 200, sourceLocation: sourceLocation)
  }

  @Test func `a chunk's size`() async throws {
    try await Self.expectEnd(after: "", of: "0")
  }

  @Test func `an extension`() async throws {
    try await Self.expectEnd(after: "1;", of: "x")
  }

  @Test func `trailers`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\n", of: "X: y\r\n")
  }

  @Test func `one trailer`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\n", of: "x:")
  }

  @Test func `a trailer that goes on and on`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\nX: y\r\n", of: " z\r\n")
  }

  /// Requests in a pipe whose answers nobody reads: the receiver reads no further, either.
  @Test func `pages that nobody reads`() async throws {
    let stand = try Stand { $0.limits.responseTime = .milliseconds(200) }
    try await onNewThread {
      let client = try stand.client()
      let bytes = Array(String(repeating: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", count: 1000).utf8)
      while (try? client.send(bytes)) != nil {}
    }
    #expect(try await stand.answer(to: "GET / HTTP/1.0\r\n\r\n").status == 200)
  }
}
