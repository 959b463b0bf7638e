import FormStreamPlatform

/// How many retries a session allows, so that many failing requests don't overload a server in trouble.
///
/// The budget is full at the start. Each retry uses one retry of the budget; each success adds a tenth of a retry.
package final class RetryBudget: Sendable {
  private static let tenthsPerRetry = 10
  private let capacity: Int
  private let tenths: Guarded<Int>

  package init(_ retries: Int) {
    capacity = min(max(retries, 0), 1_000_000) * Self.tenthsPerRetry
    tenths = Guarded(capacity)
  }

  /// Uses one retry; returns false if none is left.
  package func take() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= Self.tenthsPerRetry else { return false }
      tenths -= Self.tenthsPerRetry
      return true
    }
  }

  /// Gives retries back that were not in vain: an upload has gone on with each.
  func giveBack(_ retries: Int) {
    tenths.withLock { tenths in
      tenths = min(tenths + min(max(retries, 0), capacity) * Self.tenthsPerRetry, capacity)
    }
  }

  /// Notes a response that isn't a refusal for overload.
  package func noteSuccess() {
    tenths.withLock { tenths in tenths = min(tenths + 1, capacity) }
  }
}
