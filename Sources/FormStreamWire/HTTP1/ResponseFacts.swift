/// What an exchange has seen of a response. These are numbers only, so that they can be set back at once.
struct ResponseFacts: Sendable {
  /// Whether a byte of the current head arrived.
  var hasHeadBegun = false
  /// How much of the request's body had left when the first byte of the current head arrived.
  var bodySentAtHead: Int64 = 0
  /// Whether the complete request had left then.
  var isHeadToCompleteRequest = false

  var hasInterim = false
  /// The interim heads since a byte of the request's body moved.
  var interimHeads = 0
  /// The bytes of these heads.
  var interimBytes = 0

  var framing: ResponseFraming?
  var idleSeconds: Int64?
  /// Why the connection can't be used after this response; nil if it can.
  private(set) var closing: ClosingReason?

  /// Notes a reason. The first one is kept.
  mutating func note(_ reason: ClosingReason?) { closing = closing ?? reason }
}
