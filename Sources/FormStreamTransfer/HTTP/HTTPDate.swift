import Foundation

/// Dates as HTTP writes them.
package enum HTTPDate {
  /// The moment that a text names, in seconds since 1970; nil if it names none. These are the formats of HTTP, and all that
  /// libcurl can read, such as `6 Nov 1994` and `19941106 08:49`.
  package static func seconds(_ text: String) -> Int64? { curlDate(text) }

  /// The moment that a text names in one of HTTP's formats; nil if it is something else.
  ///
  /// RFC 9110 §5.6.7: HTTP-date = IMF-fixdate / obs-date, obs-date = rfc850-date / asctime-date. All of them have a second.
  static func date(_ text: String) -> Date? {
    guard
      text.wholeMatch(of: /[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9:]{8} GMT/) != nil
        || text.wholeMatch(of: /[A-Za-z]{6,9}, [0-9]{2}-[A-Za-z]{3}-[0-9]{2} [0-9:]{8} GMT/) != nil
        || text.wholeMatch(of: /[A-Za-z]{3} [A-Za-z]{3} [ 0-9][0-9] [0-9:]{8} [0-9]{4}/) != nil
    else { return nil }
    return seconds(text).map { Date(timeIntervalSince1970: TimeInterval($0)) }
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
