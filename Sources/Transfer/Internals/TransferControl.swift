/// What a person wants of a request: that it waits, goes on, or ends. They may say so at any time, also between
/// two attempts.
final class TransferControl: Sendable {
  private struct State {
    var isPaused = false
    var isCancelled = false
    var exchange: Exchange?
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let engine: Engine
  private let state = Guarded(State())

  init(_ engine: Engine) {
    self.engine = engine
  }

  var isCancelled: Bool { state.withLock(\.isCancelled) }

  func pause() {
    let exchange = state.withLock { state in
      state.isPaused = true
      return state.exchange
    }
    if let exchange { engine.setPaused(exchange, true) }
  }

  func resume() {
    let (exchange, waiting) = state.withLock { state in
      state.isPaused = false
      defer { state.waiting = nil }
      return (state.exchange, state.waiting)
    }
    if let exchange { engine.setPaused(exchange, false) }
    waiting?.resume()
  }

  func cancel() {
    let (exchange, waiting) = state.withLock { state in
      state.isCancelled = true
      defer { state.waiting = nil }
      return (state.exchange, state.waiting)
    }
    if let exchange { engine.cancel(exchange) }
    waiting?.resume()
  }

  /// Waits while a person wants that nothing is begun.
  func passPause() async {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if !state.isPaused || state.isCancelled { return true }
        state.waiting = continuation
        return false
      }
      if goesOn { continuation.resume() }
    }
  }

  /// Has the engine drive an exchange, and waits for its end. Where the request was called off, it ends at
  /// once; the wait itself can't be.
  func drive(_ exchange: Exchange) async -> Exchange.End {
    let end = await withCheckedContinuation { continuation in
      // Told to the engine before anybody else can be: what they want of it comes behind.
      engine.start(exchange) { continuation.resume(returning: $0) }
      let (isCancelled, isPaused) = state.withLock { state in
        state.exchange = exchange
        return (state.isCancelled, state.isPaused)
      }
      if isPaused { engine.setPaused(exchange, true) }
      if isCancelled { engine.cancel(exchange) }
    }
    state.withLock { $0.exchange = nil }
    return end
  }
}
