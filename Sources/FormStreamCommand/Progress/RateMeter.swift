/// The speed of a transfer, as a moving average over the last seconds: it falls during a stall, and shows the new speed
/// soon after the stall.
package struct RateMeter: Sendable {
  /// How far the average reaches back.
  package static let window = Duration.seconds(5)
  /// The shortest time with a rate. In less time, the rate would only show how fast the system's buffers fill.
  package static let minimumTime = Duration.milliseconds(500)
  /// The least time between two points, so that there are at most 51 of them.
  private static let interval = Duration.milliseconds(100)

  private var points: [(time: ContinuousClock.Instant, bytes: Int64)] = []

  package init() {}

  /// Starts again: earlier points don't count.
  package mutating func restart(at time: ContinuousClock.Instant, bytes: Int64) {
    points = [(time, bytes)]
  }

  /// Adds a point: the number of bytes so far, and the time.
  package mutating func add(_ bytes: Int64, at time: ContinuousClock.Instant) {
    if let last = points.last, time - last.time < Self.interval { return }
    points.append((time, bytes))
    // One point at or before the start of the window stays, because the average starts there.
    let start = time - Self.window
    let first = points.lastIndex { $0.time <= start } ?? 0
    points.removeFirst(first)
  }

  /// Bytes a second; nil if it is too early for a rate.
  package func rate(_ bytes: Int64, at time: ContinuousClock.Instant) -> Double? {
    guard let first = points.first, time - first.time >= Self.minimumTime else { return nil }
    return Double(bytes - first.bytes) / ((time - first.time) / .seconds(1))
  }
}
