/// A request that is being sent.
public final class TransferTask: Sendable {
  let run: TransferRun
  private let work: Task<TransferResult, Never>

  init(_ run: TransferRun) {
    self.run = run
    work = Task(executorPreference: run.engine) { await run.perform() }
  }

  /// The progress as a sequence: it begins with the current state, and ends with the request. It may be iterated any
  /// number of times.
  public var progress: TransferProgressUpdates { TransferProgressUpdates(publisher: run.publisher) }

  /// The result, after the request has ended.
  public var result: TransferResult {
    get async { await work.value }
  }

  /// Pauses the request: no byte of a body is sent or received until `resume`. The server may close the connection
  /// meanwhile.
  public func pause() {
    run.control.pause()
  }

  /// Continues after a pause.
  public func resume() {
    run.control.resume()
  }

  /// Cancels the request. The result says how many bytes had been sent.
  public func cancel() {
    work.cancel()
    run.control.cancel()
  }
}
