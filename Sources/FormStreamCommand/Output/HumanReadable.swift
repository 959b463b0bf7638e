import FormStreamBatch

/// Sizes, rates and times in the form that people read. Sizes are rounded down, so they never show more than was sent.
package enum HumanReadable {
  private static let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// A number of bytes in at most four digits: `17 B`, `1.2 GiB`, `123 MiB`.
  package static func size(_ bytes: Int64) -> String {
    guard bytes >= 1024 else { return "\(max(bytes, 0)) B" }
    var (unit, divisor) = (0, 1024 as UInt64)
    while unit < units.count - 1, bytes.magnitude / divisor >= 1024 {
      (unit, divisor) = (unit + 1, divisor * 1024)
    }
    let (whole, rest) = bytes.magnitude.quotientAndRemainder(dividingBy: divisor)
    return whole < 10
      ? "\(whole).\(rest * 10 / divisor) \(units[unit])" : "\(whole) \(units[unit])"
  }

  /// A number of bytes a second.
  package static func rate(_ bytesPerSecond: Double) -> String {
    "\(size(Int64(exactly: bytesPerSecond.rounded(.down)) ?? (bytesPerSecond > 0 ? .max : 0)))/s"
  }

  /// A time in at most two units: `31 s`, `2 min 05 s`, `1 h 02 min`, `4 d 05 h`. It is rounded up to full seconds, so
  /// the last value before the end is `1 s`.
  package static func time(_ duration: Duration) -> String {
    let (whole, rest) = duration.components
    let seconds = max(whole.addingClamped(rest > 0 ? 1 : 0), 0)
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400)
    if minutes == 0 { return "\(seconds) s" }
    if hours == 0 { return "\(minutes) min \(twoDigits(seconds % 60)) s" }
    if days == 0 { return "\(hours) h \(twoDigits(minutes % 60)) min" }
    return "\(days) d \(twoDigits(hours % 24)) h"
  }

  /// A time that has passed: `12 ms`, `3.4 s`, `31 s`, `2 min 05 s`. It is rounded to the last digit shown.
  package static func elapsed(_ duration: Duration) -> String {
    let (whole, rest) = max(duration, .zero).components
    let milliseconds = (rest + 500_000_000_000_000) / 1_000_000_000_000_000
    if whole == 0, milliseconds < 1000 { return "\(milliseconds) ms" }
    let tenths = (rest + 50_000_000_000_000_000) / 100_000_000_000_000_000
    if whole < 10, whole + tenths / 10 < 10 { return "\(whole + tenths / 10).\(tenths % 10) s" }
    return time(.seconds(rest < 500_000_000_000_000_000 ? whole : whole.addingClamped(1)))
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  /// How much of `total` is done, in percent, rounded down; nil if there is nothing to do.
  package static func percentage(of total: Int64, done: Int64) -> Int? {
    guard total > 0 else { return nil }
    guard done < total else { return 100 }
    // The product may have more than 64 bits; the quotient is below 100.
    return Int(total.dividingFullWidth(max(done, 0).multipliedFullWidth(by: 100)).quotient)
  }
}
