import FormStreamPlatform

/// A request that was started, and that may have ended: something to hold on to, to show, and to cancel.
///
/// It is a value. Two are equal if they stand for the same start of a request. Letting go of it doesn't end the request.
public struct TransferTask: Sendable, Identifiable {
  /// What a request is doing.
  public enum State: String, CaseIterable, Sendable {
    /// It waits for other requests to the same host; see
    /// ``TransferSession/Configuration/maximumConnectionsPerHost``.
    case waiting
    /// It is being sent, or waits for its response or for the next attempt.
    case running
    /// It was paused.
    case paused
    /// It has ended.
    case done
  }

  /// A number that no other task of the process has. It increases.
  public let id: Int
  let run: TransferRun
  private let work: Task<TransferResult, Never>

  private static let lastID = Guarded(0)

  init(_ run: TransferRun, perform: @escaping @Sendable (TransferRun) async -> TransferResult) {
    id = Self.lastID.withLock { id in
      id += 1
      return id
    }
    self.run = run
    work = Task(executorPreference: run.engine) { await perform(run) }
  }

  /// The request.
  public var request: TransferRequest { run.originalRequest }

  /// What the request is doing.
  public var state: State {
    State(run.publisher, run.control)
  }

  /// The progress as a sequence: it begins with the current state, and ends with the request. It may be iterated any
  /// number of times. It only watches: if the task that iterates is cancelled, the request goes on.
  public var progress: TransferProgressUpdates { TransferProgressUpdates(publisher: run.publisher) }

  /// The result, after the request has ended. If the waiting task is cancelled, so is the request. That holds for every
  /// call that waits for one request.
  public var result: TransferResult {
    get async {
      await withTaskCancellationHandler {
        await work.value
      } onCancel: {
        cancel()
      }
    }
  }

  /// Waits for the end, whatever becomes of the waiting task.
  func end() async { _ = await work.value }

  /// The response that confirms the request, after it has ended. If the waiting task is cancelled, so is the request.
  ///
  /// - Throws: what ``TransferSession/send(_:progress:)`` throws: a ``TransferError``, or `CancellationError` if the
  ///   request was cancelled.
  public var response: TransferResponse {
    get async throws { try await result.confirmingResponse() }
  }

  /// Pauses the request: no byte of a body is sent or received until `resume`. The server may close the connection
  /// meanwhile. A request that waits for others lets those behind it go first.
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

extension TransferTask: Hashable {
  /// Whether both stand for the same start of a request.
  public static func == (one: TransferTask, other: TransferTask) -> Bool { one.id == other.id }

  /// Hashes the `id`.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension TransferTask.State {
  init(_ publisher: ProgressPublisher, _ control: TransferControl) {
    let phase = publisher.current.phase
    self =
      phase == .done ? .done : control.isPaused ? .paused : phase == .queued ? .waiting : .running
  }
}
