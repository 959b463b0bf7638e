import FormStreamMultipart
import FormStreamPlatform

/// Remembers the number of each directory whose own name is taken by a file. Without it, a thousand files of that name
/// would be tried for each upload into the directory.
///
/// It only says where to begin. The system decides what a name is.
final class DirectoryNumbers: Sendable {
  /// When this many directories are remembered, all are forgotten. With the longest paths they take some megabytes.
  private static let maximumRemembered = 1024

  private let numbers = Guarded<[LocalPath: Int]>([:])

  /// The number that the directory had last; nil if none is remembered.
  func last(for directory: LocalPath) -> Int? { numbers.withLock { $0[directory] } }

  func remember(_ number: Int, for directory: LocalPath) {
    numbers.withLock { numbers in
      if numbers[directory] == nil, numbers.count >= Self.maximumRemembered { numbers.removeAll() }
      numbers[directory] = number
    }
  }
}
