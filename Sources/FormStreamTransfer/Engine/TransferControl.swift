import FormStreamPlatform

/// Pauses, resumes and cancels a request, at any time and from any thread, also between two attempts.
final class TransferControl: Sendable {
  private struct State {
    var isPaused = false
    var isCancelled = false
    var exchange: Exchange?
    /// The task that waits for the end of a pause.
    var waiting: CheckedContinuation<Void, Never>?
    /// Ends the wait for a blocking operation, which itself goes on.
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

  /// Waits until the request is resumed or cancelled, if it is paused.
  func waitWhilePaused() async {
    await withCheckedContinuation { continuation in
      let mayContinue = state.withLock { state in
        if !state.isPaused || state.isCancelled { return true }
        state.waiting = continuation
        return false
      }
      if mayContinue { continuation.resume() }
    }
  }

  /// Runs a function that may block, on a disk or a pipe, on a separate thread. Returns nil as soon as the request is
  /// cancelled or the time limit is over; the function can't be interrupted, and its result is then dropped.
  func performBlocking<Value: Sendable>(
    atMost limit: Duration?, _ body: @escaping @Sendable () -> Value
  ) async -> Value? {
    var timer: Task<Void, Never>?
    defer { timer?.cancel() }
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
      if let limit {
        timer = Task(executorPreference: engine) {
          if (try? await Task.sleep(for: limit)) != nil { end(nil) }
        }
      }
      if !engine.workers.run({ end(body()) }) { end(body()) }
    }
    state.withLock { $0.abandon = nil }
    return value
  }

  /// Makes the engine drive an exchange, and returns its result. If the request is cancelled, the exchange ends at
  /// once.
  func run(_ exchange: Exchange) async -> ExchangeResult {
    let result = await withCheckedContinuation { continuation in
      // Posted before others can see the exchange: their commands are carried out after the start.
      engine.start(exchange) { continuation.resume(returning: $0) }
      let (isCancelled, isPaused) = state.withLock { state in
        state.exchange = exchange
        return (state.isCancelled, state.isPaused)
      }
      if isPaused { engine.setPaused(exchange, true) }
      if isCancelled { engine.cancel(exchange) }
    }
    state.withLock { $0.exchange = nil }
    return result
  }
}
