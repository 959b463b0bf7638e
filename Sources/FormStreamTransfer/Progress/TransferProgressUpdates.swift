/// The progress of a request as a sequence of values. A loop that takes its time sees the newest; see ``ProgressPace``.
public struct TransferProgressUpdates: AsyncSequence, Sendable {
  let publisher: ProgressPublisher

  /// The current progress.
  public var current: TransferProgress { publisher.current }

  /// Begins with the current progress.
  public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
    publisher.updates().makeAsyncIterator()
  }
}
