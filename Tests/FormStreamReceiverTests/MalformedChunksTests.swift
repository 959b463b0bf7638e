import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Bodies whose chunks libmicrohttpd can't read. It refuses them itself.
@Suite struct MalformedChunksTests {
  private static let head =
    "POST /first HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
  private static let smuggled =
    "POST /smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"

  /// Regression: the client got a page of libmicrohttpd, or a reset if it was sending, and the record said that there was
  /// no response.
  @Test(
    arguments: [
      ("FFFFFFFFFFFFFFFFF\r\n", 413), ("10000000000000000\r\n", 413), ("-1\r\nx\r\n0\r\n\r\n", 400),
      ("0x3\r\nabc\r\n0\r\n\r\n", 400), ("+3\r\nabc\r\n0\r\n\r\n", 400),
      (" 3\r\nabc\r\n0\r\n\r\n", 400), ("3 \r\nabc\r\n0\r\n\r\n", 400), ("g\r\n", 400),
      (";\r\n", 400), ("\r\n", 400), ("3\r\nabcd\r\n0\r\n\r\n", 400), ("3\r\nabc0\r\n\r\n", 400),
      ("3\r\nabc\r0\r\n\r\n", 400), ("3\rabc\r\n0\r\n\r\n", 400), ("3_0\r\nabc\r\n", 400),
      // A trailer without a colon.
      ("0\r\nbroken\r\n\r\n", 400),
    ] as [(String, Int)])
  func `malformed chunks are refused with a record`(_ chunks: String, _ status: Int) async throws {
    try await Self.expectRefusal(of: chunks + Self.smuggled, with: status)
  }

  /// They take more memory than a connection has.
  @Test(arguments: [("3;", 400), ("0\r\nX: ", 431), ("0\r\nX: y\r\n ", 431)])
  func `endless lines between chunks are refused with a record`(_ start: String, _ status: Int)
    async throws
  {
    try await Self.expectRefusal(of: start + String(repeating: "x", count: 600_000), with: status)
  }

  private static func expectRefusal(
    of chunks: String, with status: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let server = try TestServer()
    let responses = try await server.responses(to: head + chunks)
    #expect(
      responses.map(\.status) == [status], "\(responses.map(\.text))",
      sourceLocation: sourceLocation)
    #expect(responses.first?.closes == true, sourceLocation: sourceLocation)
    let reported = try await server.reportedRequests(1)
    #expect(reported.map(\.target) == ["/first"], sourceLocation: sourceLocation)
    #expect(reported.map(\.status) == [status], sourceLocation: sourceLocation)
    #expect(
      reported.map(\.json) == responses.map(\.text), "the log has what the client has",
      sourceLocation: sourceLocation)
    let codes = [400: "malformed-body", 413: "body-too-large", 431: "head-too-large"]
    #expect(reported.first?.error?.code == codes[status], sourceLocation: sourceLocation)
    #expect(server.handler.targets == ["/first"], sourceLocation: sourceLocation)
    #expect(server.handler.openUploads == 0, sourceLocation: sourceLocation)
  }

  /// Only libmicrohttpd can send its response then.
  @Test func `under TLS, the record of malformed chunks has the status of the response`()
    async throws
  {
    let server = try TestServer { $0.tls = try? .forTests() }
    let place = try TemporaryDirectory()
    try place.write("request", Self.head + "3\r\nabc\r\ng\r\n")
    let address = "127.0.0.1:\(server.receiver.port)"
    let result = try await onNewThread {
      try run(
        program: "/bin/bash", ["-c", "openssl s_client -quiet -connect \(address) < request"],
        in: place)
    }
    #expect(result.output.hasPrefix("HTTP/1.1 400 "), "\(result.output) \(result.stderr)")
    let reported = try await server.reportedRequests(1)
    #expect(reported.map(\.status) == [400])
    #expect(reported.first?.json.contains("\"status\":400}") == true)
    #expect(reported.map(\.error?.code) == ["malformed-body"])
    #expect(reported.map(\.bodyBytes) == [3])
  }
}
