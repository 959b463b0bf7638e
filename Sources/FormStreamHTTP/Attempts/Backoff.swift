import FormStreamPlatform

/// How long to wait before a request is sent again.
package enum Backoff {
  /// Returns a random duration from zero up to a bound that doubles with each attempt ("full jitter"), so that clients that
  /// failed at the same time don't retry at the same time.
  ///
  /// - Parameter attempt: the number of the next attempt, from 2.
  package static func wait(
    before attempt: Int, _ policy: RetryPolicy,
    using generator: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: 0...bound(before: attempt, policy), using: &generator))
  }

  /// The longest wait before an attempt, in milliseconds.
  package static func bound(before attempt: Int, _ policy: RetryPolicy) -> Int64 {
    // 20 doublings exceed any sensible maximum, and the shift can't overflow.
    let doublings = min(max(attempt - 2, 0), 20)
    let base = min(max(policy.baseDelay.milliseconds, 0), 86_400_000)
    return min(base << Int64(doublings), max(policy.maximumDelay.milliseconds, 0))
  }

  /// Returns the wait that the server asked for, or else the policy's fixed delay, or else a random delay. A `Retry-After` of
  /// zero is ignored, so that the client doesn't retry at once again and again.
  package static func wait(
    before attempt: Int, _ policy: RetryPolicy, retryAfter: Duration? = nil
  ) -> Duration {
    if let retryAfter, retryAfter > .zero { return retryAfter.bounded }
    if let fixedDelay = policy.fixedDelay { return fixedDelay.bounded }
    var generator = SystemRandomNumberGenerator()
    return wait(before: attempt, policy, using: &generator)
  }
}
