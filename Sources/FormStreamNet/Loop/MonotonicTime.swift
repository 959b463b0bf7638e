import FormStreamPlatform

/// A moment on the system's monotonic clock, which nobody can set. The clock stands still while the machine sleeps.
package struct MonotonicTime: Comparable, Hashable, Sendable {
  /// The nanoseconds since the machine was started.
  package let nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Later than all other moments.
  package static let never = MonotonicTime(nanoseconds: .max)

  /// This moment.
  ///
  /// C: `clock_gettime(CLOCK_MONOTONIC)`
  package static var now: MonotonicTime { MonotonicTime(nanoseconds: monotonicNanoseconds()) }

  package static func < (one: MonotonicTime, other: MonotonicTime) -> Bool { one.nanoseconds < other.nanoseconds }

  /// The moment after a time, which counts as at least 0 and at most a hundred years.
  package static func + (moment: MonotonicTime, time: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = time.bounded.components
    // A hundred years are less than half of what fits.
    let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    return overflow ? .never : MonotonicTime(nanoseconds: sum)
  }

  /// The time between two moments.
  package static func - (one: MonotonicTime, other: MonotonicTime) -> Duration {
    let (difference, overflow) = one.nanoseconds.subtractingReportingOverflow(other.nanoseconds)
    return overflow ? .longestWait : .nanoseconds(difference)
  }
}
