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

extension TransferRun: TransferWork {
  func pause() { control.pause() }
  func resume() { control.resume() }
  func cancel() { control.cancel() }
}

extension DownloadRun: TransferWork {}
