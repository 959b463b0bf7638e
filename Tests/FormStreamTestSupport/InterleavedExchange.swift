import FormStreamMultipart
package import FormStreamWire

/// An exchange in which bytes of the request leave between the pieces of the response and between its events, and a second account
/// of what left: of each byte of the request its kind, and of each byte of the response how much had left when it arrived.
package struct InterleavedExchange {
  private enum Kind {
    case head
    case framing
    case body
    case lastChunk
  }

  /// The kinds of all bytes of the request, in order.
  private var kinds: [Kind] = []
  private var accepted = 0
  /// How much had left when each byte of the response arrived.
  private var acceptedAtArrival: [Int] = []
  /// The bytes of all interim heads.
  private var interimBytes = 0
  /// The bytes of the final head; 0 if there is none.
  private var finalBytes = 0
  /// The statuses of all heads.
  private var statuses: [Int] = []
  /// The error of the response; nil if there was none.
  package private(set) var error: WireError?

  /// Runs the exchange.
  ///
  /// - Parameters:
  ///   - response: the bytes of the server.
  ///   - chunks: the sizes of the chunks of the request's body; of all of them together if it isn't chunked.
  ///   - isChunked: whether the request's body is chunked.
  ///   - cuts: where the response is cut.
  ///   - isKept: whether the connection has served a request before.
  ///   - nextCount: how many bytes leave next. It is asked before each piece, and after each event.
  /// - Returns: what the exchange said wrongly; nil if it was right.
  package static func fault(
    of response: [UInt8], chunks: [Int], isChunked: Bool, cuts: [Int], isKept: Bool, nextCount: () -> Int
  ) throws(RequestFlaw) -> String? {
    var run = InterleavedExchange()
    return try run.run(response, chunks, isChunked, cuts, isKept, nextCount)
  }

  private mutating func run(
    _ response: [UInt8], _ chunks: [Int], _ isChunked: Bool, _ cuts: [Int], _ isKept: Bool, _ nextCount: () -> Int
  ) throws(RequestFlaw) -> String? {
    var exchange = ClientExchange()
    if isKept { try exchange.serveFirstRequest() }
    try write(chunks, isChunked, to: &exchange)
    // An exchange whose request has not begun to leave has no response.
    if let fault = accept(1 + nextCount(), &exchange) { return fault }
    var start = 0
    do {
      for end in cuts + [response.count] {
        let piece = Array(response[start..<end])
        acceptedAtArrival += Array(repeating: accepted, count: piece.count)
        if let fault = try feed(piece, to: &exchange, nextCount) { return fault }
        start = end
        if let fault = accept(nextCount(), &exchange) { return fault }
      }
    } catch {
      self.error = error
    }
    return checkEnd(exchange, isKept)
  }

  private mutating func write(
    _ chunks: [Int], _ isChunked: Bool, to exchange: inout ClientExchange
  ) throws(RequestFlaw) {
    let length = chunks.reduce(0, +)
    var output: [UInt8] = []
    try exchange.begin(
      RequestHead(
        method: "PUT", target: "/", headers: ["Host": "h"], framing: isChunked ? .chunked : .length(Int64(length))),
      to: &output)
    kinds += Array(repeating: .head, count: output.count)
    for size in chunks where size > 0 {
      let framing = try exchange.beginBytes(size, to: &output)
      // The size in hexadecimal digits and CRLF stand before the bytes, CRLF after them.
      if isChunked { kinds += Array(repeating: .framing, count: String(size, radix: 16).utf8.count + 2) }
      kinds += Array(repeating: .body, count: size)
      if isChunked { kinds += Array(repeating: .framing, count: 2) }
      output += Array(repeating: 0x78, count: size) + Array("\(framing)".utf8)
    }
    try exchange.endBody(to: &output)
    // `0`, CRLF, CRLF.
    if isChunked { kinds += Array(repeating: .lastChunk, count: 5) }
  }

  /// Lets bytes leave, and compares what left.
  private mutating func accept(_ count: Int, _ exchange: inout ClientExchange) -> String? {
    let count = min(count, kinds.count - accepted)
    exchange.accepted(count)
    accepted += count
    let said = (exchange.stage, exchange.bodySent, exchange.isRequestComplete, exchange.pendingBytes)
    let counted = (stage(accepted), body(accepted), accepted == kinds.count, Int64(kinds.count - accepted))
    return said == counted ? nil : "after \(accepted) bytes \(said), and not \(counted)"
  }

  /// How many bytes of the body are among the first bytes of the request.
  private func body(_ count: Int) -> Int64 { Int64(kinds[..<count].count { $0 == .body }) }

  /// The sentence of the contract: nothing was sent before a byte of the body; everything, from the last chunk or the last byte on.
  private func stage(_ count: Int) -> RequestStage {
    let left = kinds[..<count]
    if count == kinds.count || left.contains(.lastChunk) { return .sent }
    let hasBody = kinds.contains { $0 == .body || $0 == .lastChunk }
    return left.isEmpty || hasBody && !left.contains(.body) ? .notSent : .partlySent
  }

  private mutating func feed(
    _ piece: [UInt8], to exchange: inout ClientExchange, _ nextCount: () -> Int
  ) throws(WireError) -> String? {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: piece)
    var input = UnsafeRawBufferPointer(memory)
    while let event = try exchange.receive(&input) {
      switch event {
      case .interim(let head):
        interimBytes += head.bytes.count
        statuses.append(head.status)
      case .response(let head):
        statuses.append(head.status)
        finalBytes = head.bytes.count
      case .body, .trailers, .end: break
      }
      if let fault = accept(nextCount(), &exchange) { return fault }
    }
    return nil
  }

  private func checkEnd(_ exchange: borrowing ClientExchange, _ isKept: Bool) -> String? {
    let (stageSaid, bodySaid) = (exchange.stageAtResponse, exchange.bodySentAtResponse)
    guard finalBytes > 0 else {
      return stageSaid == nil && bodySaid == nil && !exchange.isResponseToCompleteRequest && exchange.closingReason != nil
        ? nil : "facts of a final response without one"
    }
    let atResponse = acceptedAtArrival[isKept ? interimBytes : interimBytes + finalBytes - 1]
    let isComplete = atResponse == kinds.count
    guard stageSaid == stage(atResponse), bodySaid == body(atResponse),
      exchange.isResponseToCompleteRequest == isComplete
    else {
      return
        "the response arrived after \(atResponse) of \(kinds.count) bytes, and the exchange says \(String(describing: stageSaid)),"
        + " \(String(describing: bodySaid)), \(exchange.isResponseToCompleteRequest)"
    }
    guard isComplete || exchange.closingReason != nil else { return "an early response, and the connection is used again" }
    guard exchange.hasContinued == statuses.contains(100), exchange.hasResponseBegun else {
      return "statuses \(statuses), and \(exchange.hasContinued), \(exchange.hasResponseBegun)"
    }
    return nil
  }
}
