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
/// again. Under TLS, everything that was received before a write is decrypted and passed before the write is noted: the encrypted bytes
/// are older than what left.
///
/// An exchange belongs to one connection and serves its requests one after the other. It can't be copied: two copies would both
/// begin a request.
package struct ClientExchange: ~Copyable, Sendable {
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
  /// Whether the connection has served a request before.
  var isKept = false
  var rule = ResponseRule.ordinary
  var announcesBody = false
  var expectsContinue = false
  var writer = RequestBodyWriter(.none)
  var sent = SentBytes()

  // The response.
  var reader: HeadReader
  var body: ResponseBodyReader
  var facts = ResponseFacts()
  var unread = UnreadInput()

  package init(limits: ExchangeLimits = ExchangeLimits()) {
    self.limits = limits
    reader = HeadReader(.response, limits.heads)
    body = ResponseBodyReader(.none, limits)
  }

  // MARK: The request

  /// How much of the request has left.
  package var stage: RequestStage {
    if sent.isMiscounted { return .sent }
    if !sent.hasBegun || announcesBody && !sent.hasBegunBody { return .notSent }
    return isRequestComplete || sent.hasBegunLastChunk ? .sent : .partlySent
  }

  /// The number of bytes of the request's head that have left.
  package var headSent: Int64 { sent.head }
  /// The number of bytes of the request's body that have left, without their framing.
  package var bodySent: Int64 { sent.body }
  /// The number of bytes that were written and have not left, with their framing.
  package var pendingBytes: Int64 { sent.pending }

  /// Whether the request's body was written to its end. Some of it may not have left.
  package var isBodyWritten: Bool { writer.hasEnded }

  /// Whether every byte of the request has left.
  package var isRequestComplete: Bool {
    sent.hasBegun && sent.isEmpty && writer.hasEnded && !sent.isMiscounted
  }

  // MARK: The response

  /// Whether a byte of the response arrived: of a head, interim or final. If none did, a kept connection may have died before the
  /// server saw the request.
  package var hasResponseBegun: Bool { facts.hasBegun }
  /// Whether the server asked for the request's body (100).
  package var hasContinued: Bool { facts.hasContinued }
  /// How the end of the response's body is found; nil before the final head.
  package var framing: ResponseFraming? { facts.framing }
  /// How much of the request had left when the final response arrived; nil before its head is complete, because it may be an
  /// interim head. A refusal means no more than this stage: a server can't have acted on what left later.
  ///
  /// Over a kept connection, the first byte of the head decides: a server may send bytes unasked, before it has the request. Over a
  /// new one, the last piece of the head decides: some servers write the first line before they read the body, and the other lines
  /// after it.
  package var stageAtResponse: RequestStage? { facts.framing == nil ? nil : facts.mark.stage }
  /// The number of bytes of the request's body that had left when the final response arrived; nil before its head is complete.
  package var bodySentAtResponse: Int64? { facts.framing == nil ? nil : facts.mark.body }
  /// Whether the complete request had left when the final response arrived. If not, the response can't refer to all of it, and a
  /// success confirms nothing.
  package var isResponseToCompleteRequest: Bool {
    facts.framing != nil && facts.mark.isComplete && !sent.isMiscounted
  }
  /// Whether the next bytes that arrive decide what had left at the response, as far as is known yet.
  package var marksNextInput: Bool { state == .head && (!isKept || !facts.hasHeadBegun) }
  /// The number of bytes of the response's body so far.
  package var bodyReceived: Int64 { body.received }
  /// Whether nothing of the response is still to come. This may be true before the event `end`, which needs no more input.
  package var isResponseComplete: Bool { state == .ended || state == .body && body.isAtEnd }
  /// The status of a final response that can't be read because it doesn't say clearly how long its body is; nil otherwise.
  package var unreadableStatus: Int? { facts.unreadableStatus }
  /// The head of such a response.
  package var refusedHead: ResponseHead? { facts.unreadableStatus == nil ? nil : reader.head }

  // MARK: The connection

  /// Why the connection can't be used for another request; nil if it can.
  package var closingReason: ClosingReason? {
    switch state {
    case .idle, .ended: facts.closing
    case .head, .body, .failed: facts.closing ?? .unfinished
    }
  }

  /// For how many seconds the server keeps the connection if no request comes, at most a day; nil if it doesn't say so.
  package var idleSeconds: Int64? { facts.idleSeconds }
  /// For how many seconds the connection may be kept for another request: a second less than the server says, because the request
  /// needs time on its way.
  package var reuseSeconds: Int64? { facts.idleSeconds.map { max($0 - 1, 0) } }
  /// Whether the connection is a tunnel now (a 2xx to CONNECT). The bytes that follow belong to the tunnel, and stay in the input.
  package var isTunnel: Bool { facts.isTunnel }
  /// Whether bytes followed the response. In a tunnel, they are bytes that the other side sent before ours.
  package var hasSurplus: Bool { facts.hasSurplus }
}
