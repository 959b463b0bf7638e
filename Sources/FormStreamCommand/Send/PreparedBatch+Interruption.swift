import FormStreamBatch
import FormStreamPlatform

extension PreparedBatch {
  private static let notPrepared =
    "Nothing was sent: the signal came while the files were listed, or their URLs compared."

  /// Prepares the files on another thread, because this may take long: a list may be a FIFO without a writer, and many
  /// URLs may be compared. After a signal, this does not wait for the thread, because nothing was sent.
  ///
  /// - Parameter display: shows how many URLs were compared.
  static func prepare(
    _ plan: SendPlan, showing display: BatchDisplay, _ interruption: Interruption
  ) throws(Failure) -> PreparedBatch {
    let prepared = Guarded<PreparedBatch?>(nil)
    let compared = Guarded(0)
    let shown =
      plan.batch.urls == nil
      ? nil
      : Task {
        await display.follow {
          let count = compared.withLock(\.self)
          return count > 0 ? BatchProgress(comparing: count) : nil
        }
      }
    defer {
      shown?.cancel()
      // Nothing about the comparison must be shown after the run has begun to show its progress.
      if let shown { try? runBlocking { await shown.value } }
    }
    do throws(Failure) {
      try interruption.performBlocking(orElse: notPrepared) { () throws(Failure) in
        let input = try Self.made(of: plan.batch) { compared.withLock { $0 += 1 } }
        prepared.withLock { $0 = input }
      }
    } catch {
      let count = compared.withLock(\.self)
      display.finish(count > 0 ? BatchProgress(comparing: count) : nil)
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
    of batch: Batch, noteCompared: @escaping () -> Void
  ) throws(Failure) -> PreparedBatch {
    do throws(BatchError) { return try PreparedBatch(batch, noteCompared: noteCompared) } catch {
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
