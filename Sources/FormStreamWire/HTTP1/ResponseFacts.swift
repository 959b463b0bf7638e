/// What an exchange has seen of a response. These are numbers only, so that they can be set back at once.
struct ResponseFacts: Sendable {
  /// Whether a byte of any head arrived.
  private(set) var hasBegun = false
  /// Whether a byte of the current head arrived.
  private(set) var hasHeadBegun = false
  /// What had left of the request when the piece of the current head that decides arrived.
  private(set) var mark = SentMark()

  var hasInterim = false
  /// Whether the server asked for the body (100).
  var hasContinued = false
  /// The interim heads since a byte of the request's body moved.
  var interimHeads = 0
  /// The bytes of these heads.
  var interimBytes = 0

  var framing: ResponseFraming?
  var idleSeconds: Int64?
  /// Whether the connection is a tunnel now.
  var isTunnel = false
  /// The status of a final head that doesn't say clearly how long its body is.
  var unreadableStatus: Int?
  /// Whether bytes followed the response.
  private(set) var hasSurplus = false
  /// Why the connection can't be used after this response; nil if it can.
  private(set) var closing: ClosingReason?

  /// Notes a reason. The first one is kept.
  mutating func note(_ reason: ClosingReason?) { closing = closing ?? reason }

  /// Notes that bytes followed the response.
  mutating func noteSurplus() {
    hasSurplus = true
    note(.surplus)
  }

  /// Notes that bytes of a head arrived, and what had left then.
  mutating func receiveHead(_ mark: SentMark) {
    self.mark = mark
    (hasBegun, hasHeadBegun) = (true, true)
  }

  /// Notes that an interim head ended. Another head follows.
  mutating func endInterimHead() {
    (hasHeadBegun, hasInterim) = (false, true)
  }
}
