import FormStreamPlatform

/// A download that was started, and that may have ended.
///
/// It is a value. Two are equal if they stand for the same start of a download. Letting go of it doesn't end the
/// download.
public struct DownloadTask: Sendable, Identifiable {
  /// A number that no other download of the process has. It increases.
  public let id: Int
  let run: DownloadRun
  private let work: Task<DownloadResult, Never>

  private static let lastID = Guarded(0)

  init(_ run: DownloadRun, perform: @escaping @Sendable (DownloadRun) async -> DownloadResult) {
    id = Self.lastID.withLock { id in
      id += 1
      return id
    }
    self.run = run
    work = Task(executorPreference: run.engine) { await perform(run) }
  }

  /// The request.
  public var request: TransferRequest { run.request }

  /// What the download is doing.
  public var state: TransferTask.State {
    TransferTask.State(run.publisher, run.control)
  }

  /// The progress as a sequence: it begins with the current state, and ends with the download. It may be iterated any
  /// number of times.
  ///
  /// ``TransferProgress/received`` is the size of the file so far, what an earlier download had left included, and
  /// ``TransferProgress/responseTotal`` the size that it will have. If the download starts again, it goes back to 0.
  public var progress: TransferProgressUpdates { TransferProgressUpdates(publisher: run.publisher) }

  /// The result, after the download has ended. If the waiting task is cancelled, so is the download.
  public var result: DownloadResult {
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

  /// The file, after the download has ended. If the waiting task is cancelled, so is the download.
  ///
  /// - Throws: a ``TransferError`` if the outcome is not `ok`, `CancellationError` if the download was cancelled.
  public var file: DownloadedFile {
    get async throws { try await result.confirmedFile() }
  }

  /// Pauses the download: nothing is received until `resume`.
  ///
  /// The connection is kept, and counts as one to its host; the engine goes on with other requests. If the server
  /// closes it meanwhile, the download continues over another, as after any break. To give the connection up, use
  /// ``cancelKeepingData()``, and continue with what that returns.
  public func pause() { run.pause() }

  /// Continues after a pause.
  public func resume() { run.resume() }

  /// Cancels the download. What has arrived stays in the partial file, and ``DownloadResult/resumeData`` continues
  /// it. A download whose last byte has been written can't be cancelled any more.
  public func cancel() {
    work.cancel()
    run.cancel()
  }

  /// Cancels the download, and returns what continues it; nil if it is complete, or can't be continued.
  public func cancelKeepingData() async -> DownloadResumeData? {
    cancel()
    return await result.resumeData
  }
}

extension DownloadTask: Hashable {
  /// Whether both stand for the same start of a download.
  public static func == (one: DownloadTask, other: DownloadTask) -> Bool { one.id == other.id }

  /// Hashes the `id`.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension DownloadResult {
  /// The file of a download that succeeded.
  func confirmedFile() throws -> DownloadedFile {
    guard let file else {
      if outcome == .ok, let response = transfer.response {
        throw TransferError.notChanged(transfer.url).ending(as: .ok, response)
      }
      try transfer.fail()
    }
    return file
  }
}
