import FormStreamPlatform

/// Runs asynchronous work, and waits for it on the calling thread: the command's own, which has nothing else to
/// do.
func waiting<Value: Sendable>(
  for body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
  let outcome = Guarded<Result<Value, Failure>?>(nil)
  Task {
    do throws(Failure) {
      let value = try await body()
      outcome.withLock { $0 = .success(value) }
    } catch {
      outcome.withLock { $0 = .failure(error) }
    }
  }
  let result: Result<Value, Failure>? = outcome.waitUntil({ $0 != nil }) { $0 }
  guard let result else { throw Failure(.bug, "What was waited for ended without a result.") }
  return try result.get()
}
