import Dispatch
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Testing

/// Executors while the runtime uses them without owning them.
@Suite struct TaskExecutorTests {
  /// The only owner of an executor.
  private struct Owner {
    var executor: SlowExecutor?
    /// Whether the executor was still there after each job.
    var isKept: [Bool] = []
  }

  /// Runs each job on a thread of its own, and returns from `enqueue` only after it. The second job releases the executor,
  /// as a thread does that waits for a task.
  private final class SlowExecutor: TaskExecutor {
    private let owner: Guarded<Owner>

    init(_ owner: Guarded<Owner>) { self.owner = owner }

    func enqueue(_ job: consuming ExecutorJob) {
      let unowned = asUnownedTaskExecutor()
      handOver(job) { [owner, weak self] job in
        let ended = DispatchSemaphore(value: 0)
        Thread {
          job.runSynchronously(on: unowned)
          _ = owner.withLock { $0.isKept.isEmpty ? nil : $0.executor.take() }
          ended.signal()
        }.start()
        ended.wait()
        owner.withLock { $0.isKept.append(self != nil) }
      }
    }
  }

  @Test func `an executor stays while it hands over the last job of a task`() async {
    let waiting = Guarded<CheckedContinuation<Void, Never>?>(nil)
    let other = Task.detached {
      await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
    }
    let owner = Guarded(Owner())
    owner.withLock { $0.executor = SlowExecutor(owner) }
    if let executor = owner.withLock(\.executor) {
      Task(executorPreference: executor) { await other.value }
    }
    // The task may have to wait for all other tests, which need the thread of this one.
    await onNewThread { waiting.waitUntil({ $0 != nil }) { $0.take() } }?.resume()
    let isKept = await onNewThread { owner.waitUntil({ $0.isKept.count == 2 }) { $0.isKept } }
    #expect(isKept == [true, true])
  }
}
