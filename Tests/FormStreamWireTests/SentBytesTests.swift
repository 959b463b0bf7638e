import FormStreamMultipart
@testable import FormStreamWire
import Testing

/// What a caller says about the bytes that left, and how much memory the account of them takes.
@Suite struct SentBytesTests {
  /// A driver that writes more before the last byte has left never comes to an end of what it wrote. The account of 200,000 chunks had
  /// 400,002 entries.
  @Test func `an account of bytes of which one is always pending stays small`() throws {
    var sent = SentBytes()
    sent.wrote(1, .head)
    var most = 0
    for _ in 0..<10_000 {
      sent.wrote(3, .chunk)
      sent.wrote(5, .body)
      sent.accepted(8)
      most = max(most, sent.runCount)
    }
    #expect(most < 40)
    #expect(sent.body == 49_999)
    #expect(sent.pending == 1)
    sent.accepted(1)
    #expect(sent.isEmpty)
    #expect(sent.body == 50_000)
  }

  @Test func `many pending chunks are accepted byte by byte`() throws {
    var sent = SentBytes()
    for _ in 0..<100 {
      sent.wrote(1, .chunk)
      sent.wrote(1, .body)
    }
    for count in 1...200 {
      sent.accepted(1)
      #expect(sent.body == Int64(count / 2))
      #expect(sent.pending == Int64(200 - count))
    }
    #expect(sent.isEmpty)
  }

  @Test func `bytes of the head and of the body are counted exactly`() throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    try exchange.begin(.init(method: "PUT", target: "/", headers: ["Host": "h"], framing: .chunked), to: &output)
    let head = Int64(output.count)
    #expect(exchange.pendingBytes == head)
    exchange.accepted(3)
    #expect(exchange.headSent == 3)
    exchange.accepted(output.count - 3)
    let size = try exchange.write("abc") + exchange.writeEnd()
    #expect(exchange.pendingBytes == Int64(size))
    exchange.accepted(5)
    #expect(exchange.headSent == head)
    #expect(exchange.bodySent == 2)
    #expect(exchange.pendingBytes == Int64(size - 5))
  }

  /// A caller that counts wrongly doesn't know what left: the request may have been sent, and no success confirms it.
  @Test(arguments: [1, -1]) func `more bytes than were written, or fewer than none, make the request doubtful`(
    count: Int
  ) throws {
    var exchange = try ClientExchange.begun(.length(3))
    #expect(exchange.stage == .notSent)
    exchange.accepted(count)
    #expect(exchange.stage == .sent)
    exchange.accepted(try exchange.write("abc"))
    #expect(exchange.isRequestComplete == false)
    try exchange.read("HTTP/1.1 204 None\r\n\r\n")
    #expect(exchange.isResponseToCompleteRequest == false)
    #expect(exchange.closingReason == .miscounted)
    #expect(throws: RequestFlaw.connectionUsed) { try exchange.beginAndSend() }
  }

  @Test func `bytes that are accepted after the response, but were never written, end the use of the connection`() throws {
    var exchange = try ClientExchange.begun()
    try exchange.read("HTTP/1.1 204 None\r\n\r\n")
    #expect(exchange.isResponseToCompleteRequest == true)
    exchange.accepted(0)
    #expect(exchange.closingReason == nil)
    exchange.accepted(1)
    #expect(exchange.isResponseToCompleteRequest == false)
    #expect(exchange.closingReason == .miscounted)
  }
}
