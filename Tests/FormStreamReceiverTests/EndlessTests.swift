import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Framing that never ends: the connection is closed when its memory is full, and the receiver goes on working.
@Suite struct EndlessTests {
  /// What a client can send before its connection is closed: the connection's memory, and the sockets' buffers.
  private static let maximumSent = 32 << 20

  private static func expectEnd(
    after start: String, of piece: String, code: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    // Only a full memory can end the connection in time, not the limit for pauses.
    let server = try TestServer { $0.limits.idleTime = .seconds(3600) }
    let (sent, responses) = try await onNewThread {
      let client = try server.client()
      try client.send(
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(start)")
      let sent = client.sendUntilClosed(
        String(repeating: piece, count: 10_000), sourceLocation: sourceLocation)
      // libmicrohttpd closes with unread bytes, which may cost the client the response.
      return (sent, (try? client.responsesToEnd()) ?? [])
    }
    #expect(sent < maximumSent, sourceLocation: sourceLocation)
    #expect(responses.count <= 1, sourceLocation: sourceLocation)
    #expect(
      !responses.contains { $0.status < 400 }, "\(responses)", sourceLocation: sourceLocation)
    let reported = try await server.reportedRequests(1)
    #expect(reported.map(\.isComplete) == [false], sourceLocation: sourceLocation)
    #expect(
      reported.map(\.error?.code) == [code], sourceLocation: sourceLocation)
    #expect(server.handler.openUploads == 0, sourceLocation: sourceLocation)
    let good = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
    #expect(good.status == 200, sourceLocation: sourceLocation)
  }

  @Test func `an endless chunk size ends the connection`() async throws {
    try await Self.expectEnd(after: "", of: "0", code: "malformed-body")
  }

  @Test func `an endless chunk extension ends the connection`() async throws {
    try await Self.expectEnd(after: "1;", of: "x", code: "malformed-body")
  }

  @Test func `endless trailers end the connection`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\n", of: "X: y\r\n", code: "head-too-large")
  }

  @Test func `one endless trailer ends the connection`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\n", of: "x:", code: "head-too-large")
  }

  @Test func `an endlessly continued trailer ends the connection`() async throws {
    try await Self.expectEnd(after: "1\r\nx\r\n0\r\nX: y\r\n", of: " z\r\n", code: "head-too-large")
  }

  /// The receiver reads no further request while a response can't be sent.
  @Test func `a client that pipelines requests and never reads is cut off`() async throws {
    let server = try TestServer { $0.limits.responseTime = .milliseconds(200) }
    _ = try await onNewThread {
      try server.client().sendUntilClosed(
        String(repeating: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 1000))
    }
    #expect(try await server.response(to: "GET / HTTP/1.0\r\n\r\n").status == 200)
  }
}
