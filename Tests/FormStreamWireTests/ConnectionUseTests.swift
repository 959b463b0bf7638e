import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire
import Testing

/// When a connection can be used for another request, and what an exchange says at each place where a response can end.
@Suite struct ConnectionUseTests {
  private func receive(_ text: String, _ exchange: inout ClientExchange) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in
      var input = bytes
      while try exchange.receive(&input) != nil {}
    }
  }

  private func begin(
    _ exchange: inout ClientExchange, framing: RequestHead.Framing = .none, headers: HTTPHeaders = ["Host": "h"],
    accepting isAccepted: Bool = true
  ) throws {
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "POST", target: "/", headers: headers, framing: framing), to: &output)
    if isAccepted { exchange.accepted(output.count) }
  }

  private let empty = "HTTP/1.1 204 No Content\r\n\r\n"

  @Test func `one exchange serves one request after another`() throws {
    var exchange = ClientExchange()
    for size in [3, 0, 70_000, 2] {
      try begin(&exchange)
      #expect(exchange.framing == nil)
      #expect(exchange.bodyReceived == 0)
      #expect(exchange.closingReason == .unfinished)
      let body = String(repeating: "x", count: size)
      try receive("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=\(size)\r\nContent-Length: \(size)\r\n\r\n" + body, &exchange)
      #expect(exchange.framing == .length(Int64(size)))
      #expect(exchange.bodyReceived == Int64(size))
      #expect(exchange.idleSeconds == Int64(size))
      #expect(exchange.closingReason == nil)
    }
  }

  @Test func `a head stays as it is while the exchange reads others`() throws {
    var exchange = ClientExchange()
    var heads: [ResponseHead] = []
    for name in ["One", "Two"] {
      try begin(&exchange)
      try Array("HTTP/1.1 103 Hint\r\nX: \(name)0\r\n\r\nHTTP/1.1 204 None\r\nX: \(name)\r\n\r\n".utf8).withUnsafeBytes {
        var input = $0
        while let event = try exchange.receive(&input) {
          if case .interim(let head) = event { heads.append(head) }
          if case .response(let head) = event { heads.append(head) }
        }
      }
    }
    #expect(heads.map { $0.headers["X"] } == ["One0", "One", "Two0", "Two"])
    #expect(heads.map(\.status) == [103, 204, 103, 204])
  }

  @Test func `a request that asks to close the connection is the last`() throws {
    var exchange = ClientExchange()
    try begin(&exchange, headers: ["connection": "foo, Close"])
    try receive(empty, &exchange)
    #expect(exchange.closingReason == .requested)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
  }

  @Test func `a request can't begin before the response to the last one ended`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
    try receive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh", &exchange)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
    try receive("i", &exchange)
    try begin(&exchange)
  }

  @Test func `bytes after a response make its connection useless`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    try receive(empty, &exchange)
    #expect(exchange.closingReason == nil)
    try receive("x", &exchange)
    #expect(exchange.closingReason == .surplus)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&exchange) }
  }

  @Test func `the end of the connection after a response makes it useless`() throws {
    var exchange = ClientExchange()
    try begin(&exchange)
    try receive(empty, &exchange)
    #expect(try exchange.endInput() == nil)
    #expect(exchange.closingReason == .ended)
    var unused = ClientExchange()
    #expect(try unused.endInput() == nil)
    #expect(throws: RequestFlaw.connectionUsed) { try begin(&unused) }
  }

  @Test func `bytes before the request are no response to it`() throws {
    var unused = ClientExchange()
    #expect(throws: WireError.unasked) { try receive(empty, &unused) }
    var begun = ClientExchange()
    try begin(&begun, accepting: false)
    #expect(throws: WireError.unasked) { try receive(empty, &begun) }
    #expect(begun.stage == .notSent)
    #expect(throws: WireError.unasked) { try receive("", &begun) }
  }

  @Test func `a response before the end of the request leaves the rest of the request on the connection`() throws {
    for sent in 0...3 {
      var exchange = ClientExchange()
      try begin(&exchange, framing: .length(3))
      var output: [UInt8] = []
      _ = try exchange.beginBytes(3, to: &output)
      exchange.accepted(sent)
      try receive("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", &exchange)
      #expect(exchange.bodySentAtResponse == Int64(sent))
      #expect(exchange.isResponseToCompleteRequest == (sent == 3))
      exchange.accepted(3 - sent)
      #expect(exchange.closingReason == (sent == 3 ? nil : .earlyResponse))
      #expect(exchange.bodySentAtResponse == Int64(sent))
    }
  }

  @Test func `the first byte of the final head decides what had left, and not an interim head`() throws {
    var exchange = ClientExchange()
    try begin(&exchange, framing: .length(3))
    var output: [UInt8] = []
    try receive("HTTP/1.1 100 Continue\r\n\r\n", &exchange)
    #expect(exchange.bodySentAtResponse == nil)
    #expect(!exchange.isResponseToCompleteRequest)
    _ = try exchange.beginBytes(3, to: &output)
    exchange.accepted(1)
    try receive("H", &exchange)
    exchange.accepted(2)
    try receive("TTP/1.1 204 Done\r\n\r\n", &exchange)
    #expect(exchange.bodySentAtResponse == 1)
    #expect(exchange.closingReason == .earlyResponse)
  }

  /// Each prefix of a response, and what is said of it if the connection ends there.
  @Test func `a cut is named for the place where it is`() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let response = Array(("HTTP/1.1 100 \r\n\r\n" + head + "2\r\nhi\r\n0\r\nA: b\r\n\r\n").utf8)
    for size in 0..<response.count {
      let cut = try ExchangeRun(Array(response.prefix(size)), ending: .broken).error
      let expected: WireError.Place =
        switch size {
        case 0: .beforeResponse(afterInterim: false)
        case 1..<17: .head
        case 17: .beforeResponse(afterInterim: true)
        case 18..<(17 + head.utf8.count): .head
        case ..<(20 + head.utf8.count + 1): .chunks(received: 0)
        case 20 + head.utf8.count + 1: .chunks(received: 1)
        case ..<(response.count - 8): .chunks(received: 2)
        default: .trailers
        }
      #expect(cut == .cutOff(expected), "\(size) bytes")
    }
    #expect(try ExchangeRun(response, ending: .broken).isComplete)
  }

  @Test func `a cut in a body of known length says how much of it came`() throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
    for size in 0..<3 {
      let run = try ExchangeRun(head + String(repeating: "x", count: size))
      #expect(run.error == .cutOff(.body(received: Int64(size), of: 3)))
      #expect(run.closingReason == .unfinished)
    }
    #expect(try ExchangeRun(head + "xxx").isComplete)
  }
}
