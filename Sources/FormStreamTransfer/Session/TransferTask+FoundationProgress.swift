public import Foundation

extension TransferTask {
  /// Returns the progress as a `Foundation.Progress`. It counts bytes that were handed over, and is indeterminate if the
  /// total can't be known. Cancelling, pausing and resuming it does the same to the request.
  public func makeFoundationProgress() -> Progress {
    let bridge = Progress(totalUnitCount: run.publisher.current.total ?? -1)
    bridge.kind = .file
    bridge.isCancellable = true
    bridge.isPausable = true
    // The handlers keep this task alive, so that the request can be paused and cancelled by its progress alone.
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
