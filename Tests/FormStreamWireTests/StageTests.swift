import FormStreamMultipart
import FormStreamWire
import Testing

/// The stage after each number of bytes that left: the rule of each kind of request, byte by byte.
@Suite struct StageTests {
  /// The stages after 0, 1, 2, … bytes. The bytes after the head are those of `body`.
  private func stages(
    _ framing: RequestHead.Framing, step: Int = 1, body: (inout ClientExchange, inout [UInt8]) throws -> Void
  ) throws -> (head: Int, output: [UInt8], stages: [RequestStage]) {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: framing), to: &output)
    let head = output.count
    try body(&exchange, &output)
    var stages = [exchange.stage]
    var left = output.count
    while left > 0 {
      exchange.accepted(min(step, left))
      left -= min(step, left)
      stages.append(exchange.stage)
      #expect(exchange.isRequestComplete == (left == 0))
    }
    return (head, output, stages)
  }

  @Test(arguments: [RequestHead.Framing.none, .length(0)])
  func `a request without a body is partly sent until the last byte of its head left`(
    framing: RequestHead.Framing
  ) throws {
    let (head, _, stages) = try stages(framing) { _, _ in }
    #expect(
      stages == [.notSent] + Array(repeating: .partlySent, count: head - 1) + [.sent])
  }

  @Test func `a request with a body is not sent before a byte of the body left`() throws {
    let (head, _, stages) = try stages(.length(3)) { exchange, output in
      try Array("abc".utf8).withUnsafeBytes { try exchange.append($0, to: &output) }
    }
    #expect(
      stages == Array(repeating: .notSent, count: head + 1) + [.partlySent, .partlySent, .sent])
  }

  /// Some servers act on the `0`. The size of the first chunk is no byte of the body.
  @Test func `a chunked request is sent from the first byte of its last chunk on`() throws {
    let (head, output, stages) = try stages(.chunked) { exchange, output in
      try Array("ab".utf8).withUnsafeBytes { try exchange.append($0, to: &output) }
      try exchange.endBody(trailers: ["A": "b"], to: &output)
    }
    #expect(output.dropFirst(head) == Array("2\r\nab\r\n0\r\nA: b\r\n\r\n".utf8)[...])
    #expect(
      stages
        == Array(repeating: .notSent, count: head + 4) + Array(repeating: .partlySent, count: 4)
        + Array(repeating: .sent, count: 11))
  }

  @Test func `an empty chunked body is sent with its first byte`() throws {
    let (head, _, stages) = try stages(.chunked) { try $0.endBody(to: &$1) }
    #expect(
      stages == Array(repeating: .notSent, count: head + 1) + Array(repeating: .sent, count: 5))
  }

  @Test func `a body whose length isn't written yet is never sent`() throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .length(4)), to: &output)
    exchange.accepted(output.count)
    #expect(exchange.stage == .notSent)
    _ = try exchange.beginBytes(3, to: &output)
    exchange.accepted(3)
    #expect(exchange.stage == .partlySent)
    #expect(exchange.isRequestComplete == false)
    _ = try exchange.beginBytes(1, to: &output)
    #expect(exchange.stage == .partlySent)
    exchange.accepted(1)
    #expect(exchange.stage == .sent)
  }

  @Test(arguments: [1, 2, 3, 7, 50, 1000]) func `bytes of the body are counted without their framing`(
    step: Int
  ) throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(method: "PUT", target: "/", headers: ["Host": "h"], framing: .chunked), to: &output)
    let body = [UInt8](repeating: 0x78, count: 20)
    for piece in 1...5 {
      try body.prefix(piece).withUnsafeBytes { try exchange.append($0, to: &output) }
    }
    try exchange.endBody(to: &output)
    #expect(exchange.bodySent == 0)
    var left = output.count
    while left > 0 {
      exchange.accepted(min(step, left))
      left -= min(step, left)
      #expect(exchange.bodySent >= 0 && exchange.bodySent <= 15)
    }
    #expect(exchange.bodySent == 15)
    #expect(exchange.stage == .sent)
  }

  @Test func `another request begins with nothing sent`() throws {
    var exchange = ClientExchange()
    var output: [UInt8] = []
    let head = RequestHead(method: "GET", target: "/", headers: ["Host": "h"])
    for _ in 0..<3 {
      output = []
      try exchange.begin(head, to: &output)
      #expect(exchange.stage == .notSent)
      exchange.accepted(output.count)
      #expect(exchange.stage == .sent)
      try Array("HTTP/1.1 204 \r\n\r\n".utf8).withUnsafeBytes { bytes in
        var input = bytes
        while try exchange.receive(&input) != nil {}
      }
    }
  }
}
