import FormStreamPlatform

/// Remembers the number that each name was last stored with. Without this memory, a thousand files of one name would try a
/// thousand names each, and files that arrive at the same time would all try the same name.
///
/// The number only says where to begin trying. The system decides whether a name is free.
final class LastNumbers<Name: Hashable & Sendable>: Sendable {
  /// When this many names are remembered, all names are forgotten. Names with the longest paths take some megabytes.
  private let maximumRemembered = 1024

  private let numbers = Guarded<[Name: Int]>([:])

  /// The number that the name had last; nil if none is remembered.
  func last(for name: Name) -> Int? { numbers.withLock { $0[name] } }

  func remember(_ number: Int, for name: Name) {
    numbers.withLock { remember(number, for: name, in: &$0) }
  }

  /// The number to try next: greater than `tried`, and returned to no other caller.
  func next(for name: Name, after tried: Int) -> Int {
    numbers.withLock { numbers in
      let next = max(numbers[name] ?? 1, tried) + 1
      remember(next, for: name, in: &numbers)
      return next
    }
  }

  private func remember(_ number: Int, for name: Name, in numbers: inout [Name: Int]) {
    if numbers[name] == nil, numbers.count >= maximumRemembered { numbers.removeAll() }
    numbers[name] = number
  }
}
