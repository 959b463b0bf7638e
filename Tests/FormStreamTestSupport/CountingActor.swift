import Dispatch
import FormStreamPlatform

/// An actor that counts how often its executor is asked to run something.
///
/// Code that leaves an actor comes back through its executor. So if code on this actor ran without a job, it never left.
public actor CountingActor {
  private nonisolated let executor = CountingExecutor()

  /// The queue that runs the jobs.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Creates an actor with an executor of its own.
  public init() {}

  /// Runs code on this actor, and returns how often it came back to the actor.
  public func returns(
    during code: @Sendable (isolated CountingActor) async throws -> Void
  ) async rethrows -> Int {
    let before = executor.jobs.withLock(\.self)
    try await code(self)
    return executor.jobs.withLock(\.self) - before
  }
}

private final class CountingExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "CountingActor")
  let jobs = Guarded(0)

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.withLock { $0 += 1 }
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
