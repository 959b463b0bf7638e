/// The results of a batch; see ``BatchTask/results``.
public struct BatchResults: AsyncSequence, Sendable {
  /// The result of a file.
  public typealias Element = FileResult
  /// Why the run could not go on.
  public typealias Failure = any Error

  let task: BatchTask

  /// Reads the results that no other iterator has read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

  /// Waits for the results.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let task: BatchTask

    /// The next result; nil after the last. The call stays on the caller's actor. If the waiting task is cancelled, the run is
    /// cancelled, too.
    ///
    /// - Throws: the reason why the run can't go on.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> FileResult? {
      try await withTaskCancellationHandler {
        _ = actor
        return try await task.queue.next(isolation: actor)
      } onCancel: { [task] in
        task.cancel()
      }
    }
  }
}
