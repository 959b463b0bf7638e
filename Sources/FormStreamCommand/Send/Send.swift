import FormStreamBatch
import FormStreamPlatform
import FormStreamJSON
import FormStreamHTTP

/// Runs `send`.
///
/// - Parameter changes: changes the limits during the run; nil if they can't be changed.
func send(_ plan: SendPlan, _ changes: ChangedLimits?) throws(Failure) {
  if !plan.isQuiet {
    for note in plan.notes { StandardError.note(note) }
    warn(of: plan.batch.sniffer)
  }
  // A connection and an open file for each request, and some files that are opened ahead.
  let concurrency = plan.batch.requestsAtOnce
  let needed = 24 + 2 * (plan.batch.findsConcurrency ? 4 : concurrency)
  guard
    canOpenDescriptors(
      wanting: UInt(64 + 3 * concurrency + plan.batch.maximumSetAside), needing: UInt(needed))
  else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once"
        + (plan.batch.findsConcurrency ? "" : " for -j \(concurrency)")
        + ": allow \(needed) or more with ulimit -n"
        + (plan.batch.findsConcurrency ? "." : ", or send fewer at once."))
  }
  try checkCookieFile(plan.cookieJar)
  var failedList = try plan.failed.map { target throws(Failure) in
    try FailedList(target)
  }
  let log = try plan.log.map { path throws(Failure) in try ResultLog(at: path) }
  let map = try plan.map.map { path throws(Failure) in
    try ResponseMap(at: path, isQuiet: plan.isQuiet)
  }
  let output = plan.printsRecords ? try OutputFile(.standardOutput) : nil
  let display = BatchDisplay(plan.progressOutput(sharesTerminal: output?.isTerminal ?? false))
  // The outputs are opened before this, while a signal still ends the command at once: an output that is a FIFO may
  // have no other end.
  let interruption = Interruption(gracePeriod: 10, cleanup: 2, onHangUp: changes?.reread)
  // People wait for files that are listed and compared, too.
  let start = ContinuousClock.now
  let input = try PreparedBatch.prepare(plan, showing: display, interruption)
  let journal = try convertingErrors { () throws(BatchError) in try input.beginJournal() }
  let outputLock = Guarded(false)
  var batch = input.batch
  batch.maximumFoundConcurrency = max(4, min(batch.maximumFoundConcurrency, (descriptorLimit() - 24) / 4))
  if changes != nil { batch.maximumChangedConcurrency = min(1000, (descriptorLimit() - 24) / 4) }
  let used = 24 + 2 * batch.requestsAtOnce
  batch.spareDescriptors = max(0, min(256, descriptorLimit() - used - 16))
  let list: (@Sendable (BatchFile) throws -> Void)? =
    if let failedList {
      { [origin = FailedList.Origin(input)] file in try failedList.add(file, of: origin) }
    } else {
      nil
    }
  let messages = FailureMessages()
  let report: @Sendable (FileResult) throws -> Void = { result in
    if let output {
      try outputLock.withLock { _ in try output.write(result.record.line()) }
    } else if !plan.isQuiet {
      messages.note(result)
    }
    try log?.add(result)
  }
  let reportOutage: @Sendable (TransferRetry) -> Void = { if !plan.isQuiet { $0.printNote() } }
  let run = try interruption.performBlocking(orElse: unreadCookies) {
    [batch] () throws(Failure) in
    try convertingErrors { () throws(TransferError) in
      try BatchRun(
        batch, journal: journal, beforeJournal: map?.add, report: report, rest: list,
        reportOutage: reportOutage)
    }
  }
  changes?.apply(to: run)
  interruption.onSignal { _ in run.stop() }
  interruption.onGracePeriodEnd { run.cutOff() }
  nonisolated(unsafe) let files = input.files
  let guarded = SentCookieFile(plan.cookieJar)
  let appended = AppendedFiles(of: plan)
  var failure: Failure?
  let isRefused = Guarded(false)
  do throws(Failure) {
    try runBlocking { () async throws(Failure) in
      // The display is cancelled when the run has ended.
      async let _: Void = display.follow { BatchProgress(run) }
      do { _ = try await run.run { try appended.check(guarded.note(files.next())) } } catch {
        isRefused.withLock { $0 = (error as? BatchError)?.code == .tooFewFiles }
        throw Failure(anyOf: error)
      }
    }
  } catch {
    failure = error
  }
  messages.finish(run.earlyEnd)
  display.finish(BatchProgress(run, isDone: true))
  do throws(Failure) { try failedList?.finish() } catch {
    failure = failure ?? error
    failedList = nil
  }
  do throws(Failure) {
    try map?.finish()
    try log?.finish()
  } catch {
    failure = failure ?? error
  }
  // Until all files are listed, another thread uses the listing.
  if run.totals.isListed, !plan.isQuiet {
    for line in input.files.leftOut.lines(of: plan.batch.listing) { StandardError.note(line) }
    if let line = lineAboutUncompared(input.listing?.uncompared ?? 0) { StandardError.note(line) }
  }
  do throws(Failure) {
    try guarded.check()
    try saveCookies(of: run.session, to: plan.cookieJar, interruption)
  } catch {
    failure = failure ?? error
  }
  let signal = interruption.end()
  let summary = SendSummary(
    run.totals, concurrency: run.concurrency, duration: start.duration(to: .now), failure: failure,
    earlyEnd: run.earlyEnd, signal: signal, plan: plan, input: input,
    failedList: failedList)
  if let output {
    do throws(Failure) { try output.write(summary.record.line()) } catch {
      failure = failure ?? error
    }
    for line in summary.linesAboutErrors { StandardError.write(line) }
  } else if isRefused.withLock(\.self) {
    // The reason says it all: nothing was begun that could go on.
  } else if !plan.isQuiet || summary.exit != .ok {
    for line in summary.lines { StandardError.write(line) }
  }
  guard summary.exit != .ok || failure != nil else { return }
  throw Failure(
    summary.exit == .ok ? failure?.exit ?? .bug : summary.exit,
    failure?.message ?? (plan.printsRecords ? summary.sentence : ""))
}

extension SendPlan {
  /// - Parameter sharesTerminal: whether records go to a terminal, where they would garble a status.
  fileprivate func progressOutput(sharesTerminal: Bool) -> ProgressOutput {
    let output = ProgressOutput(progress, isQuiet: isQuiet)
    return if case .bar = output, sharesTerminal { .heartbeat } else { output }
  }
}

extension Failure {
  /// The failure for an error of a list or a journal.
  init(_ error: BatchError) {
    let exit: ExitCode =
      switch error.code {
      case .inputMissing, .inputUnreadable, .notCompared, .tooFewFiles, .notAFile, .outsideRoot,
        .listUnreadable,
        .listMalformed, .manifestUnreadable, .manifestMalformed, .journalUnreadable,
        .journalMalformed:
        .noInput
      case .invalidPattern, .invalidShard, .invalidTemplate, .notPackable, .journalMisplaced:
        .usage
      case .journalInUse, .tooManyOpenFiles: .retryable
      default: .inputOutput
      }
    self.init(exit, error.message.text(naming: flagName) + error.hint)
  }

  /// The failure for an error that ended a run.
  init(anyOf error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as BatchError: self.init(error)
    default: self.init(.bug, "The files could not be sent: \(error).")
    }
  }
}

extension BatchError {
  /// What to do about the error on the command line; empty if the description says what to do.
  fileprivate var hint: String {
    switch code {
    case .listMalformed: " With --files-from it is a line feed, with --files-from0 a NUL."
    case .inputMissing where subject.utf8.last == 0x0D: " \(PathList.noteOnCR)"
    case .inputMissing where subject.contains("://"):
      " It is a URL: plan takes files, and formstream send takes URL FILE..."
    case .inputMissing where subject.contains { "*?[".contains($0) }:
      " If it is a pattern, no file matches it, so that the shell left it as it is. Check the path."
    case .inputMissing: " Check the path."
    default: ""
    }
  }
}

/// Calls the library, and turns its error into a `Failure`.
func convertingErrors<Result>(
  _ body: () throws(BatchError) -> Result
) throws(Failure) -> Result {
  do {
    return try body()
  } catch {
    throw Failure(error)
  }
}
