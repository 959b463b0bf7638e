import FormStreamPlatform

/// Pauses, resumes and cancels a request, at any time and from any thread, even between two attempts.
final class TransferControl: Sendable {
  private struct State {
    var isPaused = false
    var isCancelled = false
    var running: (exchange: any Exchange, engine: Engine)?
    /// The task that waits for the end of a pause.
    var waiting: CheckedContinuation<Void, Never>?
    /// Ends the wait for a blocking operation. The operation itself goes on.
    var abandon: (@Sendable () -> Void)?

    /// Passes `isPaused` on to the engine. Called under the lock, so that the engine gets the changes in their order.
    func passPauseOn() {
      if let running { running.engine.setPaused(running.exchange, isPaused) }
    }
  }

  /// How long a request that was cancelled waits until its last bytes are written: those of a partial file, or those of a
  /// resume file. Without them, the result can't say how to continue. But a disk that hangs must not hold up the request.
  static let closingTime = Duration.milliseconds(500)

  /// Where the request's own tasks run.
  private let engine: Engine
  private let state = Guarded(State())

  init(_ engine: Engine) {
    self.engine = engine
  }

  var isCancelled: Bool { state.withLock(\.isCancelled) }
  var isPaused: Bool { state.withLock(\.isPaused) }

  func pause() {
    state.withLock { state in
      state.isPaused = true
      state.passPauseOn()
    }
  }

  func resume() {
    let waiting = state.withLock { state in
      state.isPaused = false
      state.passPauseOn()
      return state.waiting.take()
    }
    waiting?.resume()
  }

  func cancel() {
    let (running, waiting, abandon) = state.withLock { state in
      state.isCancelled = true
      defer { (state.waiting, state.abandon) = (nil, nil) }
      return (state.running, state.waiting, state.abandon)
    }
    if let running { running.engine.cancel(running.exchange) }
    waiting?.resume()
    abandon?()
  }

  /// If the request is paused, waits until it is resumed or cancelled.
  func waitWhilePaused() async {
    guard state.withLock({ $0.isPaused }) else { return }
    await withCheckedContinuation { continuation in
      let mayContinue = state.withLock { state in
        if !state.isPaused || state.isCancelled { return true }
        state.waiting = continuation
        return false
      }
      if mayContinue { continuation.resume() }
    }
  }

  /// The threads for code that may block.
  var workers: WorkerThreads { engine.workers }

  /// Runs a function that may block (on a disk or a pipe) on a separate thread. Returns nil as soon as the request is cancelled
  /// or the time limit is over; the value that the function returns later is dropped.
  ///
  /// - Parameters:
  ///   - grace: how long to wait for the function after the request is cancelled.
  ///   - interrupt: makes the function return soon. Called on a separate thread if this method returns nil.
  @discardableResult
  nonisolated(nonsending) func performBlocking<Value: Sendable>(
    atMost limit: Duration?, grace: Duration? = nil,
    interruptedBy interrupt: (@Sendable () -> Void)? = nil, _ body: @escaping @Sendable () -> Value
  ) async -> Value? {
    let value = await wait(atMost: limit, grace: grace) { end in
      if !engine.workers.run({ _ = end(body()) }) { _ = end(body()) }
    }
    if value == nil, let interrupt, !engine.workers.run(interrupt) { interrupt() }
    return value
  }

  /// Asks the program for a decision. The program's code runs in a task of its own, because the request's tasks run on the
  /// engine's thread, which the program's code must not block. Returns nil as soon as the request is cancelled; the task of the
  /// program's code is then cancelled, too.
  func ask<Value: Sendable>(
    _ decide: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error>? {
    var task: Task<Void, Never>?
    let answer: Result<Value, any Error>? = await wait(atMost: nil) { end in
      task = Task.detached {
        do { _ = end(.success(try await decide())) } catch { _ = end(.failure(error)) }
      }
    }
    if answer == nil { task?.cancel() }
    return answer
  }

  /// Reports a retry to the program. The program's code runs on a separate thread, because the code may block, or wait for
  /// other requests.
  func announce(
    _ retry: TransferRetry, to willRetry: (@Sendable (TransferRetry) -> Void)?
  ) async {
    guard let willRetry else { return }
    await performBlocking(atMost: nil) { willRetry(retry) }
  }

  /// A wait for a value, which ends when the value is there, or when a timer fires.
  private struct Waiting<Value: Sendable> {
    var continuation: CheckedContinuation<Value?, Never>?
    /// The timers are cancelled when the wait ends, because they run on the engine, and the engine may end after the wait.
    var timers: [Task<Void, Never>] = []
  }

  /// Waits for a value. Returns nil as soon as the request is cancelled or the time limit is over.
  ///
  /// - Parameters:
  ///   - grace: how long to wait for the value if the request is cancelled, during this call or before it.
  ///   - begin: begins the work that calls `end` with the value. `end` returns false if nothing waits for the value any more.
  nonisolated(nonsending) func wait<Value: Sendable>(
    atMost limit: Duration?, grace: Duration? = nil,
    _ begin: (_ end: @escaping @Sendable (Value?) -> Bool) -> Void
  ) async -> Value? {
    let value = await withCheckedContinuation {
      (continuation: CheckedContinuation<Value?, Never>) in
      let waiting = Guarded(Waiting(continuation: continuation))
      let end: @Sendable (Value?) -> Bool = { value in
        let ended = waiting.withLock { waiting in
          defer { waiting = Waiting() }
          return waiting
        }
        for timer in ended.timers { timer.cancel() }
        ended.continuation?.resume(returning: value)
        return ended.continuation != nil
      }
      let endLater: @Sendable (Duration) -> Void = { [engine] delay in
        waiting.withLock { waiting in
          guard waiting.continuation != nil else { return }
          let timer = Task(executorPreference: engine.loop) {
            if (try? await Task.sleep(for: delay)) != nil { _ = end(nil) }
          }
          waiting.timers.append(timer)
        }
      }
      let abandon: @Sendable () -> Void = {
        if let grace { endLater(grace) } else { _ = end(nil) }
      }
      let isCancelled = state.withLock { state in
        state.abandon = abandon
        return state.isCancelled
      }
      if isCancelled {
        abandon()
        if grace == nil { return }
      }
      if let limit { endLater(limit) }
      begin(end)
    }
    state.withLock { $0.abandon = nil }
    return value
  }

  /// Makes an engine drive an exchange, and returns its result. If the request is cancelled, the exchange ends at once.
  nonisolated(nonsending) func run(_ exchange: any Exchange, on engine: Engine) async -> ExchangeResult {
    let result = await withCheckedContinuation { continuation in
      // The start is posted before other threads can see the exchange, so that the engine carries out their commands after the
      // start.
      engine.start(exchange) { continuation.resume(returning: $0) }
      let isCancelled = state.withLock { state in
        state.running = (exchange, engine)
        if state.isPaused { state.passPauseOn() }
        return state.isCancelled
      }
      if isCancelled { engine.cancel(exchange) }
    }
    state.withLock { $0.running = nil }
    return result
  }
}

extension TransferControl {
  /// Waits between two attempts; returns false if the request was cancelled meanwhile.
  func sleep(_ delay: Duration) async -> Bool {
    do {
      try await Task.sleep(for: delay)
      return !isCancelled
    } catch {
      return false
    }
  }
}
