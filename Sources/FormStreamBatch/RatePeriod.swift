import FormStreamPlatform

/// A largest rate that holds at some time of each day, by the local clock.
public struct RatePeriod: Hashable, Sendable {
  /// When the period begins, in minutes after midnight.
  public var begin: Int
  /// When it ends. If that is not after the beginning, the period lasts over midnight.
  public var end: Int
  /// How many bytes are sent in a second, at most.
  public var rate: Int64

  /// Makes a period.
  public init(from begin: Int, to end: Int, rate: Int64) {
    (self.begin, self.end, self.rate) = (begin, end, rate)
  }

  /// Whether the period has a minute of the day.
  func contains(_ minute: Int) -> Bool {
    begin < end ? (begin..<end).contains(minute) : minute >= begin || minute < end
  }
}

extension RatePeriod {
  /// Parses a period such as `09:00-18:00 2M`; nil if the text is none.
  ///
  /// - Parameter rate: parses the rate.
  package init?(_ text: String, rate: (String) -> Int64?) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, let rate = rate(String(parts[1])), rate > 0 else { return nil }
    let times = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard times.count == 2, let begin = Self.minute(times[0]), let end = Self.minute(times[1])
    else { return nil }
    self.init(from: begin % Self.day, to: end, rate: rate)
  }

  private static let day = 24 * 60

  /// The minutes after midnight of a time such as `09:00`; nil if the text is none.
  private static func minute(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.isASCIIDigits }),
      let hour = UInt8(parts[0]), let minute = UInt8(parts[1]), minute < 60,
      hour < 24 || hour == 24 && minute == 0
    else { return nil }
    return Int(hour) * 60 + Int(minute)
  }
}

extension [RatePeriod] {
  /// The lowest rate that holds now; nil if none does.
  package var currentRate: Int64? {
    guard !isEmpty else { return nil }
    let minute = minuteOfDay()
    return filter { $0.contains(minute) }.map(\.rate).min()
  }
}

extension Batch {
  /// How many bytes all requests together may send in a second, at most; nil for no limit.
  func rate(at minute: @autoclosure () -> Int) -> Int64? {
    let minute = ratePeriods.isEmpty ? 0 : minute()
    let rates = ratePeriods.filter { $0.contains(minute) }.map(\.rate)
    return ([request.options.maximumRate].compactMap(\.self) + rates).min().map { max($0, 1) }
  }
}
