/// The progress of a request as a sequence of values. A slow loop gets only the newest state; see
/// ``ProgressPace``.
public struct TransferProgressUpdates: AsyncSequence, Sendable {
  let publisher: ProgressPublisher

  /// The current progress.
  public var current: TransferProgress { publisher.current }

  /// Begins with the current progress.
  public func makeAsyncIterator() -> AsyncIterator { publisher.updates().makeAsyncIterator() }

  /// Waits for the states.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let listener: ProgressListener

    /// The next state; nil after the last, or if the task is cancelled. The call stays on the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> TransferProgress? {
      await listener.next(isolation: actor)
    }
  }
}
