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
    guard let date = HTTPDate.date(value) else { return nil }
    return .milliseconds(Int64(min(max(date.timeIntervalSince(now), 0), 1e9) * 1000))
  }
}
