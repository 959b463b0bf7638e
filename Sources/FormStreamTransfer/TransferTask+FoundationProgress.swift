import FormStreamPlatform
public import Foundation

extension TransferTask where Success == TransferResult {
  /// Returns the progress as a `Foundation.Progress`. Cancelling, pausing or resuming the progress cancels, pauses or resumes
  /// the request.
  ///
  /// The progress counts the bytes of the request's body that were handed over. It also counts the received bytes of the
  /// response if the request has no body, or if the response goes to a file or a function. If it counts both, its total is the
  /// length of the request's body until all of the body is handed over, and then the sum of both lengths. While the total can't
  /// be known, the progress is indeterminate. If the request succeeds, the progress ends complete. If the response is counted, the
  /// last byte is counted at the end: before that, the response may be refused, for example because its file can't be stored.
  public func makeFoundationProgress() -> Progress {
    let countsResponse = request.body == nil || deliversResponse
    return makeProgress { bridge, step in
      bridge.show(step, countsResponse: countsResponse)
    } finalCount: { result, step in
      result.outcome == .ok && result.error == nil ? step.count(countsResponse: countsResponse) : nil
    }
  }
}

extension TransferTask where Success == DownloadResult {
  /// Returns the progress as a `Foundation.Progress`. Cancelling, pausing or resuming the progress cancels, pauses or resumes
  /// the download.
  ///
  /// The progress counts the bytes of the file, including the bytes of an earlier download that is continued. If the download
  /// starts again, the count goes back to 0. While the length of the file is not known, the progress is indeterminate. The last
  /// byte is counted when the download has succeeded: before that, the file may be refused, for example because of its digest.
  public func makeFoundationProgress() -> Progress {
    makeProgress { bridge, step in
      bridge.show(step.received, of: step.responseTotal, isLastHeld: true)
    } finalCount: { result, _ in
      result.outcome == .ok ? result.file?.size ?? 0 : nil
    }
  }
}

extension TransferTask {
  /// - Parameters:
  ///   - show: shows a state of the task.
  ///   - finalCount: the count at the end of a task that has succeeded, from its last state, unless more was counted; nil if the
  ///     task has failed.
  fileprivate func makeProgress(
    _ show: @escaping @Sendable (Progress, TransferProgress) -> Void,
    finalCount: @escaping @Sendable (Success, TransferProgress) -> Int64?
  ) -> Progress {
    let bridge = Progress(totalUnitCount: -1)
    bridge.kind = .file
    bridge.isCancellable = true
    bridge.isPausable = true
    // The handlers retain the task, so that the progress alone is enough to pause and cancel it.
    bridge.cancellationHandler = { [self] in cancel() }
    // Foundation calls these handlers on other threads, in any order. So each handler passes on the current state of the
    // progress.
    let passing = Guarded(())
    let passOn: @Sendable () -> Void = { [self, weak bridge] in
      passing.withLock { _ in
        if bridge?.isPaused == true { pause() } else { resume() }
      }
    }
    (bridge.pausingHandler, bridge.resumingHandler) = (passOn, passOn)
    let updates = progress
    show(bridge, updates.current)
    Task {
      for await step in updates { show(bridge, step) }
      if let count = finalCount(await result, updates.current) {
        // A progress of 0 of 0 is not complete.
        bridge.completedUnitCount = max(bridge.completedUnitCount, count, 1)
        bridge.totalUnitCount = bridge.completedUnitCount
      }
      bridge.cancellationHandler = nil
      bridge.pausingHandler = nil
      bridge.resumingHandler = nil
    }
    return bridge
  }
}

extension Progress {
  fileprivate func show(_ step: TransferProgress, countsResponse: Bool) {
    let total: Int64? =
      if !countsResponse || step.total.map({ step.handedOver < $0 }) == true {
        step.total
      } else if let sent = step.total, let received = step.responseTotal {
        // The sum of both may overflow the integer: a server may announce any length.
        sent.addingReportingOverflow(received).overflow ? nil : sent + received
      } else {
        nil
      }
    show(step.count(countsResponse: countsResponse), of: total, isLastHeld: countsResponse)
  }

  /// - Parameter isLastHeld: whether the last byte is left out.
  fileprivate func show(_ count: Int64, of total: Int64?, isLastHeld: Bool) {
    let count = isLastHeld ? total.map { min(count, max($0 - 1, 0)) } ?? count : count
    // A parent counts a child once and for all as soon as the child has reached its total. So if another version of a file is
    // shorter, the count is lowered before the total.
    if count < completedUnitCount { completedUnitCount = count }
    totalUnitCount = total ?? -1
    completedUnitCount = count
  }
}

extension TransferProgress {
  fileprivate func count(countsResponse: Bool) -> Int64 { handedOver + (countsResponse ? received : 0) }
}
