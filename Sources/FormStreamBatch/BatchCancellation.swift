import FormStreamPlatform

/// Whether the task that starts a batch was cancelled. Listing and comparing files, which may take long, ask it for each file.
final class BatchCancellation: Sendable {
  private let state = Guarded(false)

  var isCancelled: Bool { state.withLock(\.self) }

  func cancel() { state.withLock { $0 = true } }

  func check() throws(BatchError) {
    if isCancelled {
      throw BatchError(.cancelled, on: "the batch", "The task that starts the batch was cancelled.")
    }
  }
}
