/// The client's side of an HTTP/1.1 connection, one request at a time: values in, bytes out; bytes in, events out. It has no
/// socket, clock or thread.
///
/// ```swift
/// var exchange = ClientExchange()
/// try exchange.begin(head, to: &output)                   // or beginBytes, endBody, for the body
/// exchange.accepted(connection.write(output))             // what the connection has accepted
/// while let event = try exchange.receive(&input) { … }    // until it returns nil; then read more
/// ```
///
/// The caller writes the bytes in the order in which it got them, and says how many of them the connection accepted before it
/// passes input that was read after that. From both, the exchange knows its ``stage`` and whether the connection can be used
/// again.
package struct ClientExchange: Sendable {
  /// What the server sent.
  package enum Event {
    /// The head of an interim response (1xx).
    case interim(ResponseHead)
    /// The head of the final response.
    case response(ResponseHead)
    /// Bytes of the response's body: a part of the input.
    case body(UnsafeRawBufferPointer)
    /// Headers after the body.
    case trailers(Trailers)
    /// The end of the response. Bytes after it don't belong to the response.
    case end
  }

  enum State: Sendable {
    /// No request was begun.
    case idle
    /// The next bytes belong to a head.
    case head
    case body
    case ended
    case failed
  }

  let limits: ExchangeLimits
  var state = State.idle
  /// Why the exchange has failed.
  var failure: WireError?

  // The request.
  var rule = ResponseRule.ordinary
  var announcesBody = false
  var writer = RequestBodyWriter(.none)
  var sent = SentBytes()

  // The response.
  var reader: HeadReader
  var body: ResponseBodyReader
  var facts = ResponseFacts()

  package init(limits: ExchangeLimits = ExchangeLimits()) {
    self.limits = limits
    reader = HeadReader(.response, limits.heads)
    body = ResponseBodyReader(.none, limits)
  }

  /// How much of the request has left.
  package var stage: RequestStage {
    if !sent.hasBegun || announcesBody && !sent.hasLeftHead { return .notSent }
    return isRequestComplete || sent.hasBegunLastChunk ? .sent : .partlySent
  }

  /// The number of bytes of the request's body that have left.
  package var bodySent: Int64 { sent.body }

  /// Whether the request's body was written to its end. Some of it may not have left.
  package var isBodyWritten: Bool { writer.hasEnded }

  /// Whether every byte of the request has left.
  package var isRequestComplete: Bool { sent.hasBegun && sent.isEmpty && writer.hasEnded }

  /// Why the connection can't be used for another request; nil if it can.
  package var closingReason: ClosingReason? {
    switch state {
    case .idle, .ended: facts.closing
    case .head, .body, .failed: facts.closing ?? .unfinished
    }
  }

  /// How the end of the response's body is found; nil before the final head.
  package var framing: ResponseFraming? { facts.framing }
  /// The number of bytes of the request's body that had left when the final response began; nil before its head.
  package var bodySentAtResponse: Int64? { facts.framing == nil ? nil : facts.bodySentAtHead }
  /// Whether the complete request had left when the final response began. If not, the response can't refer to all of it.
  package var isResponseToCompleteRequest: Bool { facts.framing != nil && facts.isHeadToCompleteRequest }
  /// For how many seconds the server keeps the connection if no request comes; nil if it doesn't say so.
  package var idleSeconds: Int64? { facts.idleSeconds }
  /// The number of bytes of the response's body so far.
  package var bodyReceived: Int64 { body.received }
}
