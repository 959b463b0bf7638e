import FormStreamPlatform

/// The states of a request's progress that one listener gets. The sequence stays on its caller's actor, unlike the sequence of
/// `AsyncStream`.
///
/// The states end with the request, with the task that waits for them, or with this object.
final class ProgressListener: AsyncSequence, Sendable {
  typealias Element = TransferProgress

  let states: WaitingProgress
  private let onEnd: @Sendable () -> Void

  /// - Parameter onEnd: called when nothing can ask for states any more.
  init(_ states: WaitingProgress, onEnd: @escaping @Sendable () -> Void) {
    (self.states, self.onEnd) = (states, onEnd)
  }

  deinit { onEnd() }

  func makeAsyncIterator() -> TransferProgressUpdates.AsyncIterator {
    TransferProgressUpdates.AsyncIterator(listener: self)
  }

  func next(isolation actor: isolated (any Actor)?) async -> TransferProgress? {
    await withTaskCancellationHandler {
      await states.next(isolation: actor)
    } onCancel: {
      states.finish()
    }
  }
}

/// The states that one listener has not got yet.
final class WaitingProgress: Sendable {
  private struct State {
    var states: ArraySlice<TransferProgress> = []
    var isFinished = false
    /// The tasks that wait for a state.
    var readers: [CheckedContinuation<TransferProgress?, Never>] = []
  }

  private let capacity: Int
  private let state = Guarded(State())

  /// - Parameter capacity: how many states may wait. If more come, a new state replaces the oldest.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Adds a state. The publisher calls this under its own lock.
  func add(_ progress: TransferProgress) {
    let reader: CheckedContinuation<TransferProgress?, Never>? = state.withLock { state in
      if state.isFinished { return nil }
      if !state.readers.isEmpty { return state.readers.removeFirst() }
      if state.states.count == capacity { state.states.removeFirst() }
      state.states.append(progress)
      return nil
    }
    reader?.resume(returning: progress)
  }

  /// Ends the sequence after the states that wait.
  func finish() {
    let readers = state.withLock { state in
      state.isFinished = true
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume(returning: nil) }
  }

  fileprivate func next(isolation actor: isolated (any Actor)?) async -> TransferProgress? {
    await withCheckedContinuation { continuation in
      let next: TransferProgress?? = state.withLock { state in
        if !state.states.isEmpty { return .some(state.states.removeFirst()) }
        if state.isFinished { return .some(nil) }
        state.readers.append(continuation)
        return nil
      }
      if let next { continuation.resume(returning: next) }
    }
  }
}
