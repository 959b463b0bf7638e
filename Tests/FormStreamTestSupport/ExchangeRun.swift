package import FormStreamMultipart
package import FormStreamWire

/// The events of an exchange for one response. The bytes of a body are joined, however the exchange cut them.
package struct ExchangeRun: Equatable, Sendable {
  /// A head.
  package struct Head: Equatable, Sendable {
    /// The bytes that arrived.
    package var bytes: [UInt8]
    /// The status.
    package var status: Int
    /// The second digit of the version.
    package var minorVersion: Int
    /// The reason.
    package var reason: [UInt8]
    /// The headers.
    package var headers: HTTPHeaders

    /// Copies a head.
    package init(_ head: ResponseHead) {
      bytes = head.bytes
      status = head.status
      minorVersion = head.minorVersion
      reason = head.reason
      headers = head.headers
    }
  }

  /// One event.
  package enum Event: Equatable, Sendable {
    /// The head of an interim response.
    case interim(Head)
    /// The head of the final response.
    case response(Head)
    /// All bytes of the body up to the next event of another kind.
    case body([UInt8])
    /// Headers after the body.
    case trailers(HTTPHeaders)
    /// The response's end.
    case end
  }

  /// What happens after the last byte of the input.
  package enum Ending: String, Codable, Sendable {
    /// The server ends the connection if the response hasn't ended.
    case closed
    /// The connection breaks.
    case broken
    /// Nothing happens: the connection stays open.
    case open
  }

  /// The events in order.
  package private(set) var events: [Event] = []
  /// The error; nil if there was none.
  package private(set) var error: WireError?
  /// Why the connection can't be used again; nil if it can.
  package private(set) var closingReason: ClosingReason?
  /// For how long the server keeps the connection.
  package private(set) var idleSeconds: Int64?
  /// How the end of the body is found.
  package private(set) var framing: ResponseFraming?
  /// How many bytes of the input were read.
  package private(set) var consumed = 0
  /// Whether there was an event of no bytes, which is a fault.
  package private(set) var hasEmptyBytes = false
  /// Whether the end is final: an exchange that has failed fails again with the same error, and one that is done has no
  /// more events.
  package private(set) var isEndFinal = true

  /// How much of the request had left when the final response arrived; nil if there is no final head.
  package private(set) var stageAtResponse: RequestStage?
  /// How many bytes of the request's body had left then.
  package private(set) var bodySentAtResponse: Int64?

  /// Whether the response arrived to its end.
  package var isComplete: Bool { error == nil && events.last == .end }

  /// The final head.
  package var head: Head? {
    for case .response(let head) in events { return head }
    return nil
  }

  /// The bytes of the body, as far as they arrived.
  package var body: [UInt8] {
    events.flatMap { event -> [UInt8] in
      if case .body(let bytes) = event { bytes } else { [] }
    }
  }

  /// The statuses of the interim responses.
  package var interim: [Int] {
    events.compactMap { if case .interim(let head) = $0 { head.status } else { nil } }
  }

  /// The headers after the body.
  package var trailers: HTTPHeaders {
    for case .trailers(let trailers) in events { return trailers }
    return HTTPHeaders()
  }

  /// A request's body in the run, and when it leaves.
  package struct Upload: Sendable {
    /// The body is `abc`, in one chunk if it is chunked.
    package var isChunked: Bool
    /// How many bytes after the head, with their framing, leave before the byte of the response at an offset arrives. The offsets
    /// ascend.
    package var sent: [(offset: Int, count: Int)]

    /// Creates an upload.
    package init(isChunked: Bool, sent: [(offset: Int, count: Int)]) {
      (self.isChunked, self.sent) = (isChunked, sent)
    }

    fileprivate func write(to exchange: inout ClientExchange, _ output: inout [UInt8]) throws(RequestFlaw) {
      let framing = try exchange.beginBytes(3, to: &output)
      output += Array("abc".utf8)
      output += Array("\(framing)".utf8)
      try exchange.endBody(to: &output)
    }
  }

  /// Sends a request and receives its response, cut before each of the ascending `cuts`, and where bytes of the upload leave. Each
  /// piece has its own memory, which is overwritten as soon as the exchange has read the piece.
  ///
  /// - Parameter isKept: whether the connection has served a request before.
  package init(
    _ response: [UInt8], to request: RequestHead = .get(), cuts: some Sequence<Int> = EmptyCollection<Int>(),
    ending: Ending = .closed, limits: ExchangeLimits = ExchangeLimits(), upload: Upload? = nil, isKept: Bool = false
  ) throws(RequestFlaw) {
    var exchange = ClientExchange(limits: limits)
    if isKept { try exchange.serveFirstRequest() }
    var output: [UInt8] = []
    var request = request
    if let upload { request.framing = upload.isChunked ? .chunked : .length(3) }
    try exchange.begin(request, to: &output)
    exchange.accepted(output.count)
    try upload?.write(to: &exchange, &output)
    var sent = upload?.sent ?? []
    let cuts = sent.isEmpty ? Array(cuts) : Set(sent.map(\.offset) + cuts).sorted()
    do {
      var start = 0
      for cut in cuts {
        try feed(response[start..<cut], to: &exchange)
        start = cut
        while let next = sent.first, next.offset == cut {
          exchange.accepted(next.count)
          sent.removeFirst()
        }
      }
      try feed(response[start...], to: &exchange)
      if ending != .open, !isComplete {
        while let event = try exchange.endInput(isOrderly: ending == .closed) { note(event) }
      }
    } catch {
      self.error = error
    }
    closingReason = exchange.closingReason
    idleSeconds = exchange.idleSeconds
    framing = exchange.framing
    (stageAtResponse, bodySentAtResponse) = (exchange.stageAtResponse, exchange.bodySentAtResponse)
    isEndFinal = ending == .open || endsAgain(&exchange)
  }

  /// Receives a text; see ``init(_:to:cuts:ending:limits:upload:isKept:)``.
  package init(
    _ response: String, to request: RequestHead = .get(), cuts: some Sequence<Int> = EmptyCollection<Int>(),
    ending: Ending = .closed, limits: ExchangeLimits = ExchangeLimits()
  ) throws(RequestFlaw) {
    try self.init(Array(response.utf8), to: request, cuts: cuts, ending: ending, limits: limits)
  }

  private mutating func feed(
    _ piece: ArraySlice<UInt8>, to exchange: inout ClientExchange
  ) throws(WireError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
    defer {
      memory.initializeMemory(as: UInt8.self, repeating: 0xEE)
      memory.deallocate()
    }
    memory.copyBytes(from: piece)
    var input = UnsafeRawBufferPointer(memory)
    defer { consumed += piece.count - input.count }
    while let event = try exchange.receive(&input) { note(event) }
  }

  /// Takes over how much of the input another run has read. After an error, it depends on how the input is divided.
  package mutating func forgetConsumed(of other: ExchangeRun) { consumed = other.consumed }

  private func endsAgain(_ exchange: inout ClientExchange) -> Bool {
    do {
      guard try exchange.endInput(isOrderly: true) == nil else { return false }
      return error == nil && events.last == .end
    } catch {
      return error == self.error
    }
  }

  private mutating func note(_ event: ClientExchange.Event) {
    switch event {
    case .interim(let head): events.append(.interim(Head(head)))
    case .response(let head): events.append(.response(Head(head)))
    case .trailers(let trailers): events.append(.trailers(trailers.headers))
    case .end: events.append(.end)
    case .body(let bytes):
      hasEmptyBytes = hasEmptyBytes || bytes.isEmpty
      if case .body(var before) = events.last {
        events.removeLast()
        before.append(contentsOf: bytes)
        events.append(.body(before))
      } else {
        events.append(.body(Array(bytes)))
      }
    }
  }
}

extension RequestHead {
  /// A request without a body.
  package static func get(
    _ method: String = "GET", headers: HTTPHeaders = ["Host": "h"]
  ) -> RequestHead {
    RequestHead(method: method, target: "/", headers: headers)
  }
}
