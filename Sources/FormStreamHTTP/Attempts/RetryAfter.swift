package import FormStreamMultipart
import FormStreamPlatform

/// How long a server asks the client to wait with `Retry-After`.
package enum RetryAfter {
  /// RFC 9110 §10.2.3: Retry-After = HTTP-date / delay-seconds. Nil if the header is missing or
  /// malformed.
  ///
  /// - Parameter now: the time since 1970.
  package static func duration(
    _ headers: HTTPHeaders, now: Duration = timeSince1970()
  ) -> Duration? {
    guard let value = headers["Retry-After"] else { return nil }
    if value.isASCIIDigits {
      // A number that overflows is longer than any client waits.
      return min(.seconds(Int64(value) ?? .max), longest)
    }
    guard let date = HTTPDate.strictSeconds(value, now: now) else { return nil }
    return min(max(.seconds(date) - now, .zero), longest)
  }

  /// The longest wait, more than 30 years. Longer waits are shortened to it.
  private static let longest = Duration.seconds(1_000_000_000)

  /// The duration as messages show it: in full seconds, as in the settings, followed by larger units if the duration is
  /// long.
  static func text(_ duration: Duration) -> String {
    if duration >= longest { return "more than 30 years" }
    let (whole, rest) = duration.components
    let seconds = max(rest > 0 ? whole + 1 : whole, 0)
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400)
    if hours == 0 { return "\(seconds) s" }
    if hours < 48 { return "\(seconds) s (\(hours) h \(minutes % 60) min)" }
    return "\(seconds) s (\(days) days)"
  }
}
