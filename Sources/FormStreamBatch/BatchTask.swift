import FormStreamHTTP
import FormStreamPlatform

/// A batch that was started. A task can be observed, paused, cancelled and waited for.
///
/// Read the ``results``, or call ``end()``, which reads them. Unless one of them is read, the run waits after some results, so
/// that memory doesn't grow. Releasing the task cancels the run: the journal is closed, and the next run goes on.
public final class BatchTask: Sendable {
  /// The round that is sent; nil without a journal, or if a manifest names the files. In the first round, all counts
  /// are 0.
  public let round: Round?
  /// Whether the run goes on with what an earlier run has begun.
  public let isResumed: Bool
  private let run: BatchRun
  let queue: ResultQueue

  /// Begins the run.
  init(_ prepared: PreparedBatch) throws {
    let queue = ResultQueue()
    (round, isResumed) = (prepared.listing?.round, prepared.isResumed)
    let journal = try prepared.beginJournal()
    do {
      run = try BatchRun(
        prepared.batch, journal: journal, report: queue.add, roomForResults: queue.room)
    } catch {
      // Otherwise the journal would stay open, with its thread, and count as that of a killed run.
      try? journal?.writer.close()
      throw error
    }
    self.queue = queue
    // The run's thread alone uses the files from here on.
    nonisolated(unsafe) let files = prepared.files
    nonisolated(unsafe) let accepted = prepared.listing?.accepted
    let release = prepared.listing?.release
    Task { [run] in
      var failure: (any Error)?
      do { _ = try await run.run(accepted: { try accepted?.next() }, { try files.next() }) } catch { failure = error }
      release?()
      queue.end(failure)
    }
  }

  deinit { cancel() }

  /// The results of the files, in the order in which the files are done. Each is read once, whatever loop reads it. If the
  /// reading task is cancelled, so is the run, and the results of what was on its way follow.
  ///
  /// A file that is not accepted has a result, too. The loop throws only if the run can't go on: because a list or a manifest
  /// can't be read, or the journal can't be written.
  public var results: BatchResults { BatchResults(task: self) }

  /// How many files ended in each state so far.
  public var totals: BatchTotals { run.totals }

  /// Why the run was ended before all files were begun; nil if it wasn't, or if ``stop()`` or ``cancel()`` was called.
  public var earlyEnd: EarlyEnd? { run.earlyEnd }

  /// The progress at this moment.
  public var progress: BatchProgress { BatchProgress(run, isDone: queue.isEnded) }

  /// The progress as a sequence: it begins with the current state, has a new one ten times a second, and ends with the run.
  public var progressUpdates: BatchProgressUpdates { BatchProgressUpdates(task: self) }

  /// Waits for the end, and reads the results that are left. If the waiting task is cancelled, so is the run.
  ///
  /// - Returns: how many files ended in each state.
  /// - Throws: what ``results`` throws.
  @discardableResult
  nonisolated(nonsending) public func end() async throws -> BatchTotals {
    for try await _ in results {}
    return totals
  }

  /// Changes the limits. The rate is that of all requests together, also of those that are on their way. More requests at the same
  /// time than when the run began are not sent.
  public func change(_ limits: BatchLimits) { run.change(limits) }

  /// Pauses the run: no byte of a file is sent until `resume` or `cancel`.
  public func pause() { run.pause() }

  /// Continues after a pause.
  public func resume() { run.resume() }

  /// Ends the run early: the requests that are on their way go on, and no others begin. Uploads that only wait for their server
  /// (``/FormStreamHTTP/RetryPolicy/patience``) end at once. Files that were not begun have no result.
  public func stop() { run.stop() }

  /// Ends the run at once. The requests that are on their way are cancelled, and their results follow.
  public func cancel() {
    run.cutOff()
    queue.makeRoom()
  }
}

extension Batch {
  /// Reads the journals, begins the listing, and starts to send. If files have to be compared first, this returns when they
  /// were compared.
  ///
  /// - Throws: a ``BatchError`` or ``/FormStreamHTTP/TransferError`` that says what is wrong with the settings, the sources or the journal;
  ///   `CancellationError` if the task that waits is cancelled: nothing is sent then. A list that is being compared and has no
  ///   line yet is waited for.
  nonisolated(nonsending) public func start() async throws -> BatchTask {
    try checkSettings()
    try Task.checkCancellation()
    var batch = self
    let cancellation = BatchCancellation()
    batch.listing.cancellation = cancellation
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { [batch] start in
        let isBegun = startThread("formstream-plan") {
          start.resume(with: Result { try batch.begun(unless: cancellation) })
        }
        if !isBegun { start.resume(throwing: BatchRun.noThreads) }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  private func begun(unless cancellation: BatchCancellation) throws -> BatchTask {
    do {
      let prepared = try PreparedBatch(self)
      // Nothing is in the journal yet.
      try cancellation.check()
      let task = try BatchTask(prepared)
      // Releasing the task ends the run.
      try cancellation.check()
      return task
    } catch {
      throw cancellation.isCancelled ? CancellationError() : error
    }
  }

  /// Throws if two settings contradict each other.
  private func checkSettings() throws(BatchError) {
    let problem: Message? =
      if manifest != nil, !sources.isEmpty {
        "A manifest names the files, and there are sources, too: leave one out."
      } else if manifest == nil, sources.isEmpty {
        "There are no files to send: name sources, or a manifest."
      } else if shard != nil, manifest == nil {
        "A shard is a part of a manifest: name the manifest."
      } else if urls != nil, packing.isShared {
        "A file that is sent as it is has a request of its own: choose Packing.single."
      } else if sliceSize != nil, packing.isShared || urls != nil {
        "Slices are sent in forms, each in a request of its own: leave out the packing, or the slices."
      } else if let sliceSize, sliceSize <= 0 {
        "The size of slices is \(sliceSize): choose one above 0."
      } else if let check, packing.isShared, !check.path.namesPlace {
        "The check compares one value with several files: write {i} for the place of each, as in files[{i}].sha256."
      } else if packing.isShared, !fieldTemplates.isEmpty {
        "A text field has values of a file, and requests have several files: leave one out."
      } else {
        nil
      }
    if let problem { throw BatchError(.invalidSettings, on: "the batch", problem) }
  }
}
