import Foundation

/// Dates as HTTP writes them.
package enum HTTPDate {
  /// The moment that a text names, in seconds since 1970; nil if it names none.
  ///
  /// RFC 9110 §5.6.7: IMF-fixdate, and the two obsolete formats, which a recipient must accept. libcurl also reads others that
  /// are as clear, such as `6 Nov 1994` and `19941106 08:49`.
  package static func seconds(_ text: String) -> Int64? { curlDate(text) }

  /// The moment that a text names; nil if it names none.
  static func date(_ text: String) -> Date? {
    seconds(text).map { Date(timeIntervalSince1970: TimeInterval($0)) }
  }

  /// IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Nil if the year does not have four digits.
  package static func text(ofSeconds seconds: Int64) -> String? {
    // From the year 0001 to 9999.
    guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
  }
}
