import FormStreamMultipart
import FormStreamWire
import Testing

/// Bodies that can't be sent to their end, and requests whose response can't be read.
@Suite struct AbandonedBodyTests {
  private let empty = "HTTP/1.1 204 None\r\n\r\n"

  private func expectNothingMore(_ flaw: RequestFlaw, of exchange: inout ClientExchange) {
    #expect(throws: flaw) { try exchange.write("x") }
    #expect(throws: flaw) { try exchange.write("") }
    #expect(throws: flaw) { try exchange.writeEnd() }
  }

  /// A source that fails must not give a body a valid end.
  @Test(arguments: [RequestHead.Framing.chunked, .length(9)])
  func `an abandoned body can't be continued or ended`(framing: RequestHead.Framing) throws {
    var exchange = try ClientExchange.begun(framing)
    exchange.accepted(try exchange.write("abc"))
    exchange.abandonBody()
    expectNothingMore(.bodyAbandoned, of: &exchange)
    #expect(exchange.stage == .partlySent)
    #expect(exchange.isRequestComplete == false)
    try exchange.read(empty)
    #expect(exchange.closingReason == .abandoned)
    #expect(exchange.stageAtResponse == .partlySent)
    #expect(throws: RequestFlaw.connectionUsed) { try exchange.beginAndSend() }
  }

  /// The last bytes were announced, and the source could not give them.
  @Test func `a body whose last bytes were announced is complete only if they left`() throws {
    var exchange = try ClientExchange.begun(.length(3))
    try exchange.write("abc")
    exchange.accepted(2)
    exchange.abandonBody()
    expectNothingMore(.bodyAbandoned, of: &exchange)
    #expect(exchange.stage == .partlySent)
    exchange.accepted(1)
    #expect(exchange.stage == .sent)
    try exchange.read(empty)
    #expect(exchange.closingReason == .abandoned)
  }

  @Test func `a body that is abandoned before its first byte leaves nothing sent`() throws {
    var exchange = try ClientExchange.begun(.chunked)
    exchange.abandonBody()
    #expect(exchange.stage == .notSent)
    try exchange.read(empty)
    #expect(exchange.closingReason == .abandoned)
  }

  /// The end of the body would turn a request that may be sent again into a doubtful one.
  @Test func `nothing more of a request is written after its response couldn't be read`() throws {
    var exchange = try ClientExchange.begun(.chunked)
    exchange.accepted(try exchange.write("abc") - 1)
    #expect(throws: WireError.self) { try exchange.read("SSH-2.0") }
    expectNothingMore(.responseFailed, of: &exchange)
    #expect(throws: RequestFlaw.connectionUsed) { try exchange.beginAndSend() }
    #expect(exchange.stage == .partlySent)
    #expect(exchange.pendingBytes == 1)
    exchange.accepted(1)
    #expect(exchange.pendingBytes == 0)
    #expect(exchange.closingReason == .unfinished)
  }

  @Test func `the end of the input stops no request`() throws {
    var exchange = try ClientExchange.begun(.length(6))
    exchange.accepted(try exchange.write("abc"))
    try exchange.read(empty)
    #expect(try exchange.endInput(isOrderly: true) == nil)
    exchange.accepted(try exchange.write("def"))
    #expect(exchange.isRequestComplete == true)
    #expect(exchange.stageAtResponse == .partlySent)
    #expect(exchange.closingReason == .earlyResponse)
  }

  @Test func `the end of the input before a response leaves the stage as it is`() throws {
    var exchange = try ClientExchange.begun(.length(6))
    exchange.accepted(try exchange.write("abc"))
    #expect(throws: WireError.cutOff(.beforeResponse(afterInterim: false))) { try exchange.endInput(isOrderly: true) }
    #expect(exchange.stage == .partlySent)
    #expect(exchange.hasResponseBegun == false)
  }
}
