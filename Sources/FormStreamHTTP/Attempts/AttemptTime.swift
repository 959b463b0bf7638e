import FormStreamPlatform

/// The time that an attempt takes before it is sent: to wait for a connection, and to measure the body and read it ahead. This
/// time counts toward the attempt's limit.
final class AttemptTime: Sendable {
  /// The limit of each attempt; nil if there is none.
  let limit: Duration?
  private let spent = Guarded(Duration.zero)

  init(limit: Duration?) {
    self.limit = limit
  }

  /// The time that is left of the limit; nil if there is no limit.
  var left: Duration? { limit.map { max($0 - spent.withLock(\.self), .zero) } }

  /// Adds the time that something takes.
  nonisolated(nonsending) func spend<Value: Sendable>(
    on work: nonisolated(nonsending) () async -> Value
  ) async -> Value {
    let start = ContinuousClock.now
    let value = await work()
    spent.withLock { $0 += start.duration(to: .now) }
    return value
  }

  /// Returns the time that was spent, and starts again for the next attempt.
  func take() -> Duration {
    spent.withLock { spent in
      defer { spent = .zero }
      return spent
    }
  }
}
