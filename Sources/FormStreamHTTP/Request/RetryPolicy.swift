/// How many times a request is sent, and how long to wait between attempts.
///
/// Only requests that the server can't have carried out are repeated: requests that were not sent, requests that were sent in
/// part (the announced length shows the server that they are incomplete), and requests that were refused with 429 or 503. A
/// request that was sent completely and got no response is repeated only if carrying it out twice does no harm: if its method
/// is idempotent, if it has an idempotency key, or if `retriesUnsafe` is set.
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts, including the first.
  public var attempts: Int
  /// The maximum wait before the second attempt. The maximum doubles with each further attempt; the actual wait is random.
  public var baseDelay: Duration = .seconds(1)
  /// The limit for the maximum wait, however often it doubles.
  public var maximumDelay: Duration = .seconds(30)
  /// The wait before each further attempt; if nil, the wait is random.
  public var fixedDelay: Duration?
  /// The longest `Retry-After` of a server to wait for. If the server asks for a longer wait, the transfer ends.
  public var maximumRetryAfter: Duration = .seconds(120)
  /// How long after the start of the transfer an attempt may begin; no limit if nil.
  public var timeLimit: Duration?
  /// If a server that keeps an unfinished upload (``TransferOptions/resumption``) doesn't respond, or refuses with 503 and
  /// `Retry-After` to go on with it, how long the server is tried, however many attempts that takes; nil if ``attempts`` are the limit
  /// then, too.
  ///
  /// The time begins with the first failure since the server has received more of the upload. An answer to a question about the upload
  /// doesn't end it. ``attempts`` are made in any case, and ``timeLimit`` ends the time earlier. The waits are those of this policy, but
  /// random ones are at most 15 seconds. These attempts take nothing out of the session's retry budget.
  public var patience: Duration?
  /// Whether a request is repeated although the server may have carried it out.
  public var retriesUnsafe = false
  /// Whether a request that only reads is repeated even after failures that are not transient, such as a 404.
  package var retriesAllFailures = false

  /// The statuses that refuse a request before it is carried out, so that it may always be repeated.
  package static let refusalsBeforeWork: Set<Int> = [429, 503]
  /// The statuses that don't say whether the request was carried out. The request is then repeated only if carrying it out
  /// twice does no harm.
  package static let unclearRefusals: Set<Int> = [408, 425, 500]
  /// The statuses with which a gateway says that it lost the server behind it. The server may have carried out the request. A
  /// gateway also uses 503 for this, but without `Retry-After`.
  static let gatewayFailures: Set<Int> = [502, 504, 522, 524]
  /// The statuses with which a proxy refuses a tunnel for now. Nothing of the request was sent.
  static let temporaryTunnelRefusals: Set<Int> = [408, 429, 500, 502, 503, 504]

  /// Creates a policy; with one attempt, nothing is repeated.
  public init(attempts: Int = 1) {
    self.attempts = attempts
  }
}
