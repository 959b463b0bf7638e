import FormStreamPlatform
package import Foundation

/// How long to wait before a request is tried again.
package enum Backoff {
  /// Full jitter: anything from nothing up to a bound that doubles with each attempt, so that clients which
  /// failed together don't come back together.
  ///
  /// - Parameter attempt: the one that comes, from 2.
  package static func wait(
    before attempt: Int, _ policy: RetryPolicy,
    using generator: inout some RandomNumberGenerator
  ) -> Duration {
    // Beyond any cap long before the shift can overflow.
    let doublings = min(max(attempt - 2, 0), 20)
    let base = min(max(policy.baseDelay.milliseconds, 0), 86_400_000)
    let bound = min(base << Int64(doublings), max(policy.maximumDelay.milliseconds, 0))
    return .milliseconds(Int64.random(in: 0...bound, using: &generator))
  }

  static func wait(before attempt: Int, _ policy: RetryPolicy) -> Duration {
    var generator = SystemRandomNumberGenerator()
    return wait(before: attempt, policy, using: &generator)
  }
}

/// What a server asks for by `Retry-After`.
package enum RetryAfter {
  /// RFC 9110 §10.2.3: Retry-After = HTTP-date / delay-seconds. Nil where there is none, or none that can be
  /// read.
  package static func duration(_ headers: HTTPHeaders, now: Date = Date()) -> Duration? {
    guard let value = headers["Retry-After"] else { return nil }
    if value.isASCIIDigits {
      // A number that is none to us is longer than anybody waits.
      return .seconds(Int64(value) ?? 1_000_000_000)
    }
    guard let date = httpDate(value) else { return nil }
    return .milliseconds(Int64(min(max(date.timeIntervalSince(now), 0), 1e9) * 1000))
  }

  /// RFC 9110 §5.6.7: IMF-fixdate, and the two that are obsolete and must be taken.
  private static func httpDate(_ text: String) -> Date? {
    for format in [
      "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ] {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
