import FormStreamPlatform

/// The memory that the records of all requests in progress may take together. Without this limit, each of hundreds of
/// clients could send the largest form that the other limits allow.
final class MemoryBudget: Sendable {
  /// How many bytes of each request don't count, so that forms that people fill in are always accepted.
  private static let free = 256 * 1024

  private let total: Int
  private let used = Guarded(0)

  init(_ total: Int) {
    self.total = total
  }

  /// Makes the share of one request. It has no bytes yet.
  func share() -> Share { Share(self) }

  /// The memory of one request. It is given back when this object is released.
  final class Share {
    private let budget: MemoryBudget
    private var size = 0
    /// How many of the request's bytes were taken from the budget.
    private var taken = 0
    /// Whether the budget didn't have the bytes that the request needed.
    private(set) var isExceeded = false

    fileprivate init(_ budget: MemoryBudget) {
      self.budget = budget
    }

    deinit { release() }

    /// Adds bytes.
    ///
    /// - Throws: ``UploadRefusal`` if the budget doesn't have the bytes.
    func grow(by count: Int) throws {
      size += count
      let missing = size - MemoryBudget.free - taken
      guard missing > 0 else { return }
      isExceeded = budget.used.withLock { used in
        guard budget.total - used >= missing else { return true }
        used += missing
        return false
      }
      guard !isExceeded else {
        throw UploadRefusal(
          .overloaded, status: 503,
          "The server has no memory left for the record of so many parts and texts: try again later, or send fewer in "
            + "one request.")
      }
      taken += missing
    }

    /// Gives all bytes back.
    func release() {
      let taken = taken
      if taken > 0 { budget.used.withLock { $0 -= taken } }
      self.taken = 0
      size = 0
    }
  }
}
