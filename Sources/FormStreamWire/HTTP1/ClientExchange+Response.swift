extension ClientExchange {
  /// Reads from the front of the input up to the next event.
  ///
  /// - Returns: the event; nil if there is none before more input arrives. After the end of the response, input stays where it
  ///   is.
  /// - Throws: why the response can't be read. Each later call throws the same error.
  package mutating func receive(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    switch state {
    case .failed(let error): throw error
    case .idle:
      if !input.isEmpty { try fail(.unasked) }
      return nil
    case .head: return input.isEmpty ? nil : try receiveHead(&input)
    case .body(let body): return try receiveBody(body, &input)
    case .ended:
      if !input.isEmpty { note(.surplus) }
      return nil
    }
  }

  /// Notes that no more input comes.
  ///
  /// - Parameter isOrderly: whether the server ended the connection; false if the connection broke.
  /// - Returns: the next event; nil if the response has ended. Call it until it returns nil.
  /// - Throws: where the response was cut off; the errors of `receive`.
  package mutating func endInput(isOrderly: Bool = true) throws(WireError) -> Event? {
    var nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if let event = try receive(&nothing) { return event }
    switch state {
    case .failed(let error): throw error
    case .idle, .ended:
      note(.ended)
      return nil
    case .head:
      let place: WireError.Place =
        hasHeadBegun ? .head : .beforeResponse(afterInterim: hasInterim)
      try fail(.cutOff(place))
    case .body(let body):
      if let place = body.cut(isOrderly: isOrderly) { try fail(.cutOff(place)) }
      state = .ended
      return .end
    }
  }

  private mutating func fail(_ error: WireError) throws(WireError) -> Never {
    state = .failed(error)
    throw error
  }

  private mutating func receiveHead(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    guard sent.hasBegun else { try fail(.unasked) }
    if !hasHeadBegun {
      hasHeadBegun = true
      bodySentAtHead = sent.body
      isHeadToCompleteRequest = isRequestComplete
    }
    do {
      guard try reader.read(&input), let head = reader.head else { return nil }
      return head.isInterim ? try interim(head) : try final(head)
    } catch {
      try fail(error)
    }
  }

  /// RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response, even if the
  /// client does not expect one."
  private mutating func interim(_ head: ResponseHead) throws(WireError) -> Event {
    // RFC 9110 §15.2.2: the server "is willing to comply with the client's request, via the Upgrade header field". No request
    // of ours has this header.
    if head.status == 101 { throw .switchedProtocols }
    (interimHeads, interimBytes) = (interimHeads + 1, interimBytes + head.bytes.count)
    guard interimHeads <= limits.interimHeads else {
      throw .overLimit(.interimHeads, limits.interimHeads)
    }
    guard interimBytes <= limits.interimBytes else {
      throw .overLimit(.interimBytes, limits.interimBytes)
    }
    note(try head.framing(rule).1)
    hasHeadBegun = false
    hasInterim = true
    reader.reset()
    return .interim(head)
  }

  private mutating func final(_ head: ResponseHead) throws(WireError) -> Event {
    let (framing, closing) = try head.framing(rule)
    self.framing = framing
    bodySentAtResponse = bodySentAtHead
    isResponseToCompleteRequest = isHeadToCompleteRequest
    let options = ConnectionOptions(of: head)
    idleSeconds = options.idleSeconds
    note(closing)
    if !isResponseToCompleteRequest { note(.earlyResponse) }
    if options.closes { note(.serverCloses) }
    // RFC 9112 §9.3: "If the received protocol is HTTP/1.0, the "keep-alive" connection option is present, either the recipient is
    // not a proxy or the message is a response, and the recipient wishes to honor the HTTP/1.0 "keep-alive" mechanism, the
    // connection will persist after the current response".
    if head.minorVersion == 0, !options.keepsAlive { note(.oldVersion) }
    state = .body(ResponseBodyReader(framing, limits.heads))
    return .response(head)
  }

  private mutating func receiveBody(
    _ reader: consuming ResponseBodyReader, _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    // The reader is the only owner of its memory from here on.
    state = .ended
    var body = reader
    let room = ResponseBodyReader.TrailerRoom(
      bytes: max(limits.interimBytes - interimBytes, 0),
      error: .overLimit(.interimBytes, limits.interimBytes))
    let step: ResponseBodyReader.Step
    do { step = try body.next(&input, room) } catch { try fail(error) }
    bodyReceived = body.received
    switch step {
    case .end: return .end
    case .needsMore:
      state = .body(body)
      return nil
    case .data(let bytes):
      state = .body(body)
      return .body(bytes)
    case .trailers(let trailers):
      state = .body(body)
      return .trailers(trailers)
    }
  }
}
