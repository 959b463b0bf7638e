/// The time limits of a request; nil means no limit.
public struct TimeLimits: Hashable, Sendable {
  /// For finding and reaching the server.
  public var connect: Duration? = .seconds(30)
  /// For a time without a byte sent or received. Waiting for the body's source or the response's target doesn't count, nor
  /// does a pause.
  ///
  /// It also limits how long a request waits for a connection while no request that has one moves a byte, because all of them
  /// are paused or wait for the program. While one of them sends, receives or waits for the server, only `attempt` and
  /// ``RetryPolicy/timeLimit`` limit the wait.
  public var stall: Duration? = .seconds(60)
  /// From the body's last byte to the response's first.
  public var response: Duration? = .seconds(300)
  /// For a complete attempt, with what comes before it: waiting for a connection, and measuring the body and reading it ahead.
  /// If a body is read once more to repeat the request with its length, that time counts for the repetition.
  public var attempt: Duration?

  /// The default limits.
  public init() {}
}
