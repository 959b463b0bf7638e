/// The progress of a batch as a sequence; see ``BatchTask/progressUpdates``.
public struct BatchProgressUpdates: AsyncSequence, Sendable {
  /// The progress at a moment.
  public typealias Element = BatchProgress
  /// Progress has no errors.
  public typealias Failure = Never

  let task: BatchTask

  /// Begins with the current state.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task) }

  /// Waits for the states.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let task: BatchTask
    private var last: BatchProgress?

    init(task: BatchTask) { self.task = task }

    /// The next state; nil after the last, or if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> BatchProgress? {
      if last?.stage == .done { return nil }
      if last != nil {
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return nil }
      }
      last = task.progress
      return last
    }
  }
}
