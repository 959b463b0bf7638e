public import Foundation

/// A request that is under way.
public final class TransferTask: Sendable {
  private let run: TransferRun
  private let work: Task<TransferResult, Never>

  init(_ run: TransferRun) {
    self.run = run
    work = Task(executorPreference: run.engine) { await run.perform() }
  }

  /// How far it is: a sequence that begins with how far it is now and ends with the request. Any number of
  /// loops may go over it.
  public var progress: TransferProgressUpdates { TransferProgressUpdates(board: run.board) }

  /// What became of it, once it is over.
  public var result: TransferResult {
    get async { await work.value }
  }

  /// Holds it: no byte of a body is sent or received until `resume`. The server may lose patience meanwhile.
  public func pause() {
    run.control.pause()
  }

  /// Goes on.
  public func resume() {
    run.control.resume()
  }

  /// Calls it off. What was sent, was sent: the result tells how much.
  public func cancel() {
    work.cancel()
    run.control.cancel()
  }
}

/// How far a request is, as values.
public struct TransferProgressUpdates: AsyncSequence, Sendable {
  let board: ProgressBoard

  /// How far it is now.
  public var current: TransferProgress { board.current }

  /// Begins with how far it is now.
  public func makeAsyncIterator() -> AsyncStream<TransferProgress>.Iterator {
    board.updates().makeAsyncIterator()
  }
}

extension TransferTask {
  /// The same as a `Foundation.Progress`, for whoever shows those. Cancelling, pausing and resuming it does so
  /// to the request. It counts bytes that were handed over, and is indeterminate where the total can't be
  /// known.
  public func makeFoundationProgress() -> Progress {
    let bridge = Progress(totalUnitCount: run.board.current.total ?? -1)
    bridge.kind = .file
    bridge.isCancellable = true
    bridge.isPausable = true
    // The bridge is a handle, too: the request can be held and called off by it when this one is gone.
    bridge.cancellationHandler = { [self] in cancel() }
    bridge.pausingHandler = { [self] in pause() }
    bridge.resumingHandler = { [self] in resume() }
    let updates = progress
    Task {
      for await step in updates {
        bridge.totalUnitCount = step.total ?? -1
        bridge.completedUnitCount = step.handedOver
      }
      bridge.cancellationHandler = nil
      bridge.pausingHandler = nil
      bridge.resumingHandler = nil
    }
    return bridge
  }
}
