/// How many retries a session allows itself, so that many requests that fail at once don't make things worse.
///
/// Full at the start; each retry takes one out, each success puts a tenth of one back.
package final class RetryBudget: Sendable {
  private static let tenthsPerRetry = 10
  private let capacity: Int
  private let tenths: Guarded<Int>

  package init(_ retries: Int) {
    capacity = min(max(retries, 0), 1_000_000) * Self.tenthsPerRetry
    tenths = Guarded(capacity)
  }

  /// Takes a retry out; false where none is left.
  package func take() -> Bool {
    tenths.withLock { tenths in
      guard tenths >= Self.tenthsPerRetry else { return false }
      tenths -= Self.tenthsPerRetry
      return true
    }
  }

  /// A request was answered by anything but a refusal.
  package func noteSuccess() {
    tenths.withLock { tenths in tenths = min(tenths + 1, capacity) }
  }
}

/// What was learnt of servers: who ignores `Expect: 100-continue`, so that it is waited for in vain once.
final class HostMemory: Sendable {
  private static let maximumCount = 1024
  private let deaf = Guarded<Set<HTTPURL.Origin>>([])

  func ignoresExpectation(_ origin: HTTPURL.Origin) -> Bool {
    deaf.withLock { $0.contains(origin) }
  }

  func note(_ origin: HTTPURL.Origin, ignoresExpectation: Bool) {
    deaf.withLock { deaf in
      if !ignoresExpectation {
        deaf.remove(origin)
      } else if deaf.count < Self.maximumCount {
        deaf.insert(origin)
      }
    }
  }
}
