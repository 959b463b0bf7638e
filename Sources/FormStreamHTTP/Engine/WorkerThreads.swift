import FormStreamPlatform

/// Threads for work that may block, such as reading from a disk or a pipe. The engine's thread must never do that.
///
/// A thread that is done waits a while for other work, so that many small requests don't each start a thread. Work that blocks
/// keeps its thread, and other work gets another thread.
final class WorkerThreads: Sendable {
  /// How long a thread waits for work before it ends.
  private static let idleTime = Duration.seconds(5)

  private struct State {
    /// The threads without work; the thread that worked last is at the end.
    var idle: [Worker] = []
    var isStopped = false
  }

  /// A thread.
  private final class Worker: @unchecked Sendable {
    let wakeUp = AutoResetEvent()
    /// Set under the lock of `state` before `wakeUp` is signaled.
    var work: (@Sendable () -> Void)?

    init(_ work: @escaping @Sendable () -> Void) {
      self.work = work
    }
  }

  private let state = Guarded(State())

  /// Runs `work` on one of the threads, at once. Returns false if the system can't start another thread.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    let worker = state.withLock { state in
      let worker = state.idle.popLast()
      worker?.work = work
      return worker
    }
    if let worker {
      worker.wakeUp.signal()
      return true
    }
    let first = Worker(work)
    return startThread("formstream-work", { [self] in serve(first) })
  }

  /// Runs code that may block on one of the threads, and waits for it, even if the task is cancelled.
  func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      // If there is no thread, this thread has to wait for the code.
      if !run({ continuation.resume(returning: body()) }) { continuation.resume(returning: body()) }
    }
  }

  /// Ends the threads that have no work, and all others after their work.
  func stop() {
    let idle = state.withLock { state in
      state.isStopped = true
      return state.idle
    }
    for worker in idle { worker.wakeUp.signal() }
  }

  private func serve(_ worker: Worker) {
    // Work may write to a pipe of the caller.
    ignoreBrokenPipesOnThisThread()
    while let work = nextWork(for: worker) { work() }
  }

  /// Waits for work; returns nil if the thread must end.
  private func nextWork(for worker: Worker) -> (@Sendable () -> Void)? {
    let first = state.withLock { state in
      if worker.work == nil { state.idle.append(worker) }
      return worker.work.take()
    }
    if let first { return first }
    while worker.wakeUp.wait(atMost: Self.idleTime) {
      let (work, isStopped) = state.withLock { (worker.work.take(), $0.isStopped) }
      if let work { return work }
      if isStopped { break }
      // Otherwise, the signal came after an earlier wait had timed out, and its work was taken then, at the end of this
      // function.
    }
    return state.withLock { state in
      state.idle.removeAll { $0 === worker }
      return worker.work.take()
    }
  }
}
