import FormStreamBatch
import FormStreamPlatform

extension PreparedBatch {
  private static let notPrepared =
    "Nothing was sent: the signal came while the files were listed, or their URLs compared."

  /// What is done with files, and with how many it was done so far.
  private struct Step {
    var preparation = BatchPreparation.reading
    var count = 0

    mutating func note(_ next: BatchPreparation) {
      if next != preparation { (preparation, count) = (next, 0) }
      count += 1
    }

    /// Nil if nothing was done yet.
    var progress: BatchProgress? { count > 0 ? BatchProgress(preparation, of: count) : nil }
  }

  /// Prepares the files on another thread, because this may take long: a list may be a FIFO without a writer, and many
  /// files and URLs may be compared. After a signal, this does not wait for the thread, because nothing was sent.
  ///
  /// - Parameter display: shows what is done with how many files.
  static func prepare(
    _ plan: SendPlan, showing display: BatchDisplay, _ interruption: Interruption
  ) throws(Failure) -> PreparedBatch {
    let prepared = Guarded<PreparedBatch?>(nil)
    let step = Guarded(Step())
    let shown =
      plan.batch.urls == nil && plan.batch.journal == nil
      ? nil
      : Task { await display.follow { step.withLock(\.progress) } }
    defer {
      shown?.cancel()
      // Nothing about the comparison must be shown after the run has begun to show its progress.
      if let shown { try? runBlocking { await shown.value } }
    }
    do throws(Failure) {
      try interruption.performBlocking(orElse: notPrepared) { () throws(Failure) in
        let input = try Self.made(of: plan.batch) { next in step.withLock { $0.note(next) } }
        prepared.withLock { $0 = input }
      }
    } catch {
      display.finish(step.withLock(\.progress))
      guard let signal = interruption.signal, error.message == notPrepared else { throw error }
      let place = plan.batch.journal.map {
        " The journal is in \"\($0)\": the same command goes on from there."
      }
      throw Failure(plan.exit(after: signal), notPrepared + (place ?? ""))
    }
    guard let input = prepared.withLock(\.self) else {
      throw Failure(.bug, "The files were prepared without a result.")
    }
    return input
  }
}

extension PreparedBatch {
  private static func made(
    of batch: Batch, observe: @escaping BatchPreparation.Observer
  ) throws(Failure) -> PreparedBatch {
    do throws(BatchError) { return try PreparedBatch(batch, observe: observe) } catch {
      guard error.code == .journalUnusable, let path = batch.journal else { throw Failure(error) }
      throw .unusableDirectory(
        path, of: "--journal", cause: error.underlying, description: error.description)
    }
  }
}

extension SendPlan {
  /// The exit code after a signal. With a journal, SIGTERM counts as retryable: a service manager or scheduler then
  /// starts the run again, and the run goes on where it ended.
  func exit(after signal: Int32) -> ExitCode {
    let code = ExitCode(signal: signal)
    return batch.journal != nil && code == .terminated ? .retryable : code
  }
}
