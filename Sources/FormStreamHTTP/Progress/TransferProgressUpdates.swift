/// The progress of a request as a sequence of values. A slow loop gets only the newest state; see
/// ``ProgressPace``.
public struct TransferProgressUpdates: AsyncSequence, Sendable {
  let publisher: ProgressPublisher

  /// The current progress.
  public var current: TransferProgress { publisher.current }

  /// Begins with the current progress.
  public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
    publisher.updates().makeAsyncIterator()
  }
}
