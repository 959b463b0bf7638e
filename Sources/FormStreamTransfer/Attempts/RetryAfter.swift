import FormStreamPlatform
package import Foundation

/// How long a server asks the client to wait with `Retry-After`.
package enum RetryAfter {
  /// RFC 9110 §10.2.3: Retry-After = HTTP-date / delay-seconds. Nil if the header is missing or
  /// malformed.
  package static func duration(_ headers: HTTPHeaders, now: Date = Date()) -> Duration? {
    guard let value = headers["Retry-After"] else { return nil }
    if value.isASCIIDigits {
      // A number that overflows is longer than any client waits.
      return .seconds(Int64(value) ?? 1_000_000_000)
    }
    guard let date = httpDate(value) else { return nil }
    return .milliseconds(Int64(min(max(date.timeIntervalSince(now), 0), 1e9) * 1000))
  }

  /// RFC 9110 §5.6.7: IMF-fixdate, and the two obsolete formats, which a recipient must accept.
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
