import Foundation

/// Dates as HTTP writes them.
enum HTTPDate {
  /// RFC 9110 §5.6.7: IMF-fixdate, and the two obsolete formats, which a recipient must accept. Nil if the text is
  /// something else.
  static func date(_ text: String) -> Date? {
    for format in [
      "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ] {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
