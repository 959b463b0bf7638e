/// Runs tasks on its own threads, or on the thread that calls ``runUntilStopped()``.
///
/// These tasks may wait for a disk or another machine. Other tasks share the threads of the Swift runtime, which must
/// never block.
package final class BlockingExecutor: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    /// The jobs before this index have been taken.
    var taken = 0
    var isStopped = false

    var hasJob: Bool { taken < jobs.count }
  }

  private let state = Guarded(State())

  /// An executor without threads: `runUntilStopped` runs the tasks.
  package init() {}

  /// Starts threads. Returns nil if the system can't start them all.
  package init?(threads count: Int, named name: String) {
    for _ in 0..<count where !startThread(name, { [self] in runUntilStopped() }) {
      stop()
      return nil
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { job in state.withLockWakingOne { $0.jobs.append(job) } }
  }

  /// Ends the threads when there are no more jobs.
  package func stop() {
    state.withLock { $0.isStopped = true }
  }

  /// Runs tasks on this thread until the executor is stopped and has no more jobs.
  package func runUntilStopped() {
    while let job = nextJob() { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func nextJob() -> UnownedJob? {
    state.waitUntil({ $0.hasJob || $0.isStopped }, wakesOthers: false) { state in
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
