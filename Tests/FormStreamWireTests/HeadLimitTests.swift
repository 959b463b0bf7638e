import FormStreamMultipart
import FormStreamTestSupport
import FormStreamWire
import Testing

/// Sizes around each limit. A head that is refused is refused in any division, for the same limit.
@Suite struct HeadLimitTests {
  /// Runs a response whole, in halves and in single bytes.
  private func run(
    _ response: String, to request: RequestHead = .get(), limits: ExchangeLimits = ExchangeLimits()
  ) throws -> ExchangeRun {
    let bytes = Array(response.utf8)
    let run = try ExchangeRun(bytes, to: request, limits: limits)
    for cuts in [Array(bytes.indices), [bytes.count / 2], [bytes.count - 1]] {
      var divided = try ExchangeRun(bytes, to: request, cuts: cuts, limits: limits)
      if run.error != nil { divided.forgetConsumed(of: run) }
      #expect(divided == run, "cut at \(cuts.prefix(3))")
    }
    return run
  }

  private func limits(line: Int = 100, head: Int = 200, headers: Int = 10) -> ExchangeLimits {
    var limits = ExchangeLimits()
    (limits.heads.line, limits.heads.head, limits.heads.headers) = (line, head, headers)
    return limits
  }

  @Test func `the limits of all responses are those that the errors name`() {
    let limits = ExchangeLimits()
    #expect(limits.heads.line == 131_072)
    #expect(limits.heads.head == 262_144)
    #expect(limits.heads.headers == 5000)
    #expect(limits.interimBytes == 262_144)
    #expect(limits.interimHeads == 100)
  }

  @Test(arguments: 15...60) func `a header line may be as long as the limit, with its line break`(
    size: Int
  ) throws {
    let line = "A: " + String(repeating: "x", count: size - 5) + "\r\n"
    let run = try run("HTTP/1.1 200 \r\n" + line + "\r\n", limits: limits(line: 40))
    #expect(run.error == (size > 40 ? .overLimit(.line, 40) : nil))
  }

  @Test(arguments: 15...45) func `a status line may be as long as the limit`(size: Int) throws {
    let reason = String(repeating: "x", count: size - 15)
    let run = try run("HTTP/1.1 200 " + reason + "\r\n\r\n", limits: limits(line: 40))
    #expect(run.error == (size > 40 ? .overLimit(.line, 40) : nil))
  }

  @Test(arguments: 1...60) func `a head may be as large as the limit, with all line breaks`(
    limit: Int
  ) throws {
    let head = "HTTP/1.1 200 OK\r\nA: b\r\nC: d\n\r\n"
    let run = try run(head, limits: limits(head: limit))
    #expect(run.error == (head.utf8.count > limit ? .overLimit(.head, limit) : nil))
  }

  @Test func `a smaller limit of a head is the one that is named`() throws {
    let run = try run(
      "HTTP/1.1 200 " + String(repeating: "x", count: 100), limits: limits(line: 50, head: 40))
    #expect(run.error == .overLimit(.head, 40))
  }

  @Test(arguments: 0...6) func `a head may have as many headers as the limit`(limit: Int) throws {
    let head = "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n more\r\nC: 3\r\n\r\n"
    let run = try run(head, limits: limits(headers: limit))
    #expect(run.error == (limit < 3 ? .overLimit(.headers, limit) : nil))
  }

  @Test func `a continued line counts to its own limit and to the limit of the head`() throws {
    let line = " " + String(repeating: "x", count: 27) + "\r\n"
    let head = "HTTP/1.1 200 OK\r\nA: b\r\n" + String(repeating: line, count: 5)
    #expect(try run(head + "\r\n", limits: limits(line: 30)).error == nil)
    #expect(try run(head + line, limits: limits(line: 30)).error == .overLimit(.head, 200))
  }

  /// A head that came in two pieces kept the memory of the whole second piece.
  @Test func `a head keeps no memory for the bytes that follow it`() throws {
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + String(repeating: "x", count: 200_000)
    for cut in [0, 1, 15, 39] {
      var exchange = try ClientExchange.begun()
      var head: ResponseHead?
      try exchange.read(String(response.prefix(cut)))
      try exchange.read(String(response.dropFirst(cut))) { _, event in
        if case .response(let final) = event { head = final }
      }
      #expect(exchange.bodyReceived == 200_000)
      #expect(head?.bytes.count == 43)
      #expect(head.map { $0.bytes.capacity < 4096 } == true)
    }
  }

  @Test func `a line without end is refused as soon as it is too long`() throws {
    let endless = "HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 140_000)
    #expect(try ExchangeRun(endless, ending: .open).error == .overLimit(.line, 131_072))
  }

  @Test func `a head of many lines is refused as soon as it is too large`() throws {
    let line = "A: " + String(repeating: "x", count: 1000) + "\r\n"
    let endless = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 270)
    #expect(try ExchangeRun(endless, ending: .open).error == .overLimit(.head, 262_144))
  }

  /// The free overhead is 16 KiB; the body's bytes add to it.
  @Test(arguments: [16_382, 16_383, 16_384, 16_385]) func `extensions have 16 KiB before the first byte of the body`(
    size: Int
  ) throws {
    let chunk = "2;" + String(repeating: "x", count: size - 1) + "\r\nhi\r\n0\r\n\r\n"
    let run = try run("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
    #expect(run.error == (size > 16_384 ? .overLimit(.chunkOverhead, 16_384) : nil))
  }

  @Test func `each byte of the body allows one more byte of extensions`() throws {
    let chunk = "2;\r\nhi\r\n"
    let chunks = String(repeating: chunk, count: 5000)
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(try ExchangeRun(head + chunks + "0\r\n\r\n").isComplete)
    let greedy = "1;ab\r\nh\r\n"
    let run = try ExchangeRun(head + String(repeating: greedy, count: 10_000) + "0\r\n\r\n")
    #expect(run.error == .overLimit(.chunkOverhead, 16_384 + 8191))
    #expect(run.body.count == 8191)
  }

  @Test(arguments: [56, 57]) func `zeros before a size are bounded as extensions are`(
    limit: Int
  ) throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let zeros = String(repeating: "0", count: 16_384 - 40 + limit)
    let run = try run(head + zeros + "\r\n\r\n")
    #expect(run.error == (limit > 56 ? .overLimit(.chunkOverhead, 16_384) : nil))
  }

  @Test(arguments: [16_387, 16_388, 16_389]) func `trailers share the bytes of extensions`(
    size: Int
  ) throws {
    let line = "A: " + String(repeating: "x", count: size - 17) + "\r\n\r\n"
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let run = try run(head + "2\r\nhi\r\n0;234567890\r\n" + line)
    #expect(run.error == (size > 16_388 ? .overLimit(.chunkOverhead, 16_386) : nil))
  }

  /// The empty line at the end is no trailer: every chunked body has it.
  @Test func `a body whose extensions reach the limit may end`() throws {
    let chunk = "0;" + String(repeating: "x", count: 16_383) + "\r\n\r\n"
    #expect(try run("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk).isComplete)
  }

  @Test func `trailers have the limits of heads too`() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    let line = "A: " + String(repeating: "x", count: 60) + "\r\n"
    #expect(try run(head + line + "\r\n", limits: limits(line: 65)).error == nil)
    #expect(try run(head + line + "\r\n", limits: limits(line: 64)).error == .inTrailers(.overLimit(.line, 64)))
    #expect(
      try run(head + line + line + "\r\n", limits: limits(head: 131)).error == .inTrailers(.overLimit(.head, 131)))
    #expect(
      try run(head + "A:\r\nB:\r\n\r\n", limits: limits(headers: 1)).error == .inTrailers(.overLimit(.headers, 1)))
  }
}
