import FormStreamPlatform

/// The date of `Expires` (RFC 6265bis §5.1.1). Servers write it in many ways, so only the kinds of its words count.
enum CookieDate {
  /// The moment in seconds since 1970; nil if the text names none.
  static func seconds(_ text: some Collection<UInt8>) -> Int64? {
    var (time, day, month, year): ([Int]?, Int?, Int?, Int?)
    for token in text.split(whereSeparator: isDelimiter) {
      // "Process each date-token sequentially in the order the date-tokens appear in the cookie-date": each is the first of
      // these that was not found before.
      if time == nil, let found = timeOfDay(token) {
        time = found
      } else if day == nil, let found = number(token, digits: 1...2) {
        day = found
      } else if month == nil, let found = CalendarTime.month(named: token.prefix(3)) {
        month = found
      } else if year == nil, let found = number(token, digits: 2...4) {
        year = found
      }
    }
    guard let time, let day, let month, var year else { return nil }
    // "If the year-value is greater than or equal to 70 and less than or equal to 99, increment the year-value by 1900. If the
    // year-value is greater than or equal to 0 and less than or equal to 69, increment the year-value by 2000."
    if year < 100 { year += year < 70 ? 2000 : 1900 }
    let date = CalendarTime(
      year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2])
    guard year >= 1601, date.isOnCalendar, date.hour <= 23, date.minute <= 59, date.second <= 59
    else { return nil }
    return date.secondsSince1970
  }

  /// delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// time = hms-time [ non-digit *OCTET ], hms-time = time-field ":" time-field ":" time-field, time-field = 1*2DIGIT
  private static func timeOfDay(_ token: some Collection<UInt8>) -> [Int]? {
    let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].allSatisfy(\.isASCIIDigit), fields[1].allSatisfy(\.isASCIIDigit) else {
      return nil
    }
    let numbers = fields.compactMap { number($0, digits: 1...2) }
    return numbers.count == 3 ? numbers : nil
  }

  /// The number that a token begins with, if it has so many digits and anything else after them.
  private static func number(_ token: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
    let number = token.prefix(while: \.isASCIIDigit)
    return digits.contains(number.count) ? Int(String(decoding: number, as: UTF8.self)) : nil
  }
}
