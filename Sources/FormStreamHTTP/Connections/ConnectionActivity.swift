import FormStreamPlatform

/// When a connection last served its request: it sent or received, or waited for the network or the server.
///
/// A connection may also wait for the program, if the program writes no body or reads no response. Requests that wait for such
/// a connection may wait for ever.
final class ConnectionActivity: Sendable {
  private struct State {
    var last = ContinuousClock.now
    /// How many pieces of work with files have begun and not ended.
    var work = 0
  }

  private let state = Guarded(State())

  /// Notes that the connection serves its request now.
  func note() {
    state.withLock { $0.last = .now }
  }

  /// Begins work that counts as serving the request until `endWork`, however long it takes.
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
