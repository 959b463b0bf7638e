import FormStreamPlatform

/// Runs asynchronous work and blocks the calling thread until it ends. For the main thread only, which has nothing
/// else to do.
///
/// The thread runs the work itself: the threads that tasks share are not started unless the work needs them.
func runBlocking<Value: Sendable>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
  let outcome = Guarded<Result<Value, Failure>?>(nil)
  let thread = BlockingExecutor()
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
