import FormStreamPlatform

/// A date and a time of day of UTC, by the Gregorian calendar.
struct CalendarTime: Hashable {
  /// From 1 on.
  var year: Int
  /// From 1 to 12.
  var month: Int
  /// A day that the month doesn't have is one of the month before or after it.
  var day: Int
  var hour = 0
  var minute = 0
  var second = 0

  /// Negative before 1970.
  var secondsSince1970: Int64 {
    // All callers have checked that the year fits into 32 bits, so that nothing here can overflow.
    let earlier = year - 1
    var days = earlier * 365 + earlier / 4 - earlier / 100 + earlier / 400
    for month in 1..<max(month, 1) { days += Self.length(ofMonth: month, in: year) }
    days += day - 1 - Self.daysBefore1970
    return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
  }

  /// Whether the month has that day.
  var isOnCalendar: Bool { (1...Self.length(ofMonth: month, in: year)).contains(day) }

  /// From the 1st of January of the year 1.
  private static let daysBefore1970 = 719_162

  static func length(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of a month, from 1 on, of which these are the first three letters, in any case; nil if they are of none.
  static func month(named letters: some Collection<UInt8>) -> Int? {
    monthNames.firstIndex { $0.elementsEqual(letters.lazy.map(\.asciiLowercased)) }.map { $0 + 1 }
  }

  private static let monthNames = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ].map { Array($0.utf8) }
}
