import FormStreamPlatform

/// Remembers the number that each destination was last stored with. Without it, a thousand files of one name would try
/// a thousand names each, and files that arrive at once would all try the same one.
///
/// It only says where to begin. The system decides whether a name is free.
final class LastNumbers: Sendable {
  /// When this many destinations are remembered, all are forgotten. With the longest names they take some megabytes.
  private static let maximumRemembered = 1024

  private let numbers = Guarded<[SafePath: Int]>([:])

  /// The number to try next: greater than `tried`, and returned to no other caller.
  func next(for destination: SafePath, after tried: Int) -> Int {
    numbers.withLock { numbers in
      let next = max(numbers[destination] ?? 1, tried) + 1
      if numbers[destination] == nil, numbers.count >= Self.maximumRemembered {
        numbers.removeAll()
      }
      numbers[destination] = next
      return next
    }
  }
}
