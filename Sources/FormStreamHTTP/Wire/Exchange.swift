/// One attempt on the wire: sends a request, receives its response, and reports the facts at the end.
///
/// Everything is called on the engine's thread.
protocol Exchange: AnyObject, Sendable {
  /// Called once at the end; set by the engine.
  var completion: ((ExchangeResult) -> Void)? { get set }

  /// Begins. The exchange calls ``Engine/finished(_:)`` when it is over, also if it can't begin.
  func start(on engine: Engine)

  /// Ends the exchange early. Its result waits for the response's target only during the grace period.
  func cutOff(because reason: TransferError)

  func setPaused(_ isPaused: Bool)

  /// The source has bytes again after it had none.
  func sourceHasMore()

  /// The response's target has room, has failed, is complete, or was chosen.
  func targetMoved()

  /// When the request has its turn at a rate that limits it; nil if it does not wait for it.
  var turnBegin: ContinuousClock.Instant? { get }

  /// Reads on if the request has its turn. Returns whether the engine need not call this again.
  func takeTurn() -> Bool

  /// Ends the exchange if a time limit is exceeded, or if nothing useful can follow its response.
  func endIfOverdue()

  /// The time that is left of the attempt; nil if it has no limit.
  var timeLeft: Duration? { get }

  /// Whether the exchange was cut off, and its result waits for the target during the grace period.
  var isInGracePeriod: Bool { get }

  /// Reports the result if the exchange is over and its response was delivered, or if the grace period is over. Returns whether
  /// the result was reported.
  func reportIfDelivered() -> Bool
}
