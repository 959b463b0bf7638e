/// The progress of a request as a sequence of values.
public struct TransferProgressUpdates: AsyncSequence, Sendable {
  let board: ProgressBoard

  /// The current progress.
  public var current: TransferProgress { board.current }

  /// Begins with the current progress.
  public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
    board.updates().makeAsyncIterator()
  }
}
