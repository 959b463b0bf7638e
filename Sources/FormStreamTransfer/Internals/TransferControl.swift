import FormStreamMultipart

/// What a person wants of a request: that it waits, goes on, or ends. They may say so at any time, also between
/// two attempts.
final class TransferControl: Sendable {
  private struct State {
    var isPaused = false
    var isCancelled = false
    var exchange: Exchange?
    var waiting: CheckedContinuation<Void, Never>?
    /// Ends the wait for what can't be called back.
    var abandon: (@Sendable () -> Void)?
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
    let (exchange, waiting, abandon) = state.withLock { state in
      state.isCancelled = true
      defer { (state.waiting, state.abandon) = (nil, nil) }
      return (state.exchange, state.waiting, state.abandon)
    }
    if let exchange { engine.cancel(exchange) }
    waiting?.resume()
    abandon?()
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

  /// Does what may have to wait for a disk or a pipe, on a thread that no tasks share; nil as soon as the request
  /// is called off. What can't be called back goes on, and comes to nothing.
  func unlessCancelled<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async -> Value? {
    let value = await withCheckedContinuation {
      (continuation: CheckedContinuation<Value?, Never>) in
      let waiting = Guarded<CheckedContinuation<Value?, Never>?>(continuation)
      let end: @Sendable (Value?) -> Void = { value in
        waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }?.resume(returning: value)
      }
      let isCancelled = state.withLock { state in
        state.abandon = { end(nil) }
        return state.isCancelled
      }
      if isCancelled { return end(nil) }
      if !startThread("formstream-wait", { end(body()) }) { end(body()) }
    }
    state.withLock { $0.abandon = nil }
    return value
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
