import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire
import Testing

@Suite struct InterimTests {
  private let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
  private let final = "HTTP/1.1 204 No Content\r\n\r\n"

  @Test(arguments: [1, 99, 100, 101]) func `as many interim heads as the limit may come`(
    count: Int
  ) throws {
    let run = try ExchangeRun(String(repeating: hint, count: count) + final)
    #expect(run.error == (count > 100 ? .overLimit(.interimHeads, 100) : nil))
    #expect(run.interim.count == min(count, 100))
  }

  @Test(arguments: [27, 28, 55, 56]) func `all interim heads together have a limit`(
    limit: Int
  ) throws {
    var limits = ExchangeLimits()
    limits.interimBytes = limit
    let run = try ExchangeRun(hint + hint + final, limits: limits)
    #expect(run.error == (limit < 56 ? .overLimit(.interimBytes, limit) : nil))
    #expect(run.interim.count == limit / 28)
  }

  @Test func `trailers share the limit of interim heads`() throws {
    var limits = ExchangeLimits()
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n"
    limits.interimBytes = 28 + 6
    #expect(try ExchangeRun(hint + chunked, limits: limits).isComplete)
    limits.interimBytes = 28 + 5
    #expect(try ExchangeRun(hint + chunked, limits: limits).error == .overLimit(.interimBytes, 33))
  }

  /// A server that stores a large body may report its progress all the time (104 of resumable uploads).
  @Test func `while the request's body moves, as many interim heads come as like`() throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    let head = RequestHead(
      method: "PUT", target: "/", headers: ["Host": "h"], framing: .length(1000))
    try exchange.begin(head, to: &output)
    exchange.accepted(output.count)
    for _ in 0..<1000 {
      _ = try exchange.beginBytes(1, to: &output)
      exchange.accepted(1)
      #expect(throws: Never.self) { try receive(hint, &exchange) }
    }
    for _ in 0..<99 { try receive(hint, &exchange) }
    #expect(throws: WireError.overLimit(.interimHeads, 100)) { try receive(hint, &exchange) }
  }

  /// Trailers share the limit with those interim heads only that came since a byte of the body left.
  @Test(arguments: [28, 29, 6, 5]) func `a byte of the body makes room for trailers`(limit: Int) throws {
    var limits = ExchangeLimits()
    limits.interimBytes = limit
    var exchange = ClientExchange(limits: limits)
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .length(2)), to: &output)
    exchange.accepted(output.count)
    if limit >= 28 { try exchange.read(hint) }
    exchange.accepted(try exchange.write("ab"))
    let trailers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n"
    if limit == 5 {
      #expect(throws: WireError.overLimit(.interimBytes, 5)) { try exchange.read(trailers) }
    } else {
      try exchange.read(trailers)
      #expect(exchange.closingReason == nil)
    }
  }

  @Test func `a change of the protocol while the body moves is an error too`() throws {
    var exchange = try ClientExchange.begun(.length(6))
    exchange.accepted(try exchange.write("abc"))
    #expect(throws: WireError.switchedProtocols) { try exchange.read("HTTP/1.1 101 Switch\r\n\r\n") }
    #expect(exchange.stage == .partlySent)
    #expect(throws: RequestFlaw.responseFailed) { try exchange.write("def") }
  }

  @Test func `accepted bytes of the head alone don't move the body`() throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    let head = RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .length(9))
    try exchange.begin(head, to: &output)
    var error: WireError?
    for _ in 0..<output.count where error == nil {
      exchange.accepted(1)
      do { for _ in 0..<5 { try receive(hint, &exchange) } } catch let caught as WireError { error = caught }
    }
    #expect(error == .overLimit(.interimHeads, 100))
  }

  private func receive(_ text: String, _ exchange: inout ClientExchange) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in
      var input = bytes
      while try exchange.receive(&input) != nil {}
    }
  }
}
