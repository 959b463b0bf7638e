import FormStreamPlatform

/// Dates as HTTP writes them.
package enum HTTPDate {
  /// The moment that a text names, in seconds since 1970; nil if the text names none. The text may be in one of the formats of
  /// HTTP, or in any other format that curl reads, such as `6 Nov 1994` and `19941106 08:49`.
  package static func seconds(_ text: String) -> Int64? { DateExpression.seconds(text) }

  /// The moment that a text names in one of HTTP's formats, in seconds since 1970; nil if the text has another format.
  ///
  /// - Parameter now: the time since 1970, which says which century a year of two digits belongs to.
  static func strictSeconds(_ text: String, now: Duration = timeSince1970()) -> Int64? {
    guard formats.contains(where: { isText(text, of: $0) }) else { return nil }
    // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
    var words = text.utf8.split { " ,-".utf8.contains($0) }
    guard words.count >= 5, isWeekday(words.removeFirst()) else { return nil }
    if !words[0].allSatisfy(\.isASCIIDigit) { words = [words[1], words[0], words[3], words[2]] }
    let numbers = ([words[0], words[2]] + words[3].split(separator: UInt8(ascii: ":")))
      .compactMap { Int(String(Substring($0))) }
    guard numbers.count == 5, let month = CalendarTime.month(named: words[1]) else { return nil }
    let year = words[2].count == 2 ? year(endingIn: numbers[1], now: now) : numbers[1]
    let date = CalendarTime(
      year: year, month: month, day: numbers[0], hour: numbers[2], minute: numbers[3],
      second: numbers[4])
    // RFC 9110 §5.6.7: "60" is for leap seconds.
    guard year > 0, date.isOnCalendar, date.hour < 24, date.minute < 60, date.second <= 60 else {
      return nil
    }
    return date.secondsSince1970
  }

  /// RFC 9110 §5.6.7: "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST interpret a
  /// timestamp that appears to be more than 50 years in the future as representing the most recent year in the past that had
  /// the same last two digits."
  private static func year(endingIn digits: Int, now: Duration) -> Int {
    let days = Int(clamping: (now.components.seconds + daysBefore1970 * 86_400) / 86_400)
    let latest = date(afterYearOne: days).year + 50
    return latest - (latest - digits) % 100
  }

  private static func isWeekday(_ name: Substring.UTF8View) -> Bool {
    let name = String(Substring(name)).lowercased()
    return name.utf8.count == 3 ? weekdays.contains { $0.lowercased() == name } : longWeekdays.contains(name)
  }

  private static let longWeekdays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// RFC 9110 §5.6.7: HTTP-date = IMF-fixdate / obs-date, obs-date = rfc850-date / asctime-date. All of these formats have
  /// seconds. `0` stands for a digit, `a` for a letter, and `_` for a digit or a space.
  private static let formats =
    ["aaa, 00 aaa 0000 00:00:00 GMT", "aaa aaa _0 00:00:00 0000"]
    + (6...9).map { String(repeating: "a", count: $0) + ", 00-aaa-00 00:00:00 GMT" }

  private static func isText(_ text: String, of format: String) -> Bool {
    guard text.utf8.count == format.utf8.count else { return false }
    return zip(text.utf8, format.utf8).allSatisfy { byte, place in
      switch place {
      case UInt8(ascii: "0"): byte.isASCIIDigit
      case UInt8(ascii: "a"): byte.isASCIILetterOrDigit && !byte.isASCIIDigit
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
    let (days, time) = (seconds + daysBefore1970 * 86_400).quotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = date(afterYearOne: Int(days))
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded(Int($0), to: 2) }
    return
      "\(weekdays[Int(days % 7)]), \(padded(day, to: 2)) \(months[month]) \(padded(year, to: 4)) "
      + "\(clock.joined(separator: ":")) GMT"
  }

  /// From the 1st of January of the year 1.
  private static let daysBefore1970: Int64 = 719_162
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
