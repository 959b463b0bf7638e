import FormStreamPlatform

/// Threads that run the tasks of a batch: opening and sniffing files may block, on a disk or another machine, and the
/// threads that all tasks of the process share must never do that.
final class PreparingThreads: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    /// The jobs before this index have been taken.
    var taken = 0
    var isStopped = false

    var hasJob: Bool { taken < jobs.count }
  }

  private let state = Guarded(State())

  /// Starts the threads. Returns nil if the system has none left.
  init?(_ count: Int) {
    for _ in 0..<count where !startThread("formstream-prep", { [self] in serve() }) {
      stop()
      return nil
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { job in state.withLock { $0.jobs.append(job) } }
  }

  /// Ends the threads when there are no more jobs.
  func stop() {
    state.withLock { $0.isStopped = true }
  }

  private func serve() {
    while let job = nextJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func nextJob() -> UnownedJob? {
    state.waitUntil({ $0.hasJob || $0.isStopped }) { state in
      guard state.hasJob else { return nil }
      defer {
        state.taken += 1
        if state.taken >= 1024 || !state.hasJob {
          state.jobs.removeFirst(state.taken)
          state.taken = 0
        }
      }
      return state.jobs[state.taken]
    }
  }
}
