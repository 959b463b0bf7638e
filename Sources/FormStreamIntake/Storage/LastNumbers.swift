import FormStreamMultipart
import FormStreamPlatform

/// The number that each name was last stored with, so that a thousand files of one name don't try a thousand
/// names each, nor files that come at once all the same one.
///
/// It only says where to begin: whether a name is free is the system's to say.
final class LastNumbers: Sendable {
  /// All is forgotten when there are so many: of the longest names these are some megabytes.
  private static let maximumRemembered = 1024

  private let numbers = Guarded<[SafePath: Int]>([:])

  /// The number to try next: one that nobody else was given, and above `tried`.
  func next(for place: SafePath, after tried: Int) -> Int {
    numbers.withLock { numbers in
      let next = max(numbers[place] ?? 1, tried) + 1
      if numbers[place] == nil, numbers.count >= Self.maximumRemembered { numbers.removeAll() }
      numbers[place] = next
      return next
    }
  }
}
