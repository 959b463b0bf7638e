import FormStreamPlatform

/// A request or a download that was started. A task can be observed, paused, cancelled and waited for, and may have ended.
///
/// ``TransferSession/start(_:)`` returns the task of a request, whose result is a ``TransferResult``.
/// ``TransferSession/startDownload(_:_:)`` returns the task of a download, whose result is a ``DownloadResult``.
///
/// A task is a value. Two tasks are equal if they stand for the same start. Releasing a task doesn't end the transfer.
public struct TransferTask<Success: Sendable>: Sendable, Identifiable {
  /// What a request or a download is doing.
  public typealias State = TransferState

  /// A number that no other task of the process has. Tasks that are started later have higher numbers.
  public let id: Int
  let run: any TransferWork<Success>
  private let work: Task<Success, Never>

  init<Work: TransferWork<Success>>(
    _ run: Work, perform: @escaping @Sendable (Work) async -> Success
  ) {
    id = lastID.withLock { id in
      id += 1
      return id
    }
    self.run = run
    work = Task(executorPreference: run.engine.loop) { await perform(run) }
  }

  /// The request.
  public var request: TransferRequest { run.originalRequest }

  /// Whether the body of the response goes to a file or a function, and not to memory.
  package var deliversResponse: Bool { !run.request.options.responseTarget.isMemory }

  /// What the task is doing.
  public var state: TransferState {
    let phase = run.publisher.current.phase
    if phase == .done { return .done }
    if run.control.isPaused { return .paused }
    return phase == .queued ? .waiting : .running
  }

  /// The progress as a sequence: it begins with the current state, and ends with the task. It may be iterated any number of
  /// times. Iterating only watches: if the task that iterates is cancelled, the transfer goes on.
  ///
  /// For a download, ``TransferProgress/received`` is the size of the file so far, including the bytes of an earlier download
  /// that is continued, and ``TransferProgress/responseTotal`` is the size that the file will have. If the download starts
  /// again, `received` goes back to 0.
  public var progress: TransferProgressUpdates { TransferProgressUpdates(publisher: run.publisher) }

  /// The result, after the transfer has ended. If the waiting task is cancelled, so is the transfer, even if other tasks wait
  /// for it, too.
  nonisolated(nonsending) public var result: Success {
    get async { await value() }
  }

  private func value(isolation actor: isolated (any Actor)? = #isolation) async -> Success {
    await withTaskCancellationHandler {
      // A closure that doesn't mention the actor would not run on it.
      _ = actor
      return await work.value
    } onCancel: {
      cancel()
    }
  }

  /// Waits for the result, whether the transfer succeeds or fails. If the waiting task is cancelled, so is the transfer.
  ///
  /// - Parameter progress: receives the progress. The closure is called on a thread of the session, where it may block, one call
  ///   at a time. The last call ends before this function returns. While the closure runs, only the newest state is kept for the
  ///   next call; see ``ProgressPace``.
  nonisolated(nonsending) public func result(
    progress: @escaping TransferSession.ProgressHandler
  ) async -> Success {
    await result(passing: run.publisher.updates(), to: progress)
  }

  /// Waits for the result, and passes on updates that may have been requested before the start.
  func result(
    passing updates: some AsyncSequence<TransferProgress, Never> & Sendable,
    to progress: @escaping TransferSession.ProgressHandler,
    isolation actor: isolated (any Actor)? = #isolation
  ) async -> Success {
    await withTaskCancellationHandler {
      _ = actor
      async let reports: Void = ProgressPublisher.pass(updates, to: progress, of: run.control)
      let result = await work.value
      await reports
      return result
    } onCancel: {
      cancel()
    }
  }

  /// Waits for the end, even if the waiting task is cancelled.
  func end() async { _ = await work.value }

  /// Pauses the transfer: no byte of a body is sent or received until `resume`. A request that waits in the queue of
  /// its host lets later requests go first.
  ///
  /// The connection stays open, and still counts as a connection to its host. The server may close the connection during the
  /// pause. A download then continues over another connection, as after any break. To close the connection of a download, use
  /// ``cancelKeepingData()``.
  public func pause() { run.pause() }

  /// Continues after a pause.
  public func resume() { run.resume() }

  /// Cancels the transfer. The result of a request says how many bytes had been sent. The bytes of a download that have arrived
  /// stay in the partial file, and ``DownloadResult/resumeData`` continues the download. A download whose last byte has been
  /// written can't be cancelled any more.
  public func cancel() {
    work.cancel()
    run.cancel()
  }
}

extension TransferTask where Success == TransferResult {
  /// The response that confirms the request, after the request has ended. If the waiting task is cancelled, so is the request.
  ///
  /// - Throws: what ``TransferSession/send(_:progress:)`` throws: a ``TransferError``, or `CancellationError` if the
  ///   request was cancelled.
  nonisolated(nonsending) public var response: TransferResponse {
    get async throws { try await result.confirmingResponse() }
  }
}

extension TransferTask where Success == DownloadResult {
  /// The file, after the download has ended. If the waiting task is cancelled, so is the download.
  ///
  /// - Throws: a ``TransferError`` if the outcome is not `ok`, `CancellationError` if the download was cancelled.
  nonisolated(nonsending) public var file: DownloadedFile {
    get async throws { try await result.confirmedFile() }
  }

  /// Cancels the download, and returns the data that continues it; nil if the download is complete, or can't be continued.
  nonisolated(nonsending) public func cancelKeepingData() async -> DownloadResumeData? {
    cancel()
    return await result.resumeData
  }
}

extension TransferTask: Hashable {
  /// Whether both tasks stand for the same start of a transfer.
  public static func == (one: TransferTask, other: TransferTask) -> Bool { one.id == other.id }

  /// Hashes the `id`.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The id of the task that was started last.
private let lastID = Guarded(0)
