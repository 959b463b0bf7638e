package import FormStreamMultipart

extension ClientExchange {
  /// Begins a request, and appends its head to the output.
  ///
  /// - Throws: `connectionUsed` if the connection can't be used for another request; the flaws of the head. Nothing was written
  ///   then.
  package mutating func begin(
    _ head: RequestHead, to output: inout [UInt8]
  ) throws(RequestFlaw) {
    guard closingReason == nil else { throw .connectionUsed }
    let start = output.count
    try HeadWriter.append(head, to: &output)
    rule = ResponseRule(method: head.method)
    announcesBody = head.framing != .none && head.framing != .length(0)
    writer = RequestBodyWriter(head.framing)
    sent.reset()
    sent.wrote(output.count - start, .head)
    reader.reset()
    body = ResponseBodyReader(.none, limits)
    facts = ResponseFacts()
    if ConnectionOptions(of: head.headers).closes { facts.note(.requested) }
    state = .head
  }

  /// Announces bytes of the body, and appends the framing that stands before them.
  ///
  /// - Parameter count: how many bytes the caller writes next. If there are none, nothing is announced.
  /// - Returns: the framing that the caller writes after the bytes.
  package mutating func beginBytes(
    _ count: Int, to output: inout [UInt8]
  ) throws(RequestFlaw) -> StaticString {
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
  package mutating func endBody(
    trailers: HTTPHeaders = HTTPHeaders(), to output: inout [UInt8]
  ) throws(RequestFlaw) {
    let start = output.count
    try writer.end(trailers: trailers, to: &output)
    sent.wrote(output.count - start, .lastChunk)
  }

  /// Notes that the connection accepted the next bytes of what was written.
  package mutating func accepted(_ count: Int) {
    let before = sent.body
    sent.accepted(count)
    guard sent.body > before else { return }
    // While the body moves, a server may report its progress as often as it likes.
    facts.interimHeads = 0
    facts.interimBytes = 0
  }
}
