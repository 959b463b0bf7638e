import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Heads that are too large: they are refused, and the receiver lives on.
@Suite struct OversizedHeadTests {
  private static func expectRefusal(
    _ request: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let stand = try Stand()
    // libmicrohttpd closes on what is unread, which may cost the client the answer.
    let answers = (try? await stand.answers(to: request, repeatsHead: true)) ?? []
    #expect(answers.count <= 1, sourceLocation: sourceLocation)
    #expect(
      !answers.contains { ![400, 414, 431].contains($0.status) || !$0.closes }, "\(answers)",
      sourceLocation: sourceLocation)
    #expect(stand.handler.targets == [], sourceLocation: sourceLocation)
    let good = try await stand.answer(
      to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
    #expect(good.status == 200, sourceLocation: sourceLocation)
  }

  @Test func `a header of a mebibyte`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 1 << 20))\r\n\r\n")
  }

  @Test func `ten thousand headers`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X: y\r\n", count: 10_000))\r\n")
  }

  @Test func `headers without a colon`() async throws {
    try await Self.expectRefusal(
      "POST / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "Xy\r\n", count: 10_000))\r\n")
  }

  @Test func `a request line that does not end`() async throws {
    try await Self.expectRefusal("GET /\(String(repeating: "x", count: 1 << 20))")
  }

  @Test func `a method that does not end`() async throws {
    try await Self.expectRefusal(String(repeating: "x", count: 1 << 20))
  }

  @Test func `a header line that does not end`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 1 << 20))")
  }

  @Test func `a folded line that does not end`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\(String(repeating: " x\r\n", count: 100_000))\r\n")
  }

  /// libmicrohttpd takes a query apart, though nobody asks for it; each part takes memory.
  @Test(arguments: ["a&", "&", "a=b&", "%41=%&", ";"])
  func `a query of many parts`(_ part: String) async throws {
    try await Self.expectRefusal(
      "GET /?\(String(repeating: part, count: 40_000)) HTTP/1.1\r\nHost: h\r\n\r\n")
  }

  @Test func `cookies in number`() async throws {
    try await Self.expectRefusal(
      "GET / HTTP/1.1\r\nHost: h\r\nCookie: \(String(repeating: "a=b; ", count: 20_000))\r\n\r\n")
  }

  @Test func `the limit is counted to the byte`() async throws {
    let stand = try Stand { $0.limits.head = 64 }
    // Method, target, and each header with four more.
    let fixed = "POST".count + "/".count + "Hosth".count + 4 + "Content-Length0".count + 4 + 1 + 4
    let fitting = String(repeating: "x", count: 64 - fixed)
    for (value, status) in [(fitting, 200), (fitting + "x", 431)] {
      let answers = try await stand.answers(
        to: "POST / HTTP/1.1\r\nHost: h\r\nX: \(value)\r\nContent-Length: 0\r\n\r\n"
          + "GET /x HTTP/1.0\r\n\r\n")
      #expect(answers.first?.status == status)
      #expect(answers.count == (status == 200 ? 2 : 1))
    }
    #expect(try await stand.told(2).last?.error?.code == "head-too-large")
  }

  @Test func `many of them cost no memory that stays`() async throws {
    let stand = try Stand()
    let head = "POST / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n"
    _ = try await stand.answers(to: head)
    let before = ProcessResources.now().residentKiB
    for _ in 0..<500 { _ = try await stand.answers(to: head) }
    // The memory of the connections alone would be 125 MB. Other tests run beside this one.
    if sanitizer == nil { #expect(ProcessResources.now().residentKiB - before < 64 * 1024) }
  }
}
