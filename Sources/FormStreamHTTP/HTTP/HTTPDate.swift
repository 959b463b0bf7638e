import FormStreamPlatform

/// Dates as HTTP writes them.
package enum HTTPDate {
  /// The moment that a text names, in seconds since 1970; nil if the text names none. The text may be in one of the formats of
  /// HTTP, or in any other format that libcurl can read, such as `6 Nov 1994` and `19941106 08:49`.
  package static func seconds(_ text: String) -> Int64? { curlDate(text) }

  /// The moment that a text names in one of HTTP's formats, in seconds since 1970; nil if the text has another format.
  static func strictSeconds(_ text: String) -> Int64? {
    formats.contains { isText(text, of: $0) } ? seconds(text) : nil
  }

  /// RFC 9110 §5.6.7: HTTP-date = IMF-fixdate / obs-date, obs-date = rfc850-date / asctime-date. All of these formats have
  /// seconds. `0` stands for a digit, `a` for a letter, `:` for a digit or a colon, and `_` for a digit or a space.
  private static let formats =
    ["aaa, 00 aaa 0000 :::::::: GMT", "aaa aaa _0 :::::::: 0000"]
    + (6...9).map { String(repeating: "a", count: $0) + ", 00-aaa-00 :::::::: GMT" }

  private static func isText(_ text: String, of format: String) -> Bool {
    guard text.utf8.count == format.utf8.count else { return false }
    return zip(text.utf8, format.utf8).allSatisfy { byte, place in
      switch place {
      case UInt8(ascii: "0"): byte.isASCIIDigit
      case UInt8(ascii: "a"): byte.isASCIILetterOrDigit && !byte.isASCIIDigit
      case UInt8(ascii: ":"): byte.isASCIIDigit || byte == place
      case UInt8(ascii: "_"): byte.isASCIIDigit || byte == UInt8(ascii: " ")
      default: byte == place
      }
    }
  }

  /// IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Nil if the year does not have four digits.
  package static func text(ofSeconds seconds: Int64) -> String? {
    // From the year 0001 to 9999.
    guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
    // Days are counted from the beginning of the range, a Monday, so that nothing below is negative.
    let (days, time) = (seconds + 62_135_596_800).quotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = date(afterYearOne: Int(days))
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded(Int($0), to: 2) }
    return
      "\(weekdays[Int(days % 7)]), \(padded(day, to: 2)) \(months[month]) \(padded(year, to: 4)) "
      + "\(clock.joined(separator: ":")) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The year, the month from 0, and the day from 1, of a day of the Gregorian calendar. Days are counted from the 1st of
  /// January of the year 1.
  private static func date(afterYearOne days: Int) -> (year: Int, month: Int, day: Int) {
    // 400 years have 97 leap days. They have one day more than 4 periods of 100 years, and 4 years have one day more than 4
    // periods of 365 days. This extra day is the last day of the 4 or 400 years. Without the limit `most`, the division would
    // count a fifth period on the extra day, although the extra day belongs to the fourth.
    var (year, rest) = (1, days)
    for (years, length, most) in [(400, 146_097, 24), (100, 36_524, 3), (4, 1461, 24), (1, 365, 3)] {
      let count = min(rest / length, most)
      year += count * years
      rest -= count * length
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    var month = 0
    for length in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
      guard rest >= length else { break }
      rest -= length
      month += 1
    }
    return (year, month, rest + 1)
  }

  private static func padded(_ number: Int, to count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(count - digits.count, 0)) + digits
  }
}
