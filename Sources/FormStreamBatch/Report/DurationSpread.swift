import func Glibc.exp2
import func Glibc.log2

/// How durations are spread, without keeping each of them: how many there are of about the same length.
package struct DurationSpread: Sendable {
  /// With 16 groups, the longest duration of a group is 4.5 % longer than the longest of the group before.
  private static let groupsPerDoubling = 16.0
  private var groups = [Int](repeating: 0, count: 64 * 16)
  private var count = 0
  /// The longest duration, in nanoseconds.
  package private(set) var longest: Int64 = 0

  mutating func add(_ nanoseconds: Int64) {
    let nanoseconds = max(nanoseconds, 1)
    groups[Int(log2(Double(nanoseconds)) * Self.groupsPerDoubling)] += 1
    count += 1
    longest = max(longest, nanoseconds)
  }

  /// The duration that a share of all durations doesn't exceed, or up to 4.5 % more; nil if there are none.
  package func quantile(_ share: Double) -> Duration? {
    var rest = max(1, Int((Double(count) * share).rounded(.up)))
    for (index, number) in groups.enumerated() where number > 0 {
      rest -= number
      guard rest <= 0 else { continue }
      let limit = exp2(Double(index + 1) / Self.groupsPerDoubling)
      return .nanoseconds(min(longest, Int64(exactly: limit.rounded()) ?? longest))
    }
    return nil
  }
}
