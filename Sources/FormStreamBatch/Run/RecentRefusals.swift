/// Which of the last requests were refused with 429 or 503.
struct RecentRefusals {
  /// How many results are remembered.
  private static let capacity = 64

  /// A bit for each result, 1 for a refusal. The lowest bit is the last result.
  private var bits: UInt64 = 0
  private var count = 0

  mutating func note(isRefused: Bool) {
    bits = bits << 1 | (isRefused ? 1 : 0)
    count = min(count + 1, Self.capacity)
  }

  /// Whether so many requests were refused that the server is overloaded: a few in a row, or half of all that are
  /// remembered. If a third of all requests fail by chance, as with a broken machine among several, this happens now and then,
  /// and costs a second.
  ///
  /// - Parameter concurrency: how many requests there are at the same time. If there are many, chance brings more refusals in
  ///   a row in the same time.
  func areMany(among concurrency: Int) -> Bool {
    let row = min(max(concurrency / 2, 4), 8)
    return (~bits).trailingZeroBitCount >= row
      || count == Self.capacity && bits.nonzeroBitCount >= Self.capacity / 2
  }
}
