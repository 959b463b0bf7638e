import Glibc
import Synchronization

/// Does what is asynchronous, and waits for it on the thread that asks: the command's own, where nothing
/// else is to be done.
///
/// C: `sem_init`, `sem_post`, `sem_wait`
func waiting(for body: @escaping @Sendable () async throws(Failure) -> Void) throws(Failure) {
  let outcome = Outcome()
  Task {
    do throws(Failure) {
      try await body()
      outcome.end(with: nil)
    } catch {
      outcome.end(with: error)
    }
  }
  if let failure = outcome.wait() { throw failure }
}

private final class Outcome: Sendable {
  private let failure = Mutex<Failure?>(nil)
  nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() {
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func end(with failure: Failure?) {
    self.failure.withLock { $0 = failure }
    sem_post(semaphore)
  }

  func wait() -> Failure? {
    while sem_wait(semaphore) < 0, errno == EINTR {}
    return failure.withLock(\.self)
  }
}
