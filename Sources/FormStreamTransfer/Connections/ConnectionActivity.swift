import FormStreamPlatform

/// When a connection last served its request: it sent or received, or waited for the network or the server.
///
/// If it only waits for the program, which gives no bytes or reads none, those who wait for the connection may wait for ever.
final class ConnectionActivity: Sendable {
  private struct State {
    var last = ContinuousClock.now
    /// How many things are done with files meanwhile.
    var work = 0
  }

  private let state = Guarded(State())

  /// Notes that the connection serves its request now.
  func note() {
    state.withLock { $0.last = .now }
  }

  /// Begins something that counts until `endWork`, however long it takes.
  func beginWork() {
    state.withLock { $0.work += 1 }
  }

  func endWork() {
    state.withLock { state in
      state.work -= 1
      state.last = .now
    }
  }

  /// How long the connection has only waited for the program.
  var timeHeldUp: Duration {
    state.withLock { $0.work > 0 ? .zero : $0.last.duration(to: .now) }
  }
}
