import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Heads that are too large are refused, and the receiver goes on working.
@Suite struct OversizedHeadTests {
  private static func expectRefusal(
    _ request: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let server = try TestServer()
    // libmicrohttpd closes with unread bytes, which may cost the client the response.
    let responses = (try? await server.responses(to: request, mayRepeatHead: true)) ?? []
    #expect(responses.count <= 1, sourceLocation: sourceLocation)
    #expect(
      !responses.contains { ![400, 414, 431].contains($0.status) || !$0.closes }, "\(responses)",
      sourceLocation: sourceLocation)
    #expect(server.handler.targets == [], sourceLocation: sourceLocation)
    let good = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
    #expect(good.status == 200, sourceLocation: sourceLocation)
  }

  @Test func `a header of a mebibyte is refused`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 1 << 20))\r\n\r\n")
  }

  @Test func `ten thousand headers are refused`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X: y\r\n", count: 10_000))\r\n")
  }

  @Test func `headers without a colon are refused`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "Xy\r\n", count: 10_000))\r\n")
  }

  @Test func `an endless request line is refused`() async throws {
    try await Self.expectRefusal("GET /\(String(repeating: "x", count: 1 << 20))")
  }

  @Test func `an endless method is refused`() async throws {
    try await Self.expectRefusal(String(repeating: "x", count: 1 << 20))
  }

  @Test func `an endless header line is refused`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 1 << 20))")
  }

  @Test func `an endless folded line is refused`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\(String(repeating: " x\r\n", count: 100_000))\r\n")
  }

  /// libmicrohttpd parses the query although it is not used; each argument takes memory.
  @Test(arguments: ["a&", "&", "a=b&", "%41=%&", ";"])
  func `a query of many arguments is refused`(_ part: String) async throws {
    try await Self.expectRefusal(
      "GET /?\(String(repeating: part, count: 40_000)) HTTP/1.1\r\nHost: h\r\n\r\n")
  }

  @Test func `many cookies are refused`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nCookie: \(String(repeating: "a=b; ", count: 20_000))\r\n\r\n")
  }

  @Test func `the limit is exact to the byte`() async throws {
    let server = try TestServer { $0.limits.head = 64 }
    // Method and target, and each header with four bytes for its separators.
    let fixed = "POST".count + "/".count + "Hosth".count + 4 + "Content-Length0".count + 4 + 1 + 4
    let fitting = String(repeating: "x", count: 64 - fixed)
    for (value, status) in [(fitting, 200), (fitting + "x", 431)] {
      let responses = try await server.responses(
        to: "POST / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\nContent-Length: 0\r\n\r\n"
          + "GET /x HTTP/1.0\r\n\r\n")
      #expect(responses.first?.status == status)
      #expect(responses.count == (status == 200 ? 2 : 1))
    }
    // Requests of different connections are reported in any order.
    #expect(
      await eventually { server.reportedRequests.contains { $0.error?.code == "head-too-large" } })
  }

  @Test func `two thousand large heads cost no lasting memory`() async throws {
    let server = try TestServer()
    let head = "POST / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n"
    _ = try await server.responses(to: head)
    let before = ProcessResources.now().residentKiB
    for _ in 0..<2000 { _ = try await server.responses(to: head) }
    // The connections' memory alone would be 500 MB. Other tests run at the same time, and take some, too.
    if sanitizer == nil { #expect(ProcessResources.now().residentKiB - before < 256 * 1024) }
  }
}
