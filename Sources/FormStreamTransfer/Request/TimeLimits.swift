/// The time limits of a request; nil means no limit.
public struct TimeLimits: Hashable, Sendable {
  /// For finding and reaching the server.
  public var connect: Duration? = .seconds(30)
  /// For a time without a byte sent or received. Waiting for the body's source or the response's target doesn't count, nor
  /// does a pause.
  ///
  /// It is also the limit for waiting for a connection while those that have the connections to the host move nothing, because
  /// they are paused or wait for the program. While they send, receive or wait for the server, waiting has no limit but
  /// `attempt`.
  public var stall: Duration? = .seconds(60)
  /// From the body's last byte to the response's first.
  public var response: Duration? = .seconds(300)
  /// For a complete attempt, with what comes before it: waiting for a connection, and measuring the body and reading it
  /// ahead. If a body is read once more to repeat the request with its length, that counts for the repetition.
  public var attempt: Duration?

  /// The default limits.
  public init() {}
}
