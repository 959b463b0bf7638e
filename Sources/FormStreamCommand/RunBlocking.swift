import FormStreamPlatform

/// Runs asynchronous work and blocks the calling thread until it ends. For the main thread only, which has nothing
/// else to do.
func runBlocking<Value: Sendable>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
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
  guard let result else { throw Failure(.bug, "Asynchronous work ended without a result.") }
  return try result.get()
}
