/// The middle of some numbers, and their spread.
struct Spread {
  let median, low, high: Double

  /// - Parameter numbers: not empty.
  init(_ numbers: [Double]) {
    let sorted = numbers.sorted()
    median = Self.median(ofSorted: sorted)
    (low, high) = (sorted.first ?? median, sorted.last ?? median)
  }

  fileprivate init(median: Double, low: Double, high: Double) {
    (self.median, self.low, self.high) = (median, low, high)
  }

  fileprivate static func median(ofSorted sorted: [Double]) -> Double {
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The ratio of two programs' numbers, and the range in which the true ratio lies. The numbers have the order of the rounds.
  ///
  /// The numbers of a round are measured one after the other, so what slows the machine for a while slows both. The range is that
  /// of a sign test: the true median is outside of it in fewer than 1 of 15 cases, whatever the distribution. So with fewer than
  /// five rounds there is no such range, and none is shown.
  static func ratio(of numbers: [Double], to others: [Double]) -> (spread: Spread, isSafe: Bool) {
    let ratios = zip(numbers, others).map { $0 / $1 }.sorted()
    let median = median(ofSorted: ratios)
    let count = ratios.count
    // The chance that the true median is outside of the range without the `left` outermost numbers at each end: twice that of so
    // few heads among `count` coins.
    var (left, chance, binomial) = (-1, 0.0, 1.0)
    var total = 1.0
    for _ in 0..<count { total *= 2 }
    for heads in 0..<(count / 2) {
      chance += 2 * binomial / total
      guard chance < 1.0 / 15 else { break }
      left = heads
      binomial *= Double(count - heads) / Double(heads + 1)
    }
    guard left >= 0 else {
      return (Spread(median: median, low: ratios.first ?? median, high: ratios.last ?? median), false)
    }
    return (Spread(median: median, low: ratios[left], high: ratios[count - 1 - left]), true)
  }
}
