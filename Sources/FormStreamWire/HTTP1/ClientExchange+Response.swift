extension ClientExchange {
  /// Reads from the front of the input up to the next event.
  ///
  /// Call it until it returns nil, with empty input too: the end of a response needs no byte. Input that wasn't read is passed
  /// again, before more input. After the final head, the caller may pass less than it has, to get less of the body at once; before,
  /// bytes that it holds back count as arrived when it passes them. If it stops at the event `end`, bytes after the response are
  /// noted all the same.
  ///
  /// - Returns: the event; nil if there is none before more input arrives. After the end of the response, input stays where it
  ///   is.
  /// - Throws: why the response can't be read. Each later call throws the same error.
  package mutating func receive(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    switch state {
    case .failed:
      try failAgain()
      return nil
    case .idle:
      if !input.isEmpty { try fail(.unasked) }
      return nil
    case .head: return input.isEmpty ? nil : try receiveHead(&input)
    case .body: return try receiveBody(&input)
    case .ended:
      if !input.isEmpty { facts.noteSurplus() }
      return nil
    }
  }

  /// Notes that no more input comes. The request isn't touched by it: a server that has ended its side may still read.
  ///
  /// - Parameter isOrderly: whether the server ended the connection; false if the connection broke, or if TLS ended without a
  ///   close_notify. After a break, a body that ends with the connection may be cut off.
  /// - Returns: the next event; nil if the response has ended. Call it until it returns nil.
  /// - Throws: where the response was cut off; the errors of `receive`.
  package mutating func endInput(isOrderly: Bool) throws(WireError) -> Event? {
    var nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if let event = try receive(&nothing) { return event }
    switch state {
    case .failed:
      try failAgain()
      return nil
    case .idle, .ended:
      facts.note(.ended)
      return nil
    case .head:
      let place: WireError.Place =
        facts.hasHeadBegun ? .head(afterInterim: facts.hasInterim) : .beforeResponse(afterInterim: facts.hasInterim)
      try fail(.cutOff(place))
    case .body:
      if let place = body.cut(isOrderly: isOrderly) { try fail(.cutOff(place)) }
      state = .ended
      return .end
    }
  }

  private mutating func fail(_ error: WireError) throws(WireError) -> Never {
    state = .failed
    failure = error
    throw error
  }

  private func failAgain() throws(WireError) {
    if let failure { throw failure }
  }

  private mutating func receiveHead(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    guard sent.hasBegun else { try fail(.unasked) }
    let now = SentMark(stage: stage, body: sent.body, isComplete: isRequestComplete)
    if !facts.hasHeadBegun { reader.reset() }
    if marksNextInput { facts.receiveHead(unread.count > 0 ? unread.mark : now) }
    let size = input.count
    do {
      let isComplete = try reader.read(&input)
      noteUnread(input.count, read: size - input.count, now)
      guard isComplete, let head = reader.head else { return nil }
      return head.isInterim ? try interim(head) : try final(head)
    } catch {
      try fail(error)
    }
  }

  /// Notes when the rest of the input arrived. If some of it was there before, all of it counts as old, which is the safe side.
  private mutating func noteUnread(_ rest: Int, read size: Int, _ now: SentMark) {
    unread = UnreadInput(count: rest, mark: unread.count > size ? unread.mark : now)
  }

  /// RFC 9110 §15.2: "A client MUST be able to parse one or more 1xx responses received prior to a final response, even if the
  /// client does not expect one."
  private mutating func interim(_ head: ResponseHead) throws(WireError) -> Event {
    // RFC 9110 §15.2.2: the server "is willing to comply with the client's request, via the Upgrade header field". No request
    // of ours has this header.
    if head.status == 101 { throw .switchedProtocols }
    (facts.interimHeads, facts.interimBytes) = (facts.interimHeads + 1, facts.interimBytes + head.bytes.count)
    guard facts.interimHeads <= limits.interimHeads else {
      throw .overLimit(.interimHeads, limits.interimHeads)
    }
    guard facts.interimBytes <= limits.interimBytes else {
      throw .overLimit(.interimBytes, limits.interimBytes)
    }
    facts.note(try head.framing(rule).1)
    noteConnection(ConnectionOptions(of: head), head)
    facts.hasContinued = facts.hasContinued || head.status == 100
    facts.endInterimHead()
    return .interim(head)
  }

  private mutating func final(_ head: ResponseHead) throws(WireError) -> Event {
    facts.unreadableStatus = head.status
    let (framing, closing) = try head.framing(rule)
    facts.unreadableStatus = nil
    facts.framing = framing
    facts.isTunnel = closing == .tunnel
    let options = ConnectionOptions(of: head)
    facts.idleSeconds = options.idleSeconds
    facts.note(closing)
    if !facts.mark.isComplete { facts.note(.earlyResponse) }
    if expectsContinue, !facts.hasContinued, !(200...299).contains(head.status) { facts.note(.notContinued) }
    noteConnection(options, head)
    body = ResponseBodyReader(framing, limits)
    state = .body
    return .response(head)
  }

  /// RFC 9112 §9.6: "A client that receives a "close" connection option MUST cease sending requests on that connection".
  private mutating func noteConnection(_ options: ConnectionOptions, _ head: ResponseHead) {
    if options.closes { facts.note(.serverCloses) }
    // RFC 9112 §9.3: "If the received protocol is HTTP/1.0, the "keep-alive" connection option is present, either the recipient is
    // not a proxy or the message is a response, and the recipient wishes to honor the HTTP/1.0 "keep-alive" mechanism, the
    // connection will persist after the current response".
    if head.minorVersion == 0, !options.keepsAlive { facts.note(.oldVersion) }
  }

  private mutating func receiveBody(
    _ input: inout UnsafeRawBufferPointer
  ) throws(WireError) -> Event? {
    let step: ResponseBodyReader.Step
    do {
      step = try body.next(&input, after: facts.interimBytes)
    } catch {
      try fail(error)
    }
    switch step {
    case .needsMore: return nil
    case .data(let bytes): return .body(bytes)
    case .trailers(let trailers): return .trailers(trailers)
    case .end:
      state = .ended
      reader.releaseMemory()
      // A caller may stop here. The bytes that it holds must not be read as the response to its next request.
      if !input.isEmpty { facts.noteSurplus() }
      return .end
    }
  }
}
