/// When the files of a manifest were sent, by the first lines of its journals and the times of their last lines. The times are in
/// nanoseconds since 1970.
struct SendingPeriod: Hashable {
  /// When the first run began. It is later than ``last`` if there was no run.
  private(set) var first = Int64.max
  /// When the last line was written.
  private(set) var last = Int64.min

  init() {}

  init(first: Int64, last: Int64) {
    (self.first, self.last) = (first, last)
  }

  /// Adds a run.
  ///
  /// - Parameter begun: when it began; nil if that is not known.
  mutating func add(from begun: Int64?, to end: Int64) {
    first = min(first, begun ?? end)
    last = max(last, end)
  }
}
