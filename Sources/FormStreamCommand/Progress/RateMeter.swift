/// How fast bytes go, as a moving average over the last seconds: after a stall it tells the stall, and soon
/// after it the new rate, not the mean of all that was.
package struct RateMeter: Sendable {
  /// How far it looks back.
  package static let window = Duration.seconds(5)
  /// Over less than this there is no rate: what the system takes into its buffers at once is not the line's.
  package static let least = Duration.milliseconds(500)
  /// Closer points tell nothing more; so there are never more than 51 of them.
  private static let step = Duration.milliseconds(100)

  private var points: [(time: ContinuousClock.Instant, bytes: Int64)] = []

  package init() {}

  /// Begins anew: what was before does not count.
  package mutating func restart(at time: ContinuousClock.Instant, bytes: Int64) {
    points = [(time, bytes)]
  }

  /// Notes how many bytes there are by now.
  package mutating func note(_ bytes: Int64, at time: ContinuousClock.Instant) {
    if let last = points.last, time - last.time < Self.step { return }
    points.append((time, bytes))
    // One point at or before the window's start stays: the average reaches back to there.
    let start = time - Self.window
    let first = points.lastIndex { $0.time <= start } ?? 0
    points.removeFirst(first)
  }

  /// Bytes a second; nil where it can't be told yet.
  package func rate(_ bytes: Int64, at time: ContinuousClock.Instant) -> Double? {
    guard let first = points.first, time - first.time >= Self.least else { return nil }
    return Double(bytes - first.bytes) / ((time - first.time) / .seconds(1))
  }
}
