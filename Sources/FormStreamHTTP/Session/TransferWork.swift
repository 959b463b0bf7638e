/// What a task carries out: a request or a download.
protocol TransferWork<Success>: AnyObject, Sendable {
  associatedtype Success: Sendable

  /// The caller's request.
  var originalRequest: TransferRequest { get }
  /// The request as it is sent: its settings are in bounds, and its response has a target.
  var request: TransferRequest { get }
  var publisher: ProgressPublisher { get }
  var control: TransferControl { get }
  /// The engine that the task runs on.
  var engine: Engine { get }

  nonisolated(nonsending) func perform() async -> Success
  /// Ends the work before it begins, with an error.
  nonisolated(nonsending) func refuse(_ error: TransferError) async -> Success

  // From any thread.
  func pause()
  func resume()
  func cancel()
}

extension TransferWork {
  /// Carries the work out, and passes its progress on. The last call of the closure ends before this function returns.
  nonisolated(nonsending) func perform(
    passingProgressTo progress: TransferSession.ProgressHandler?
  ) async -> Success {
    guard let progress else { return await perform() }
    // This task and its children run on the engine's thread.
    let reports = Task.detached { [updates = publisher.updates(), control] in
      await ProgressPublisher.pass(updates, to: progress, of: control)
    }
    let result = await perform()
    await reports.value
    return result
  }
}

extension TransferRun: TransferWork {
  func pause() { control.pause() }
  func resume() { control.resume() }
  func cancel() { control.cancel() }
}

extension DownloadRun: TransferWork {}
