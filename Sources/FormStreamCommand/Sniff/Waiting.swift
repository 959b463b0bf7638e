import Multipart
import Synchronization

/// Does what is asynchronous, and waits for it on the thread that asks: the command's own, where nothing
/// else is to be done.
func waiting(for body: @escaping @Sendable () async throws(Failure) -> Void) throws(Failure) {
  let outcome = Outcome()
  Task {
    do throws(Failure) {
      try await body()
    } catch {
      outcome.failure.withLock { $0 = error }
    }
    outcome.end.giveBack()
  }
  outcome.end.take()
  if let failure = outcome.failure.withLock(\.self) { throw failure }
}

private final class Outcome: Sendable {
  let failure = Mutex<Failure?>(nil)
  let end = Turns(0)
}
