import Multipart
import Synchronization

/// Does what is asynchronous, and waits for it on the thread that asks: the command's own, where nothing
/// else is to be done.
func waiting<Value: Sendable>(
  for body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
  let outcome = Outcome<Value>()
  Task {
    do throws(Failure) {
      let value = try await body()
      outcome.result.withLock { $0 = .success(value) }
    } catch {
      outcome.result.withLock { $0 = .failure(error) }
    }
    outcome.end.giveBack()
  }
  outcome.end.take()
  guard let result = outcome.result.withLock(\.self) else {
    throw Failure(.bug, "What was waited for ended without a result.")
  }
  return try result.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let result = Mutex<Result<Value, Failure>?>(nil)
  let end = Turns(0)
}
