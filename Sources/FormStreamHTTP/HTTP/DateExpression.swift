import FormStreamPlatform

/// A date as people and careless servers write it, such as `6 Nov 1994`, `19941106 08:49 +0200` or `Nov 6 08:49:37 1994 CET`.
///
/// It is read as curl 7.88 reads the value of `-z`: at most six words, in nearly any order, with anything between them. Beside
/// the day, the month and the year there may be a weekday, which is not checked, a time of day, and a zone. Unlike curl, a time
/// of day has no signs and no blanks in it.
struct DateExpression {
  private let bytes: [UInt8]
  private var place = 0
  private var hasWeekday = false
  private var year: Int?
  private var month: Int?
  private var day: Int?
  private var time: (hour: Int, minute: Int, second: Int)?
  /// How many seconds the zone is behind UTC.
  private var zone: Int?
  /// Whether the next number is a year, because no day fits any more.
  private var isYearNext = false

  /// The moment in seconds since 1970; nil if the text names none. Without a time of day it is midnight, and without a zone
  /// the date is one of UTC.
  static func seconds(_ text: String) -> Int64? {
    var expression = DateExpression(bytes: Array(text.utf8))
    // C ends texts with a NUL. Nobody writes one into a date.
    guard !expression.bytes.contains(0) else { return nil }
    for _ in 0..<6 where !expression.isAtEnd {
      guard expression.readWord() else { return nil }
    }
    return expression.moment
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var isAtEnd: Bool { place == bytes.count }

  private var moment: Int64? {
    let time = time ?? (0, 0, 0)
    // The Gregorian calendar began in 1582.
    guard let year, let month, let day, year >= 1583, month <= 12, day <= 31, time.hour <= 23,
      time.minute <= 59, time.second <= 60
    else { return nil }
    let date = CalendarTime(
      year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    return date.secondsSince1970 + Int64(zone ?? 0)
  }

  /// Reads the next name, number or time of day. Returns false if it means nothing.
  private mutating func readWord() -> Bool {
    while !isAtEnd, !bytes[place].isASCIILetterOrDigit { place += 1 }
    guard !isAtEnd else { return true }
    return bytes[place].isASCIIDigit ? readTime() || readNumber() : readName()
  }

  // MARK: Names

  private mutating func readName() -> Bool {
    let name = bytes[place...].prefix { $0.isASCIILetterOrDigit && !$0.isASCIIDigit }
    place += name.count
    let word = String(decoding: name, as: UTF8.self).lowercased()
    if !hasWeekday, Self.weekdays.contains(word) {
      hasWeekday = true
    } else if month == nil, let number = CalendarTime.month(named: name) {
      month = number
    } else if zone == nil, let minutes = Self.zones[word] {
      zone = minutes * 60
    } else {
      return false
    }
    return true
  }

  private static let weekdays: Set<String> = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday", "thursday",
    "friday", "saturday", "sunday",
  ]

  /// By name, how many minutes a zone is behind UTC. The names of one letter are those of the military; RFC 822 had their
  /// signs wrong (RFC 1123 §5.2.14).
  private static let zones: [String: Int] = [
    "gmt": 0, "ut": 0, "utc": 0, "wet": 0, "z": 0, "bst": -60,
    "cet": -60, "met": -60, "mewt": -60, "fwt": -60, "mest": -120, "cest": -120, "mesz": -120,
    "fst": -120, "eet": -120, "wat": 60, "ast": 240, "adt": 180, "est": 300, "edt": 240, "cst": 360,
    "cdt": 300, "mst": 420, "mdt": 360, "pst": 480, "pdt": 420, "yst": 540, "ydt": 480, "hst": 600,
    "hdt": 540, "cat": 600, "ahst": 600, "nt": 660, "idlw": 720, "wast": -420, "wadt": -480,
    "cct": -480, "jst": -540, "east": -600, "eadt": -660, "gst": -600, "nzt": -720, "nzst": -720,
    "nzdt": -780, "idle": -720,
    "a": 60, "b": 120, "c": 180, "d": 240, "e": 300, "f": 360, "g": 420, "h": 480, "i": 540,
    "k": 600, "l": 660, "m": 720, "n": -60, "o": -120, "p": -180, "q": -240, "r": -300, "s": -360,
    "t": -420, "u": -480, "v": -540, "w": -600, "x": -660, "y": -720,
  ]

  // MARK: Numbers

  /// Reads a time of day, with seconds or without. Returns false if the next word is none, or if there was one before.
  private mutating func readTime() -> Bool {
    guard time == nil else { return false }
    var reader = self
    guard let hour = reader.readTwoDigits(), reader.skipColon(), let minute = reader.readTwoDigits()
    else { return false }
    self.place = reader.place
    time = (hour, minute, 0)
    if reader.skipColon(), let second = reader.readTwoDigits() {
      self.place = reader.place
      time = (hour, minute, second)
    }
    return true
  }

  /// Reads one digit or two.
  private mutating func readTwoDigits() -> Int? {
    let digits = bytes[place...].prefix(2).prefix(while: \.isASCIIDigit)
    place += digits.count
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private mutating func skipColon() -> Bool {
    guard !isAtEnd, bytes[place] == UInt8(ascii: ":") else { return false }
    place += 1
    return true
  }

  /// Reads a day, a year, a zone in digits, or all of a date in eight digits.
  private mutating func readNumber() -> Bool {
    let digits = bytes[place...].prefix(while: \.isASCIIDigit)
    let sign = place > 0 ? bytes[place - 1] : 0
    place += digits.count
    guard let number = Int32(String(decoding: digits, as: UTF8.self)).map({ Int($0) }) else {
      return false
    }
    // No zone is more than 14 hours before or after UTC.
    if zone == nil, digits.count == 4, number <= 1400, "+-".utf8.contains(sign) {
      let seconds = (number / 100 * 60 + number % 100) * 60
      zone = sign == UInt8(ascii: "+") ? -seconds : seconds
      return true
    }
    if digits.count == 8, year == nil, month == nil, day == nil {
      year = number / 10_000
      // Month 00 is no month, so that a name may still say it.
      month = number % 10_000 / 100 == 0 ? nil : number % 10_000 / 100
      day = number % 100
      return true
    }
    if !isYearNext, day == nil {
      isYearNext = true
      if (1...31).contains(number) {
        day = number
        return true
      }
    }
    guard isYearNext, year == nil else { return false }
    year = number > 99 ? number : number > 70 ? 1900 + number : 2000 + number
    if day == nil { isYearNext = false }
    return true
  }
}
