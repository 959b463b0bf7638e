/// The time limits of a request; nil means no limit.
public struct TimeLimits: Hashable, Sendable {
  /// For finding and reaching the server.
  public var connect: Duration? = .seconds(30)
  /// For a time without a byte sent or received. Waiting for the body's source or the response's target doesn't count, nor
  /// does a pause.
  ///
  /// It also limits how long a request waits for a connection while all requests that have a connection move no byte, because
  /// they are paused or wait for the program. While one of these requests sends, receives or waits for the server, only
  /// `attempt` and ``RetryPolicy/timeLimit`` limit the wait.
  public var stall: Duration? = .seconds(60)
  /// From the body's last byte to the response's first byte.
  public var response: Duration? = .seconds(300)
  /// For a complete attempt, including the steps before it: waiting for a connection, measuring the body, and reading the body
  /// ahead. If the body is read once more for its length, so that the request can be repeated, this time counts for the
  /// repeated attempt.
  public var attempt: Duration?

  /// The default limits.
  public init() {}
}
