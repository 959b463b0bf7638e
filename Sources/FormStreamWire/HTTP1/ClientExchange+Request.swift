package import FormStreamMultipart

extension ClientExchange {
  /// Begins a request, and appends its head to the output.
  ///
  /// Input that the caller holds from before is no response to this request: ``receive(_:)`` must have got it, and has then said
  /// that the connection can't be used.
  ///
  /// - Throws: `connectionUsed` if the connection can't be used for another request; the flaws of the head. Nothing was written
  ///   then.
  package mutating func begin(
    _ head: RequestHead, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    guard closingReason == nil else { throw .connectionUsed }
    let start = output.count
    let notes = try HeadWriter.append(head, to: &output)
    isKept = state != .idle
    rule = ResponseRule(method: head.method)
    announcesBody = head.hasBody
    expectsContinue = notes.expectsContinue
    writer = RequestBodyWriter(head.framing)
    sent.reset()
    sent.wrote(output.count - start, .head)
    body = ResponseBodyReader(.none, limits)
    facts = ResponseFacts()
    unread = UnreadInput()
    if notes.closes { facts.note(.requested) }
    state = .head
  }

  /// Announces bytes of the body, and appends the framing that stands before them.
  ///
  /// The caller has these bytes already, and they don't change: an announcement can't be taken back. A caller that can't keep it
  /// calls ``abandonBody()``.
  ///
  /// - Parameter count: how many bytes the caller writes next. If there are none, nothing is announced.
  /// - Returns: the framing that the caller writes after the bytes.
  /// - Throws: `bodyTooLong` if the body has more bytes than its head says; `responseFailed`, `bodyAbandoned`.
  package mutating func beginBytes(
    _ count: Int, to output: inout [UInt8]
  ) throws(RequestFlaw) -> StaticString {
    guard state != .failed else { throw .responseFailed }
    let start = output.count
    let framing = try writer.begin(count, to: &output)
    sent.wrote(output.count - start, .chunk)
    sent.wrote(count, .body)
    sent.wrote(framing.utf8CodeUnitCount, .chunk)
    return framing
  }

  /// Appends bytes of the body with their framing.
  package mutating func append(
    _ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    let framing = try beginBytes(bytes.count, to: &output)
    output.append(contentsOf: bytes)
    output.append(framing)
  }

  /// Ends the body, and appends the last chunk of a chunked body. A body of known length ends with its last byte; its end is
  /// checked here.
  ///
  /// - Throws: `bodyTooShort` if bytes are missing; the flaws of trailers; `responseFailed`, `bodyAbandoned`.
  package mutating func endBody(
    trailers: HTTPHeaders = HTTPHeaders(), to output: inout [UInt8]
  ) throws(RequestFlaw) {
    guard state != .failed else { throw .responseFailed }
    let start = output.count
    try writer.end(trailers: trailers, to: &output)
    sent.wrote(output.count - start, .lastChunk)
  }

  /// Gives the body up, because its source failed or the program stopped. The body can't be continued or ended any more, and the
  /// connection isn't used for another request. What was written may still leave, and counts.
  package mutating func abandonBody() {
    writer.abandon()
    facts.note(.abandoned)
  }

  /// Notes that the last interim response was about progress that the server makes. Such responses may come as often as those that come
  /// while the request's body moves.
  package mutating func noteProgressOfServer() {
    (facts.interimHeads, facts.interimBytes) = (0, 0)
  }

  /// Notes that the connection accepted the next bytes of what was written. This is allowed at any time, after an error too.
  ///
  /// - Parameter count: how many bytes, framing included. More than were written, or fewer than none, are a fault of the caller:
  ///   the request counts as sent from then on, no response as one to the complete request, and the connection isn't used again.
  package mutating func accepted(_ count: Int) {
    let before = sent.body
    sent.accepted(count)
    if sent.isMiscounted { facts.note(.miscounted) }
    guard sent.body > before else { return }
    // While the body moves, a server may report its progress as often as it likes.
    facts.interimHeads = 0
    facts.interimBytes = 0
  }
}
