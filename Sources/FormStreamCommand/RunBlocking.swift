import FormStreamPlatform

/// Runs asynchronous work and blocks the calling thread until it ends. For the main thread only, which has nothing
/// else to do.
///
/// The thread runs the work itself: the threads that tasks share are not started unless the work needs them.
func runBlocking<Value: Sendable>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
  let outcome = Guarded<Result<Value, Failure>?>(nil)
  let thread = WaitingThread()
  Task(executorPreference: thread) {
    do throws(Failure) {
      let value = try await body()
      outcome.withLock { $0 = .success(value) }
    } catch {
      outcome.withLock { $0 = .failure(error) }
    }
    thread.stop()
  }
  thread.runUntilStopped()
  guard let result = outcome.withLock({ $0 }) else {
    throw Failure(.bug, "Asynchronous work ended without a result.")
  }
  return try result.get()
}

/// Runs tasks on a thread that waits for them.
private final class WaitingThread: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isStopped = false
  }

  private let state = Guarded(State())

  func enqueue(_ job: consuming ExecutorJob) {
    handOver(job) { job in state.withLock { $0.jobs.append(job) } }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
  }

  func runUntilStopped() {
    while let jobs = nextJobs() {
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Waits for jobs; returns nil at the end.
  private func nextJobs() -> [UnownedJob]? {
    state.waitUntil({ !$0.jobs.isEmpty || $0.isStopped }) { state in
      if state.jobs.isEmpty { return nil }
      defer { state.jobs = [] }
      return state.jobs
    }
  }
}
