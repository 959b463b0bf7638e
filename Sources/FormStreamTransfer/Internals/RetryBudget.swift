import FormStreamMultipart

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

/// What was learnt of servers: who ignores `Expect: 100-continue`, so that it is waited for in vain once, and who
/// speaks HTTP/1.0, which knows no chunks.
final class HostMemory: Sendable {
  private struct Notes {
    var deaf: Set<HTTPURL.Origin> = []
    var old: Set<HTTPURL.Origin> = []
  }

  private static let maximumCount = 1024
  private let notes = Guarded(Notes())

  func ignoresExpectation(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.deaf.contains(origin) }
  }

  /// libcurl speaks HTTP/1.0, too, on a connection where that was spoken to it.
  func speaksOldHTTP(_ origin: HTTPURL.Origin) -> Bool {
    notes.withLock { $0.old.contains(origin) }
  }

  func note(_ origin: HTTPURL.Origin, ignoresExpectation: Bool) {
    notes.withLock { Self.note(origin, ignoresExpectation, in: &$0.deaf) }
  }

  func note(_ origin: HTTPURL.Origin, speaksOldHTTP: Bool) {
    notes.withLock { Self.note(origin, speaksOldHTTP, in: &$0.old) }
  }

  private static func note(
    _ origin: HTTPURL.Origin, _ isSo: Bool, in origins: inout Set<HTTPURL.Origin>
  ) {
    if !isSo {
      origins.remove(origin)
    } else if origins.count < maximumCount {
      origins.insert(origin)
    }
  }
}
