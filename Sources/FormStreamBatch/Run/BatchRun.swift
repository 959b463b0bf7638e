import FormStreamDigest
package import FormStreamMultipart
import FormStreamPlatform
package import FormStreamHTTP

/// Sends the files of a batch. One thread lists the files. A few other threads open files in advance and detect their
/// types. As many requests are on their way as the settings allow.
///
/// Memory depends on the number of requests and on the number of files in each request, not on the number of all files.
package final class BatchRun: Sendable {
  /// What a run needs besides its plan to be resumable.
  package struct Journal: Sendable {
    package let writer: JournalWriter
    /// What earlier runs did.
    package let earlier: JournalIndex
    /// Whether files that the server may have accepted in an earlier run are left out.
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
    /// The path of the request's first file.
    package let path: LocalPath
    /// How many bytes of its files the request sends.
    package let size: Int64
    /// How many bytes of the same file were in earlier requests.
    package let sentBefore: Int64
    package let task: TransferTask<TransferResult>
    /// The number of its files in ``State/waiting``.
    let number: Int
  }

  struct State {
    var totals = BatchTotals()
    /// The error that ends the run. It comes from the listing, from the journal or from the caller's own output.
    var failure: (any Error)?
    var isStopped = false
    var isCutOff = false
    var isPaused = false
    var inFlight: [Int: InFlight] = [:]
    /// The uploads that have broken off, until their server has responded again, by the numbers of their files.
    var waiting: Set<Int> = []
    var lastNumber = 0
    /// Whether it was reported that uploads wait for their server.
    var isOutageReported = false
    /// How many requests in a row failed because nothing accepted a connection.
    var unreachable = 0
    /// How many requests were refused with 401 or 403; nil if the server has responded to one in another way, or has accepted
    /// a file in an earlier run.
    var accessRefusals: Int? = 0
    var earlyEnd: EarlyEnd?
    /// The files that were listed and have no outcome yet, by their indices; empty if the run has no `rest`.
    var unfinished: [Int: BatchFile] = [:]
  }

  let plan: Batch
  let journal: Journal?
  package let session: TransferSession
  let pace: RequestPace
  let state = Guarded(State())
  /// The batch with its current limits.
  let current: Guarded<Batch>
  /// The rate of all requests together. It follows the limits and the time of the day.
  let rate: SharedRate
  let queue: FileQueue
  /// The folders that the run makes on the server; nil if it makes none.
  let collections: Collections?
  private let beforeJournal: (@Sendable ([FileResult]) throws -> Void)?
  private let report: @Sendable (FileResult) throws -> Void
  private let rest: (@Sendable (BatchFile) throws -> Void)?
  let reportOutage: @Sendable (TransferRetry) -> Void
  private let roomForResults: @Sendable () async -> Void

  /// - Parameters:
  ///   - beforeJournal: receives the results of each request, on several threads, before their records are in the journal.
  ///     So if a file's record is in the journal, this closure has returned for the file, even if the process is killed. If
  ///     it throws, the journal gets no record of these files, and the run ends.
  ///   - report: receives the result of each file, on several threads. If it throws, the run ends.
  ///   - rest: receives each listed file whose state is not `ok`, so that the file can be sent again. At the end of the
  ///     run, it also receives the files that were not begun. It is called on several threads. If it throws, the run ends.
  ///   - reportOutage: called when a server that keeps an upload doesn't respond, once for all requests.
  ///   - roomForResults: waits until there is room for more results. Until it returns, no other files are begun.
  /// - Throws: an error if the session can't be made.
  package init(
    _ plan: Batch, journal: Journal?,
    beforeJournal: (@Sendable ([FileResult]) throws -> Void)? = nil,
    report: @escaping @Sendable (FileResult) throws -> Void,
    rest: (@Sendable (BatchFile) throws -> Void)? = nil,
    reportOutage: @escaping @Sendable (TransferRetry) -> Void = { _ in },
    roomForResults: @escaping @Sendable () async -> Void = {}
  ) throws(TransferError) {
    self.plan = plan
    let current = Guarded(plan)
    self.current = current
    rate = SharedRate { current.withLock { $0.rate(at: minuteOfDay()) } }
    self.journal = journal
    self.beforeJournal = beforeJournal
    self.report = report
    self.rest = rest
    self.reportOutage = reportOutage
    self.roomForResults = roomForResults
    collections = plan.makesCollections && plan.urls != nil ? Collections() : nil
    if plan.hasAccess { state.withLock { $0.accessRefusals = nil } }
    session = try TransferSession(plan.tunedSession)
    pace = RequestPace(
      maximum: plan.requestsAtOnce, isFound: plan.findsConcurrency, rate: plan.requestRate, policy: plan.retry)
    queue = FileQueue(
      capacity: plan.packing.isShared ? 1 : 64 + 2 * plan.requestsAtOnce,
      maximumInWork: pace.limit + Self.opensAhead(plan))
  }

  /// Stops taking files. Requests that are on their way go on.
  package func stop() {
    let waiting = state.withLock { state in
      state.isStopped = true
      return state.inFlight.values.filter { state.waiting.contains($0.number) }.map(\.task)
    }
    queue.end(dropping: true)
    pace.stop()
    // They send nothing, and another run can go on with their uploads.
    for task in waiting { task.cancel() }
  }

  /// Stops the run, and cancels the requests that are on their way.
  package func cutOff() {
    stop()
    let tasks = state.withLock { state in
      state.isCutOff = true
      return state.inFlight.values.map(\.task)
    }
    for task in tasks { task.cancel() }
  }

  /// Changes the limits. The rate is that of all requests together, also of those that are on their way.
  package func change(_ limits: BatchLimits) {
    let batch = current.withLock { batch in
      batch.limits = limits
      batch.concurrency = limits.concurrency.map { min($0, plan.largestConcurrency) }
      batch.maximumFoundConcurrency = min(batch.maximumFoundConcurrency, plan.largestConcurrency)
      return batch
    }
    pace.change(
      maximum: batch.requestsAtOnce, isFound: batch.findsConcurrency, rate: batch.requestRate)
    queue.allow(pace.limit + Self.opensAhead(plan))
  }

  /// Pauses the requests that are on their way, and begins no others, until `resume`.
  package func pause() {
    pace.pause()
    setPaused(true)
  }

  /// Goes on after a pause.
  package func resume() {
    setPaused(false)
    pace.resume()
  }

  /// The tasks are paused under the lock, so that a request that begins meanwhile can't miss it.
  private func setPaused(_ isPaused: Bool) {
    state.withLock { state in
      state.isPaused = isPaused
      for request in state.inFlight.values {
        if isPaused { request.task.pause() } else { request.task.resume() }
      }
    }
  }

  package var totals: BatchTotals { state.withLock(\.totals) }
  package var inFlight: [InFlight] {
    state.withLock { $0.inFlight.sorted { $0.key < $1.key }.map(\.value) }
  }
  /// How many requests there may be at the same time.
  package var concurrency: Int { pace.limit }
  /// Whether requests are held back because the server is overloaded.
  package var isSlowed: Bool { pace.isSlowed }
  /// Whether the run was stopped, so that no more files are begun.
  package var isStopped: Bool { state.withLock(\.isStopped) }
  /// Why the run was ended early; nil if it wasn't, or if the user stopped it.
  package var earlyEnd: EarlyEnd? { state.withLock(\.earlyEnd) }

  /// Sends the files that `next` returns, until `next` returns nil. `next` is called on a thread of its own, and may block.
  ///
  /// - Parameter accepted: returns the files that earlier rounds have delivered and that get results.
  /// - Throws: an error of `next`, of the journal or of the report, after the requests that were on their way have ended.
  package func run(
    accepted: @escaping @Sendable () throws -> BatchFile? = { nil }, _ next: @escaping @Sendable () throws -> BatchFile?
  ) async throws -> BatchTotals {
    // The first timer of the process needs descriptors. If none were left, the process would end. So the first wait is
    // here, before files are opened.
    try? await Task.sleep(for: .nanoseconds(1))
    guard let threads = BlockingExecutor(threads: Self.threadCount, named: "formstream-prep"),
      startThread("formstream-list", { [self] in list(accepted, next) })
    else { throw BatchRun.noThreads }
    let taskCount = plan.largestConcurrency + Self.opensAhead(plan) + plan.maximumSetAside
    await withDiscardingTaskGroup { group in
      for _ in 0..<taskCount {
        group.addTask(executorPreference: threads) { [self] in
          while let files = await queue.next() {
            await send(files)
            await roomForResults()
            queue.leave()
          }
        }
      }
    }
    threads.stop()
    passOnUnfinished()
    let (totals, failure, isStopped) = state.withLock { ($0.totals, $0.failure, $0.isStopped) }
    let isComplete = totals.isListed && !isStopped && failure == nil
    do { try journal?.writer.close(isComplete: isComplete) } catch { throw failure ?? error }
    if let failure { throw failure }
    return totals
  }

  /// How many threads open files.
  private static let threadCount = min(max(processorCount, 2), 8)

  /// How many packs are opened in advance. If a request has several files, more than one pack would take too much memory.
  static func opensAhead(_ plan: Batch) -> Int {
    plan.packing.isShared ? 1 : threadCount
  }

  static let noThreads = BatchError(
    .listUnreadable, on: "the files",
    "The files can't be sent: the system has no threads left. Allow more with ulimit -u, or more memory with "
      + "ulimit -v.")

  private func list(_ accepted: () throws -> BatchFile?, _ next: () throws -> BatchFile?) {
    var packer = FilePacker(plan.packing)
    do {
      while !isStopped, let file = try accepted() { try reportAccepted(file) }
      while let file = try next() {
        let isDone = isAlreadyDone(file)
        let isStopped = state.withLock { state in
          // From here on, each listed file gets an outcome or is passed on.
          guard !state.isStopped else { return true }
          state.totals.noteListed(file)
          if isDone {
            state.accessRefusals = nil
            state.totals.note(.skipped, size: file.size)
          } else if rest != nil {
            state.unfinished[file.index] = file
          }
          return false
        }
        if isStopped { return }
        if isDone {
          if plan.includesAcceptedEarlier { try reportAccepted(file) }
          continue
        }
        guard let pack = try packer.add(file) else { continue }
        guard queue.add(pack) else { return }
      }
      state.withLock { $0.totals.isListed = true }
    } catch {
      state.withLock { $0.failure = $0.failure ?? error }
      // The files listed before the error are sent. If one request was to have all files, nothing is sent, because that
      // request would be incomplete.
      if plan.packing == .together { return queue.end(dropping: true) }
    }
    let last = packer.takePack()
    if last.isEmpty || queue.add(last) { queue.end(dropping: false) }
  }

  /// Reports a file that an earlier run has delivered, if it is still there as it was delivered. Waits until there is room for
  /// more results.
  private func reportAccepted(_ file: BatchFile) throws {
    guard file.isOnDisk() else { return }
    var ending = FileOutcome(file, maybeDuplicate: false)
    ending.noteAcceptedEarlier()
    try report(ending.result(manifest: plan.hasManifest ? plan.id : nil, url: plan.request.url.description))
    let hasRoom = AutoResetEvent()
    Task { [roomForResults] in
      await roomForResults()
      hasRoom.signal()
    }
    hasRoom.wait(atMost: nil)
  }

  /// Ends the run because of an error that is not about a single file.
  func end(because error: any Error) {
    state.withLock { $0.failure = $0.failure ?? error }
    stop()
  }

  /// Ends the run because the other files would fail as well. The first reason counts; that of a request is better than the
  /// number of failures, to which the request may have led.
  func end(early reason: EarlyEnd) {
    state.withLock { state in
      if !state.isStopped || state.earlyEnd == .tooManyFailures { state.earlyEnd = reason }
    }
    stop()
  }

  private func endIfThrowing(_ body: () throws -> Void) {
    do { try body() } catch { end(because: error) }
  }

  // MARK: The rest

  /// Passes on the files that were listed but not begun.
  private func passOnUnfinished() {
    let files = state.withLock { $0.unfinished.values.sorted { $0.index < $1.index } }
    for file in files { endIfThrowing { try passOn(file, nil) } }
  }

  /// Passes on a file whose state is not `ok`.
  ///
  /// - Parameter ending: the file's outcome; nil if the file was not begun.
  private func passOn(_ file: BatchFile, _ ending: FileOutcome?) throws {
    // A manifest of the remaining files leads to other idempotency keys. So the keys of this run can't prevent duplicates
    // then.
    let isDoubtful =
      ending?.mayBeStored ?? false
      || journal.map { journal in
        journal.earlier.status(of: file.offset) != .unsent
          || journal.earlier.progress(of: file)?.isBegun == true
      } ?? false
    try rest?(
      file.again(
        isDoubtful: isDoubtful, isChanged: ending?.state == .sourceChanged, keepsIndex: true))
  }

  // MARK: A file

  private func isAlreadyDone(_ file: BatchFile) -> Bool {
    journal?.earlier.status(of: file.offset) == .accepted
  }

  /// Writes the results of files to the journal, passes them to the caller, and counts them. The results of one request are
  /// written at once, so that a resumed run makes the same requests.
  func finish(_ endings: [FileOutcome]) {
    if endings.isEmpty { return }
    let results = endings.map { ending in
      var result = ending.result(
        manifest: plan.hasManifest ? plan.id : nil, url: plan.request.url.description)
      result.error = result.error?.naming(by: plan.settingName)
      return result
    }
    endIfThrowing {
      try beforeJournal?(results)
      try journal?.writer.append(results)
    }
    // The caller gets the results even if the journal's disk is full.
    endIfThrowing { for result in results { try report(result) } }
    for ending in endings where ending.state != .ok {
      endIfThrowing { try passOn(ending.file, ending) }
    }
    let failures = state.withLock { state in
      for (ending, result) in zip(endings, results) {
        state.unfinished[ending.file.index] = nil
        state.totals.note(ending, result)
      }
      return state.totals.unaccepted
    }
    if let limit = plan.maximumFailures, failures >= limit { end(early: .tooManyFailures) }
  }
}

extension BatchTotals {
  fileprivate mutating func note(_ ending: FileOutcome, _ result: FileResult) {
    note(
      ending.state, size: ending.file.size, sent: ending.sentBytes,
      isUnreadable: ending.isUnreadable)
    // Files that were certainly accepted don't get here. So the server may or may not have accepted a file that is skipped
    // here.
    if ending.state == .skipped { skippedInDoubt += 1 }
    guard let error = result.error else { return }
    note(
      error: Self.name(ofError: error.code, status: result.status), result.explanation ?? "",
      of: result.file.path)
  }
}
