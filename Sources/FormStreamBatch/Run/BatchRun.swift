import FormStreamDigest
package import FormStreamMultipart
import FormStreamPlatform
package import FormStreamRecords
package import FormStreamTransfer

/// Sends the files of a batch: lists them on one thread, opens and sniffs them ahead on a few others, and has as many
/// requests on their way as the plan allows.
///
/// Memory depends on the number of requests, not on that of files.
package final class BatchRun: Sendable {
  /// What a run has, besides its plan, if it can be resumed.
  package struct Journal: Sendable {
    package let writer: JournalWriter
    /// What earlier runs did.
    package let earlier: JournalIndex
    /// Whether files that may have been accepted are left out.
    package let skipsDoubtful: Bool

    package init(
      writer: JournalWriter, earlier: JournalIndex, skipsDoubtful: Bool = false
    ) {
      self.writer = writer
      self.earlier = earlier
      self.skipsDoubtful = skipsDoubtful
    }
  }

  /// A request that is on its way.
  package struct InFlight: Sendable {
    package let path: LocalPath
    package let task: TransferTask
  }

  private struct State {
    var totals = BatchTotals()
    /// The error that ends the run: of the listing, of the journal or of the caller's own output.
    var failure: (any Error)?
    var isStopped = false
    var isCutOff = false
    var inFlight: [Int: InFlight] = [:]
    /// How many files in a row failed because nothing accepted a connection.
    var unreachable = 0
  }

  let plan: SendingPlan
  private let journal: Journal?
  private let session: TransferSession
  private let pace: RequestPace
  private let queue: FileQueue
  private let report: @Sendable (FileRecord) throws -> Void
  private let state = Guarded(State())

  /// - Parameter report: receives each record, on several threads. If it throws, the run ends.
  /// - Throws: the error of a session that can't be made.
  package init(
    _ plan: SendingPlan, journal: Journal?, report: @escaping @Sendable (FileRecord) throws -> Void
  ) throws(TransferError) {
    self.plan = plan
    self.journal = journal
    self.report = report
    session = try TransferSession(plan.session)
    pace = RequestPace(maximum: plan.concurrency, rate: plan.requestRate, policy: plan.retry)
    queue = FileQueue(capacity: 64 + 2 * plan.concurrency)
  }

  /// Takes no more files. Requests that are on their way go on.
  package func stop() {
    state.withLock { $0.isStopped = true }
    queue.end(dropping: true)
    pace.stop()
  }

  /// Stops, and cancels the requests that are on their way.
  package func cutOff() {
    stop()
    let tasks = state.withLock { state in
      state.isCutOff = true
      return state.inFlight.values.map(\.task)
    }
    for task in tasks { task.cancel() }
  }

  package var totals: BatchTotals { state.withLock(\.totals) }
  package var inFlight: [InFlight] {
    state.withLock { $0.inFlight.sorted { $0.key < $1.key }.map(\.value) }
  }
  /// Whether requests are held back because the server is overloaded.
  package var isSlowed: Bool { pace.isSlowed }
  /// Whether the run ended because nothing accepts connections.
  package var isUnreachable: Bool { state.withLock { $0.unreachable >= unreachableLimit } }

  private var unreachableLimit: Int { max(10, 2 * plan.concurrency) }

  /// Sends the files that `next` returns until it returns nil. It is called on a thread of its own, and may block.
  ///
  /// - Throws: the error of `next`, of the journal or of the report, after the requests that were on their way have ended.
  package func run(_ next: @escaping @Sendable () throws -> BatchFile?) async throws -> BatchTotals
  {
    let ahead = min(max(processorCount, 2), 8)
    guard let threads = PreparingThreads(ahead),
      startThread("formstream-list", { [self] in list(next) })
    else { throw BatchRun.noThreads }
    await withDiscardingTaskGroup { group in
      for _ in 0..<plan.concurrency + ahead {
        group.addTask(executorPreference: threads) { [self] in
          while let file = await queue.next() { await send(file) }
        }
      }
    }
    threads.stop()
    let (totals, failure) = state.withLock { ($0.totals, $0.failure) }
    do { try journal?.writer.close() } catch { throw failure ?? error }
    if let failure { throw failure }
    return totals
  }

  private static let noThreads = BatchError(
    .listUnreadable, on: "the files",
    "The files can't be sent: the system has no threads left. Allow more with ulimit -u.")

  private func list(_ next: () throws -> BatchFile?) {
    do {
      while let file = try next() {
        state.withLock { $0.totals.noteListed(file.size) }
        if isAlreadyDone(file) { continue }
        guard queue.add(file) else { return }
      }
      state.withLock { $0.totals.isListed = true }
      queue.end(dropping: false)
    } catch {
      // The files before the error are sent.
      state.withLock { $0.failure = $0.failure ?? error }
      queue.end(dropping: false)
    }
  }

  /// Ends the run because of an error that is not one of a file.
  private func end(because error: any Error) {
    state.withLock { $0.failure = $0.failure ?? error }
    stop()
  }

  // MARK: A file

  private func isAlreadyDone(_ file: BatchFile) -> Bool {
    guard let journal, journal.earlier.standing(of: file.offset) == .accepted else { return false }
    state.withLock { $0.totals.note(.skipped, size: file.size) }
    return true
  }

  /// Whether an earlier run may have sent the file with success, and sending it again does harm.
  private func maybeDuplicate(_ file: BatchFile) -> Bool {
    // The mark of a manifest is about requests with other idempotency keys.
    if file.maybeDuplicate, !plan.request.method.isIdempotent { return true }
    return !plan.isHarmlessTwice && journal?.earlier.standing(of: file.offset) == .doubtful
  }

  private func send(_ file: BatchFile) async {
    var ending = FileEnding(file, maybeDuplicate: maybeDuplicate(file))
    if ending.maybeDuplicate, journal?.skipsDoubtful ?? false {
      ending.skip()
      return finish(ending)
    }
    let opened: OpenedBatchFile
    do throws(BatchError) {
      opened = try OpenedBatchFile(file, plan)
    } catch {
      ending.fail(error)
      return finish(ending)
    }
    ending.note(opened)
    let request: TransferRequest
    do {
      request = try plan.request(for: opened)
    } catch {
      ending.fail(anyOf: error)
      return finish(ending)
    }
    ending.note(request.url)
    if await perform(request, for: file, &ending) { finish(ending) }
  }

  /// Sends the request until it succeeds, or must not be repeated. Returns false if it was never begun.
  private func perform(
    _ request: TransferRequest, for file: BatchFile, _ ending: inout FileEnding
  ) async -> Bool {
    for attempt in 1...max(1, plan.retry.attempts) {
      guard await pace.enter() else { return attempt > 1 }
      if attempt == 1 {
        do { try journal?.writer.noteStarted(file.offset) } catch {
          pace.leave()
          end(because: error)
          return false
        }
      }
      let begun = ContinuousClock.now
      let result = await result(of: request, file)
      pace.leave()
      ending.note(result)
      ending.verify(plan.check)
      if let status = result.status, status == 429 || status == 503 {
        let retryAfter = result.response.flatMap { RetryAfter.duration($0.headers) }
        pace.noteOverload(retryAfter, begun: begun)
      } else if result.status != nil {
        pace.noteSuccess()
      }
      noteReachability(result)
      guard ending.mayBeRepeated(plan.isHarmlessTwice || plan.retry.retriesUnsafe),
        attempt < plan.retry.attempts
      else { break }
      if result.status != 429, result.status != 503 {
        var generator = SystemRandomNumberGenerator()
        let wait = Backoff.wait(before: attempt + 1, plan.retry, using: &generator)
        guard await pause(wait) else { break }
      }
    }
    return true
  }

  private func result(of request: TransferRequest, _ file: BatchFile) async -> TransferResult {
    let task = session.start(request)
    let isCutOff = state.withLock { state in
      state.inFlight[task.id] = InFlight(path: file.path, task: task)
      return state.isCutOff
    }
    if isCutOff { task.cancel() }
    let result = await task.result
    state.withLock { $0.inFlight[task.id] = nil }
    return result
  }

  /// Waits before the next attempt, in short pieces. Returns false if there is to be none.
  private func pause(_ wait: Duration) async -> Bool {
    let end = ContinuousClock.now + wait
    while !state.withLock(\.isStopped) {
      let rest = ContinuousClock.now.duration(to: end)
      if rest <= .zero { return true }
      try? await Task.sleep(for: min(rest, .milliseconds(100)))
    }
    return false
  }

  /// Ends the run if nothing accepts connections: ten million files would fail one by one.
  private func noteReachability(_ result: TransferResult) {
    let isUnreachable = state.withLock { state in
      let isUnreachable =
        result.error?.code == .connectFailed || result.error?.code == .connectTimedOut
      state.unreachable = isUnreachable ? state.unreachable + 1 : 0
      return state.unreachable >= unreachableLimit
    }
    if isUnreachable { stop() }
  }

  /// Writes the record to the journal, then to the caller, and counts it.
  private func finish(_ ending: FileEnding) {
    let record = ending.record(
      manifest: plan.hasManifest ? plan.id : nil, url: plan.request.url.description)
    do {
      try journal?.writer.append(record.json.line())
      try report(record)
    } catch {
      end(because: error)
    }
    state.withLock { state in
      state.totals.note(
        ending.state, size: ending.file.size, isUnreadable: ending.isUnreadable)
      if let error = record.error {
        let status = record.status.map { " \($0)" } ?? ""
        state.totals.note(
          error: error.code + (error.code == "status-refused" ? status : ""), error.message)
      }
    }
  }
}
