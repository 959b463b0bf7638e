/// A moment in UTC, as people and servers write it: `Sun, 06 Nov 1994 08:49:37 GMT`, `6 Nov 1994`, `1994-11-06T08:49:37Z`,
/// `19941106 08:49`.
struct CalendarTime: Hashable, Sendable {
  /// Since 1970.
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  /// Nil if the text is something else. Without a time of day it is midnight, without a zone UTC.
  init?(_ text: String) {
    var fields = Fields()
    for word in text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "\t" }) {
      guard fields.take(String(word)) else { return nil }
    }
    guard let year = fields.year, let month = fields.month, let day = fields.day,
      (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    seconds = Self.day(year, month, day) * 86_400 + (fields.time ?? 0) - (fields.zone ?? 0)
  }

  /// RFC 9110 §5.6.7: IMF-fixdate = day-name "," SP date1 SP time-of-day SP GMT.
  var httpDate: String {
    let number = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let time = seconds - number * 86_400
    let (year, month, day) = Self.date(number)
    // 1 January 1970 was a Thursday.
    let weekday = Self.weekdays[Int(((number + 3) % 7 + 7) % 7)]
    let words = [time / 3600, time / 60 % 60, time % 60].map { Self.padded($0, 2) }
    return "\(weekday), \(Self.padded(Int64(day), 2)) \(Self.months[month - 1]) "
      + "\(Self.padded(Int64(year), 4)) \(words.joined(separator: ":")) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }

  /// What the words of a text say.
  private struct Fields {
    var year: Int?
    var month: Int?
    var day: Int?
    /// The time of day, and how far the zone is before UTC, in seconds.
    var time: Int64?
    var zone: Int64?

    /// Takes a word. Returns false if it says nothing, or what was said already.
    mutating func take(_ word: String) -> Bool {
      if let match = word.wholeMatch(of: /([0-9]{4})-?([0-9]{2})-?([0-9]{2})([Tt](.+))?/) {
        guard setDate(match.output.1, Int(match.output.2), match.output.3) else { return false }
        return match.output.5.map { takeTime($0) } ?? true
      }
      if let match = word.wholeMatch(of: /([0-9]{1,2})-([A-Za-z]{3})-([0-9]{2}|[0-9]{4})/) {
        return setDate(match.output.3, CalendarTime.month(match.output.2), match.output.1)
      }
      if word.contains(":"), zone == nil, time == nil { return takeTime(word[...]) }
      if word.allSatisfy(\.isASCIIDigit) { return takeNumber(word) }
      if let named = CalendarTime.month(word[...]) {
        defer { month = named }
        return month == nil
      }
      return takeZone(word[...]) || CalendarTime.isWeekday(word)
    }

    private mutating func setDate(
      _ year: Substring, _ month: Int?, _ day: Substring
    ) -> Bool {
      guard self.year == nil, self.month == nil, self.day == nil else { return false }
      (self.year, self.month, self.day) = (CalendarTime.year(year), month, Int(day))
      return (1...12).contains(month ?? 0)
    }

    private mutating func takeNumber(_ word: String) -> Bool {
      if word.count <= 2, day == nil {
        day = Int(word)
        return true
      }
      guard year == nil, word.count == 2 || word.count == 4 else { return false }
      year = CalendarTime.year(word[...])
      return true
    }

    private mutating func takeTime(_ text: Substring) -> Bool {
      guard time == nil,
        let match = text.wholeMatch(
          of: /([0-9]{1,2}):([0-9]{2})(:([0-9]{2})(\.[0-9]+)?)?([Zz+\-].*)?/),
        let hours = Int64(match.output.1), let minutes = Int64(match.output.2), hours < 24,
        minutes < 60
      else { return false }
      let seconds = match.output.4.flatMap { Int64($0) } ?? 0
      guard seconds <= 60 else { return false }
      time = hours * 3600 + minutes * 60 + seconds
      return match.output.6.map { takeZone($0) } ?? true
    }

    private mutating func takeZone(_ text: Substring) -> Bool {
      guard zone == nil else { return false }
      if ["gmt", "utc", "ut", "z"].contains(text.lowercased()) {
        zone = 0
        return true
      }
      guard time != nil, let match = text.wholeMatch(of: /([+\-])([0-9]{2}):?([0-9]{2})/),
        let hours = Int64(match.output.2), let minutes = Int64(match.output.3), hours < 24,
        minutes < 60
      else { return false }
      zone = (hours * 3600 + minutes * 60) * (match.output.1 == "-" ? -1 : 1)
      return true
    }
  }

  private static func year(_ digits: Substring) -> Int? {
    guard let year = Int(digits) else { return nil }
    guard digits.count == 2 else { return year }
    return year + (year < 70 ? 2000 : 1900)
  }

  private static func month(_ word: Substring) -> Int? {
    let word = word.lowercased()
    guard let index = months.firstIndex(where: { word.hasPrefix($0.lowercased()) }) else {
      return nil
    }
    let names = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september",
      "october", "november", "december",
    ]
    return word.count == 3 || names[index] == word ? index + 1 : nil
  }

  private static func isWeekday(_ word: String) -> Bool {
    let names = [
      "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    let word = word.lowercased()
    return names.contains { $0 == word || $0.prefix(3) == word }
  }

  // MARK: The calendar

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: isLeap(year) ? 29 : 28
    default: 31
    }
  }

  /// The number of a day since 1 January 1970. A year begins in March here, so that a leap day is its last day.
  private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
    let years = Int64(month > 2 ? year : year - 1)
    let months = Int64((month + 9) % 12)
    let before = years * 365 + floored(years, 4) - floored(years, 100) + floored(years, 400)
    return before + (months * 153 + 2) / 5 + Int64(day) - 1 - 719_468
  }

  private static func date(_ number: Int64) -> (year: Int, month: Int, day: Int) {
    let days = number + 719_468
    let era = floored(days, 146_097)
    let rest = days - era * 146_097
    let years = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365
    let dayOfYear = rest - (years * 365 + years / 4 - years / 100)
    let month = (dayOfYear * 5 + 2) / 153
    let year = years + era * 400 + (month >= 10 ? 1 : 0)
    return (
      Int(year), Int(month < 10 ? month + 3 : month - 9), Int(dayOfYear - (month * 153 + 2) / 5 + 1)
    )
  }

  private static func floored(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : (number - divisor + 1) / divisor
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
