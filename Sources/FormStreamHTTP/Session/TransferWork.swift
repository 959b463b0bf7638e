/// What a task carries out: a request or a download.
protocol TransferWork<Success>: AnyObject, Sendable {
  associatedtype Success: Sendable

  /// The caller's request.
  var originalRequest: TransferRequest { get }
  /// The same as it is sent: with settings that are in bounds, and the target of its response.
  var request: TransferRequest { get }
  var publisher: ProgressPublisher { get }
  var control: TransferControl { get }
  /// Where the task runs.
  var engine: Engine { get }

  func perform() async -> Success
  /// The result of what is not begun.
  func refuse(_ error: TransferError) async -> Success

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
