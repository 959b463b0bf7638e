/// How often a request is tried, and when again.
///
/// Tried again is only what can't have been carried out: what was not sent, what was sent in part (the
/// announced length shows the server that it is not whole), and what was refused with 429 or 503. A request
/// that went out whole and got no answer is tried again only where twice is as good as once: for idempotent
/// methods, with an idempotency key, or where `retriesUnsafe` says so.
public struct RetryPolicy: Sendable, Hashable {
  /// How often at most the request is sent, the first time included.
  public var attempts: Int
  /// The wait before the second attempt is drawn from nothing up to this; it doubles each time.
  public var baseDelay: Duration = .seconds(1)
  /// What the wait is drawn from at the most.
  public var maximumDelay: Duration = .seconds(30)
  /// How long the server may make us wait by Retry-After: longer, and the transfer ends as it is.
  public var maximumRetryAfter: Duration = .seconds(120)
  /// How long after the start an attempt may begin; no limit where nil.
  public var timeLimit: Duration?
  /// Whether a request whose fate is unknown is sent again, whatever that does.
  public var retriesUnsafe = false

  /// A request is tried once unless `attempts` says otherwise.
  public init(attempts: Int = 1) {
    self.attempts = attempts
  }
}

/// Where a request may be sent on to.
///
/// Only http and https are followed, and never from https to http. To another origin go no headers of the
/// request's own, no cookies and no credentials.
public struct RedirectPolicy: Sendable, Hashable {
  /// How many are followed.
  public var limit = 5
  /// Whether another origin is gone to.
  public var allowsOtherOrigins = false

  /// Up to five, within the origin.
  public init() {}
}
