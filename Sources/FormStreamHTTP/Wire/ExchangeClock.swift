/// The moments that an exchange's time limits are measured from.
struct ExchangeClock {
  private let start: ContinuousClock.Instant
  /// When the exchange itself began.
  private let begin = ContinuousClock.now
  /// The time from `begin` to the first byte of a response; nil before that byte.
  private(set) var timeToFirstByte: Duration?
  private var lastMovement = ContinuousClock.now
  /// When the last byte of the body was handed over; nil before that.
  private var bodyEnd: ContinuousClock.Instant?
  /// The counts at the last movement.
  private var counts: (handedOver: Int64, received: Int64) = (0, 0)

  /// - Parameter waited: how long the attempt has waited already.
  init(waited: Duration) {
    start = .now - waited
  }

  /// The time since the exchange began.
  var time: Duration { begin.duration(to: .now) }

  var timeSinceMovement: Duration { lastMovement.duration(to: .now) }

  /// Notes that bytes were sent or received, or that a wait without a time limit ended.
  mutating func noteMovement() {
    lastMovement = .now
  }

  /// Notes that a line of a response's head has arrived.
  mutating func noteHeadLine() {
    noteMovement()
    timeToFirstByte = timeToFirstByte ?? begin.duration(to: lastMovement)
  }

  /// Notes a movement if a count has changed.
  mutating func note(handedOver: Int64, received: Int64) {
    guard counts != (handedOver, received) else { return }
    counts = (handedOver, received)
    lastMovement = .now
  }

  /// Notes the end of the body, unless it was noted before.
  mutating func noteBodyEnd() {
    bodyEnd = bodyEnd ?? .now
  }

  /// Starts to wait for a response again, because another request without a body is sent.
  mutating func restartWaitForResponse() {
    bodyEnd = .now
  }

  /// What an exchange is doing; this decides which time limits apply.
  enum Activity {
    /// The exchange is paused, or waits for the program or for a connection. libcurl limits the wait for a connection.
    case waitingForOthers
    /// The exchange sends, or waits for a response.
    case beforeResponse
    case receiving
  }

  /// The time that is left of an attempt with this limit; negative if the limit is exceeded.
  func timeLeft(of limit: Duration) -> Duration { limit - start.duration(to: .now) }

  /// Returns an error if the limit of the attempt is exceeded.
  func exceededAttempt(of limits: TimeLimits, to url: HTTPURL) -> TransferError? {
    guard let limit = limits.attempt, timeLeft(of: limit) <= .zero else { return nil }
    return .tookTooLong(url, limit)
  }

  /// Returns an error if a limit is exceeded.
  func exceededLimit(
    of limits: TimeLimits, during activity: Activity, to url: HTTPURL
  ) -> TransferError? {
    let now = ContinuousClock.now
    if let error = exceededAttempt(of: limits, to: url) { return error }
    if activity == .waitingForOthers { return nil }
    if activity == .beforeResponse, let bodyEnd {
      guard let limit = limits.response, now - bodyEnd > limit else { return nil }
      return .noResponseInTime(url, limit)
    }
    guard let limit = limits.stall, now - lastMovement > limit else { return nil }
    return .stalled(url, limit)
  }
}
