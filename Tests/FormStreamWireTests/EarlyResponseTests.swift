import FormStreamMultipart
import FormStreamWire
import Testing

/// Responses that begin before the request is complete. What had left is counted when the first byte of the final head arrives, or over a
/// new connection the last piece of it, and not when its event is asked for.
@Suite struct EarlyResponseTests {
  private let interim = "HTTP/1.1 100 Continue\r\n\r\n"
  private let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
  private let final = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  /// A server that refuses may send both heads at once. The exchange took the response for one to the body that left between both
  /// events.
  @Test func `a final response that came with an interim one is no response to what left after both came`() throws {
    for heads in [interim + final, interim + hint + final, interim + "HTTP/1.1 200"] {
      var exchange = try ClientExchange.begun(.length(3), isKept: true)
      var isFirst = true
      try exchange.read(heads) { exchange, _ in
        if isFirst { exchange.accepted((try? exchange.write("abc")) ?? 0) }
        isFirst = false
      }
      if heads.hasSuffix("200") { try exchange.read(" OK\r\nContent-Length: 0\r\n\r\n") }
      #expect(exchange.bodySentAtResponse == 0)
      #expect(exchange.isResponseToCompleteRequest == false)
      #expect(exchange.closingReason == .earlyResponse)
      #expect(exchange.stage == .sent)
    }
  }

  @Test func `bytes that left after each event don't count for a head that was there before`() throws {
    var exchange = try ClientExchange.begun(.length(9))
    try exchange.read(interim + hint + hint + final) { exchange, event in
      if case .interim = event { exchange.accepted((try? exchange.write("abc")) ?? 0) }
    }
    #expect(exchange.bodySent == 9)
    #expect(exchange.bodySentAtResponse == 0)
  }

  @Test func `bytes that left before the next piece count`() throws {
    for size in 1..<final.count {
      var exchange = try ClientExchange.begun(.length(3))
      try exchange.read(interim)
      exchange.accepted(try exchange.write("abc"))
      try exchange.read(String(final.prefix(size)))
      try exchange.read(String(final.dropFirst(size)))
      #expect(exchange.bodySentAtResponse == 3)
      #expect(exchange.isResponseToCompleteRequest == true)
      #expect(exchange.closingReason == nil)
    }
  }

  /// A gateway may pass a request on as soon as it sees the `0`. The same 502 said both that and that nothing was carried out.
  @Test func `a refusal after the first byte of the last chunk may mean that the request was carried out`() throws {
    for (left, stage) in [
      (0, RequestStage.notSent), (3, .notSent), (4, .partlySent), (8, .partlySent), (9, .sent), (12, .sent),
    ] {
      var exchange = try ClientExchange.begun(.chunked, isKept: true)
      let size = try exchange.write("abc") + exchange.writeEnd()
      #expect(size == 13)
      exchange.accepted(left)
      try exchange.read("HTTP/1.1 502 Bad")
      #expect(exchange.stageAtResponse == nil)
      exchange.accepted(size - left)
      try exchange.read("\r\nContent-Length: 0\r\n\r\n")
      #expect(exchange.stageAtResponse == stage)
      #expect(exchange.isResponseToCompleteRequest == false)
      #expect(exchange.stage == .sent)
    }
  }

  @Test func `a response begins with the first byte of any head`() throws {
    var exchange = try ClientExchange.begun()
    for _ in 0..<2 {
      #expect(exchange.hasResponseBegun == false)
      try exchange.read("H")
      #expect(exchange.hasResponseBegun == true)
      try exchange.read("TTP/1.1 103 Hint\r\n\r\n")
      #expect(exchange.hasResponseBegun == true)
      #expect(exchange.hasContinued == false)
      try exchange.read("HTTP/1.1 204 None\r\n\r\n")
      #expect(exchange.hasResponseBegun == true)
      try exchange.beginAndSend()
    }
  }

  private static func expecting(_ size: Int64 = 3) throws -> ClientExchange {
    try .begun(.length(size), headers: ["Host": "h", "expect": "100-continue"])
  }

  @Test func `only 100 asks for the body`() throws {
    var exchange = try Self.expecting()
    try exchange.read(hint)
    #expect(exchange.hasContinued == false)
    try exchange.read(interim)
    #expect(exchange.hasContinued == true)
    exchange.accepted(try exchange.write("abc"))
    try exchange.read(final)
    #expect(exchange.closingReason == nil)
    try exchange.beginAndSend()
    #expect(exchange.hasContinued == false)
  }

  /// The time for 100 has passed, and the body left. A server that refuses the head may read the body as the next request.
  @Test(
    arguments: [(200, nil), (204, nil), (302, .notContinued), (417, .notContinued), (500, .notContinued)]
      as [(Int, ClosingReason?)])
  func `a connection whose server never asked for the body is used again only after a success`(
    status: Int, reason: ClosingReason?
  ) throws {
    var exchange = try Self.expecting()
    exchange.accepted(try exchange.write("abc"))
    try exchange.read("HTTP/1.1 \(status) \r\nContent-Length: 0\r\n\r\n")
    #expect(exchange.isResponseToCompleteRequest == true)
    #expect(exchange.closingReason == reason)
  }

  @Test func `a final response while 100 was awaited ends the use of the connection`() throws {
    var exchange = try Self.expecting()
    try exchange.read(final)
    #expect(exchange.closingReason == .earlyResponse)
    #expect(exchange.stageAtResponse == .notSent)
  }
}
