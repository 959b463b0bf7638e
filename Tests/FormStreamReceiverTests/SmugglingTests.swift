import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Requests that two servers read differently. None may contain a second request.
@Suite struct SmugglingTests {
  private static let smuggled =
    "POST /smuggled HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"

  /// Exactly one response is sent, the connection ends, and what follows is not read as a request.
  private static func expectRefusal(
    of request: String, with statuses: Set<Int> = [400], isReported: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let server = try TestServer()
    // Regression: responses of libmicrohttpd itself had their head twice, the second one as the body.
    let responses = try await server.responses(to: request + smuggled)
    #expect(
      responses.map { statuses.contains($0.status) } == [true], "\(responses)",
      sourceLocation: sourceLocation)
    #expect(responses.first?.closes == true, "\(responses)", sourceLocation: sourceLocation)
    #expect(await eventually { server.handler.openUploads == 0 }, sourceLocation: sourceLocation)
    #expect(server.handler.targets == [], sourceLocation: sourceLocation)
    await server.receiver.stop(grace: .zero)
    #expect(
      !server.reportedRequests.contains { $0.target == "/smuggled" }, sourceLocation: sourceLocation
    )
    guard isReported else { return #expect(server.reportedRequests.count <= 1) }
    #expect(server.reportedRequests.count == 1, sourceLocation: sourceLocation)
    #expect(
      server.reportedRequests.first.map { "\(responses.map(\.text))".contains($0.time) } == true,
      "the log has what the client has", sourceLocation: sourceLocation)
  }

  @Test(arguments: [
    "Content-Length: 3\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Content-Length: 3\r\nContent-Length: 3", "Content-Length: 3\r\nContent-Length: 30",
    "Content-Length: 3\r\ncontent-length: 0", "Content-Length: +3", "Content-Length: -1",
    "Content-Length: 0x10", "Content-Length: 3,3", "Content-Length: 3 3", "Content-Length: ",
    "Content-Length:", "Content-Length: 3;", "Content-Length: 3.0", "Content-Length: ٣",
    "Content-Length: 0000000000000000003", "Content-Length: 9223372036854775808",
    "Content-Length: 3 ", "Content-Length: 3\t", "Content-Length: 3\u{B}",
    "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked, gzip",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked, chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: chun\u{212A}ed", "Transfer-Encoding: \"chunked\"",
    "Transfer-Encoding: chunked;q=1",
    "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding: chunked\u{B}",
    "Transfer-Encoding: chunked\t", "Transfer-Encoding: chunked ", "Transfer-Encoding:",
    "Transfer-Encoding: chunked\rX: y",
    "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Content-Length : 3",
    " Content-Length: 3", "Content-Length\u{0}: 3", "Content-Length\u{B}: 3",
    "Content-Length: 3\r\nX Y: 1", "Content-Length: 3\r\n: 1", "Content-Length: 3\r\nX",
    "Content-Length: 3\r\nX(: 1", "Content-Length: 3\r\nHost: h", "Content-Length: 3\r\nHost: i",
    "Content-Length: 3\r\nContent-Type: text/plain\r\nContent-Type: text/plain",
    "Content-Length: 3\r\nContent-Type: a/b\r\ncontent-type: multipart/form-data; boundary=B",
    "Content-Length: 3\r\nContent-Type: a/b\r\nContent-Type:",
    "Content-Length: 3\r\nX: a\rb", "Content-Length: 3\r\nX: a\u{1}b",
    "Content-Length: 3\r\nX: a\u{7F}b",
  ])
  func `a head that can be read in two ways is refused`(_ headers: String) async throws {
    try await Self.expectRefusal(
      of: "POST / HTTP/1.1\r\nHost: h\r\n\(headers)\r\n\r\n", with: [400])
  }

  @Test(arguments: [
    "9999999999999999999", String(repeating: "9", count: 40), "18446744073709551616",
  ])
  func `a length that exceeds 64 bits is refused`(_ length: String) async throws {
    try await Self.expectRefusal(
      of: "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n", with: [400, 413])
  }

  @Test(arguments: [
    "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
    "POST / HTTP/1.1\r\nHost:\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: \r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a b\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a, b\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a/b\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: u@b\r\nContent-Length: 3\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    "POST h:80 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "POST * HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "PUT a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "PO(ST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "POST /a b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "PUT /a\tb HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "PUT /a\u{7F} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "GET /a HTTP/1.1 HTTP/1.1\r\nHost: h\r\n\r\n",
    "PUT \u{301}/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
  ])
  func `a malformed request is refused`(_ request: String) async throws {
    try await Self.expectRefusal(of: request, with: [400])
  }

  /// RFC 9112 §3: nothing stands between the version and the line's end. libmicrohttpd takes the blank for a part of the
  /// version, and refuses the line before it reports a request: there is a response, and no record.
  @Test(arguments: [" ", "\t", "  "])
  func `white space after the version is refused`(_ end: String) async throws {
    try await Self.expectRefusal(
      of: "POST / HTTP/1.1\(end)\r\nHost: h\r\nContent-Length: 3\r\n\r\n", isReported: false)
  }

  @Test(arguments: [
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/0.9\r\n\r\n",
    "POST / HTTP/1.2\r\nHost: h\r\n\r\n",
    "POST / HTTP/2.0\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/9.9\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
  ])
  func `another version of HTTP is refused`(_ request: String) async throws {
    // libmicrohttpd refuses most of them before it reports a request.
    try await Self.expectRefusal(of: request, with: [505], isReported: false)
  }

  /// libmicrohttpd closes these connections itself, some without a response.
  @Test(arguments: [
    "GET /\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\r\n\r\n",
    "POST / HTTP/1.1\r\nHost\r\n\r\n", "GET  / \r\n", "  \r\n",
    "POST / HTTP/1.1x\r\nHost: h\r\n\r\n",
    "POST / HTTP/11\r\n\r\n", "POST / http/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
  ])
  func `bytes that are not HTTP reach no handler`(_ request: String) async throws {
    let server = try TestServer()
    let responses = try await server.responses(to: request + Self.smuggled)
    #expect(responses.count <= 1, "\(responses)")
    #expect(responses.allSatisfy { $0.status == 400 && $0.closes }, "\(responses)")
    #expect(server.handler.targets == [])
  }

  /// Lines that end in LF alone, and headers that continue on the next line. libmicrohttpd does not report these; the
  /// addresses of the headers reveal them.
  @Test(arguments: [
    "POST / HTTP/1.1\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\n",
    "POST / HTTP/1.1\nHost: h\nContent-Length: 3\n\n",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX: a\r\n\tTransfer-Encoding: chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n 0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nX: a\r\n \r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX: a\u{0}b\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\u{0}0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\u{0}x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\u{0}i\r\nContent-Length: 3\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nX\u{0}: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\u{0}X: a\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\u{0}\r\n\r\n",
    "POST  / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
    "POST /\u{0}b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
  ])
  func `a head with hidden lines is refused`(_ request: String) async throws {
    try await Self.expectRefusal(of: request, with: [400])
  }

  /// libmicrohttpd does not show how chunks were framed: not a line that ends in LF alone, nor what an extension or a
  /// trailer holds. Another server may see the end of the body elsewhere, and read the rest as a second request.
  @Test(arguments: [
    "3\r\nabc\r\n0\r\n\r\n", "3\nabc\n0\n\n", "3\r\nabc\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n",
    "3\r\nabc\r\n0\n\r\n", "3\r\nabc\r\n0\r\n\n", "3;x\nabc\r\n0\r\n\r\n",
    "3;\r\nabc\r\n0;\r\n\r\n", "3;x=\"\r\nabc\r\n0\r\n\r\n", "3;x=\"\n\"\r\nabc\r\n0\r\n\r\n",
    "3;\u{0}\r\nabc\r\n0\r\n\r\n", "3;\u{B}x\r\nabc\r\n0\r\n\r\n", "3;\rx\r\nabc\r\n0\r\n\r\n",
    "3; 30\r\nabc\r\n0\r\n\r\n", "003\r\nabc\r\n000\r\n\r\n",
    "3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n", "3\r\nabc\r\n0\r\nX: a\nY: b\r\n\r\n",
    "3\r\nabc\r\n0\r\nX: a\r\n b\r\n\r\n", "3\r\nabc\r\n0\r\nX: \u{0}\r\n\r\n",
    "3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
  ])
  func `after a chunked request no other is read on its connection`(_ chunks: String) async throws {
    for target in ["/a", "/refused"] {
      let server = try TestServer(
        InMemoryHandler { call, request in
          if call == .end, request.target == "/refused" { throw TestError(1) }
        })
      let responses = try await server.responses(
        to: "POST \(target) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
          + Self.smuggled)
      #expect(responses.count <= 1, "\(responses)")
      #expect(responses.allSatisfy { $0.closes }, "\(responses)")
      #expect(server.handler.targets == [target])
      #expect(try await server.reportedRequests(1).map(\.target) == [target])
    }
  }

  @Test(arguments: ["X:a", "X:   a", "X:\ta", "X: a ", "X: \u{E4}", "X:", "X-Y.z_1~: a\tb"])
  func `an unusual but correct head is accepted`(_ line: String) async throws {
    let server = try TestServer()
    let responses = try await server.responses(
      to: "\r\nPOST /a?b HTTP/1.1\r\n\(line)\r\nHost:[::1]:8\r\n\(line)\r\n"
        + "Connection:close\r\nContent-Length:3\r\n\r\nabc")
    #expect(responses.map(\.status) == [200], "\(responses)")
    #expect(server.handler.targets == ["/a?b"])
  }

  @Test func `trailers are read and ignored`() async throws {
    let server = try TestServer()
    let responses = try await server.responses(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "3;name=value;x=\"y\"\r\nabc\r\n0;last\r\nContent-Length: 5\r\nX: y\r\n\r\n")
    #expect(responses.map(\.status) == [200])
    #expect(server.handler.parts.map(\.bytes) == [Array("abc".utf8)])
    #expect(server.reportedRequests.map(\.framing) == [.chunked])
  }

  @Test func `pipelined requests get their responses in order`() async throws {
    let server = try TestServer()
    var text = ""
    for number in 0..<50 {
      text +=
        "\(number % 2 == 0 ? "POST" : "PUT") /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: \(number)\r\n\r\n"
        + String(repeating: "x", count: number)
    }
    text += "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    let responses = try await server.responses(to: text)
    #expect(responses.map(\.status) == [Int](repeating: 200, count: 51))
    let targets = (0..<50).map { "/\($0)" }
    #expect(server.reportedRequests.map(\.target) == targets)
    #expect(server.reportedRequests.map(\.bodyBytes) == (0..<50).map(Int64.init))
    #expect(!server.reportedRequests.contains { !$0.isComplete })
  }
}
