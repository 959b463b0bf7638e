import FormStreamPlatform

/// The requests that a loop over ``TransferResults`` has started, and the results that wait for the loop. Releasing this object
/// cancels the requests.
final class StartedRequests: Sendable {
  private typealias Ended = (index: Int, result: TransferResult)

  private struct State {
    /// The requests that have not ended, by their places in the sequence.
    var running: [Int: TransferTask<TransferResult>] = [:]
    var ended: [Ended] = []
    /// The loop, if it waits for a result.
    var loop: CheckedContinuation<Ended?, Never>?
    var isCancelled = false
  }

  /// The tasks that wait for results refer to the state, and not to this object.
  private let state = Guarded(State())

  deinit { Self.cancel(state) }

  /// Whether another request may be started. Requests whose results wait for the loop count.
  func mayStart(_ limit: Int) -> Bool {
    state.withLock { !$0.isCancelled && $0.running.count + $0.ended.count < limit }
  }

  func start(_ request: TransferRequest, number: Int, in session: TransferSession) {
    let task = session.start(request)
    state.withLock { $0.running[number] = task }
    Task(executorPreference: task.run.engine.loop) { [state] in
      let result = await task.result
      let loop = state.withLock { state in
        state.running[number] = nil
        guard let loop = state.loop.take() else {
          state.ended.append((number, result))
          return nil as CheckedContinuation<Ended?, Never>?
        }
        return loop
      }
      loop?.resume(returning: (number, result))
    }
  }

  /// The result that has waited for longest, or else the next one; nil if no request is left. If the task is cancelled, so are
  /// the requests, and their results follow.
  func next(isolation actor: isolated (any Actor)?) async -> (index: Int, result: TransferResult)? {
    await withTaskCancellationHandler {
      _ = actor
      return await withCheckedContinuation { loop in
        let (isReady, ended) = state.withLock { state -> (Bool, Ended?) in
          if !state.ended.isEmpty { return (true, state.ended.removeFirst()) }
          if state.running.isEmpty { return (true, nil) }
          state.loop = loop
          return (false, nil)
        }
        if isReady { loop.resume(returning: ended) }
      }
    } onCancel: {
      Self.cancel(state)
    }
  }

  private static func cancel(_ state: Guarded<State>) {
    let running = state.withLock { state in
      state.isCancelled = true
      return state.running.values.map(\.self)
    }
    for task in running { task.cancel() }
  }
}
