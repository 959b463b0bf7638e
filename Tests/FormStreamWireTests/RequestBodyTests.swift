import FormStreamMultipart
import FormStreamWire
import Testing

@Suite struct RequestBodyTests {
  /// A begun request, without its head in the output.
  private func begun(_ framing: RequestHead.Framing) throws -> ClientExchange {
    var exchange = ClientExchange()
    var head: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: framing), to: &head)
    exchange.accepted(head.count)
    return exchange
  }

  private func append(
    _ text: String, to exchange: inout ClientExchange, _ output: inout [UInt8]
  ) throws {
    try Array(text.utf8).withUnsafeBytes { try exchange.append($0, to: &output) }
  }

  @Test func `a body of known length has no framing`() throws {
    var exchange = try begun(.length(8))
    var output: [UInt8] = []
    try append("hi ", to: &exchange, &output)
    try append("there", to: &exchange, &output)
    try exchange.endBody(to: &output)
    #expect(output == Array("hi there".utf8))
  }

  @Test func `chunks have their size in hexadecimal digits, and CRLF at both ends`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    try append("hi", to: &exchange, &output)
    try append(String(repeating: "x", count: 26), to: &exchange, &output)
    try exchange.endBody(to: &output)
    #expect(output == Array("2\r\nhi\r\n1a\r\nxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n".utf8))
  }

  @Test(arguments: [
    (1, "1"), (15, "f"), (16, "10"), (255, "ff"), (256, "100"), (262_144, "40000"),
    (Int.max, "7fffffffffffffff"),
  ])
  func `a size has as many digits as it needs`(count: Int, digits: String) throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    let end = try exchange.beginBytes(count, to: &output)
    #expect(output == Array("\(digits)\r\n".utf8))
    #expect("\(end)" == "\r\n")
  }

  /// A chunk without bytes would end the body.
  @Test func `no bytes make no chunk`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    try append("", to: &exchange, &output)
    #expect("\(try exchange.beginBytes(0, to: &output))" == "")
    #expect(output == [])
    #expect(exchange.isRequestComplete == false)
  }

  @Test func `a chunked body may be empty`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    try exchange.endBody(to: &output)
    #expect(output == Array("0\r\n\r\n".utf8))
  }

  @Test func `trailers stand after the last chunk`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    try append("hi", to: &exchange, &output)
    try exchange.endBody(trailers: ["Digest": "x", "b": ""], to: &output)
    #expect(output == Array("2\r\nhi\r\n0\r\nDigest: x\r\nb:\r\n\r\n".utf8))
  }

  @Test func `trailers that can't be written leave the body open`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    var trailers: HTTPHeaders = ["A": "1"]
    trailers.append("B", bytes: [0x0A])
    #expect(throws: RequestFlaw.headerValue("B")) {
      try exchange.endBody(trailers: trailers, to: &output)
    }
    #expect(output == [])
    try append("hi", to: &exchange, &output)
    #expect(output == Array("2\r\nhi\r\n".utf8))
  }

  /// RFC 9110 §6.5.1: no trailers for framing, routing, authentication and the like. A server that merges trailers into the headers
  /// would read the next request at another place.
  @Test(arguments: [
    "Content-Length", "transfer-encoding", "Host", "Trailer", "CONNECTION", "TE", "Upgrade", "Expect", "Content-Encoding",
    "Content-Type", "Content-Range", "Authorization", "Proxy-Authorization", "Cookie",
  ])
  func `trailers that change how a request is read are refused`(name: String) throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    let error = #expect(throws: RequestFlaw.self) { try exchange.endBody(trailers: ["A": "1", name: "7"], to: &output) }
    #expect(error.map { "\($0)".lowercased().contains(name.lowercased()) } == true)
    #expect(output == [])
    try exchange.endBody(trailers: ["A": "1", "Repr-Digest": "x"], to: &output)
    #expect(output == Array("0\r\nA: 1\r\nRepr-Digest: x\r\n\r\n".utf8))
  }

  @Test func `a body has exactly its length`() throws {
    var output: [UInt8] = []
    var long = try begun(.length(3))
    try append("ab", to: &long, &output)
    #expect(throws: RequestFlaw.bodyTooLong(by: 1)) { try append("cd", to: &long, &output) }
    #expect(throws: RequestFlaw.bodyTooShort(by: 1)) { try long.endBody(to: &output) }
    try append("c", to: &long, &output)
    #expect(throws: RequestFlaw.bodyTooLong(by: 1)) { try append("d", to: &long, &output) }
    #expect(throws: RequestFlaw.trailersWithoutChunks) {
      try long.endBody(trailers: ["A": "b"], to: &output)
    }
    try long.endBody(to: &output)
    #expect(output == Array("abc".utf8))
  }

  @Test(arguments: [RequestHead.Framing.none, .length(0)])
  func `a request without a body takes no byte`(framing: RequestHead.Framing) throws {
    var exchange = try begun(framing)
    var output: [UInt8] = []
    #expect(throws: RequestFlaw.bodyTooLong(by: 1)) { try append("x", to: &exchange, &output) }
    try exchange.endBody(to: &output)
    #expect(output == [])
    #expect(exchange.isRequestComplete == true)
  }

  @Test func `nothing follows the end of a chunked body`() throws {
    var exchange = try begun(.chunked)
    var output: [UInt8] = []
    try exchange.endBody(to: &output)
    try exchange.endBody(to: &output)
    #expect(throws: RequestFlaw.bodyTooLong(by: 2)) { try append("hi", to: &exchange, &output) }
    #expect(output == Array("0\r\n\r\n".utf8))
  }

  @Test func `lengths up to 2^63 - 1 are counted without overflow`() throws {
    var exchange = try begun(.length(.max))
    var output: [UInt8] = []
    _ = try exchange.beginBytes(.max - 1, to: &output)
    #expect(throws: RequestFlaw.bodyTooLong(by: .max - 1)) {
      try exchange.beginBytes(.max, to: &output)
    }
    exchange.accepted(.max - 1)
    #expect(exchange.bodySent == .max - 1)
    #expect(exchange.stage == .partlySent)
    _ = try exchange.beginBytes(1, to: &output)
    exchange.accepted(1)
    #expect(exchange.bodySent == .max)
    #expect(exchange.stage == .sent)
  }
}
