import FormStreamBatch
import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// Gets many URLs, several at the same time, with one display and a summary.
///
/// Memory depends on the number of requests at the same time, and not on the length of lists.
final class GetRun: Sendable {
  fileprivate struct InFlight {
    let name: String
    var updates: TransferProgressUpdates?
  }

  fileprivate struct State {
    var waiting: ArraySlice<GetPlan.Item>
    var series: RequestSeries
    var totals = BatchTotals()
    /// How many requests were sent.
    var requested = 0
    var inFlight: [Int: InFlight] = [:]
    /// How many bytes the requests that have ended received.
    var received: Int64 = 0
    var isStopped = false
    /// Continues when nothing is left to do.
    var continuation: CheckedContinuation<Void, Never>?

    var isOver: Bool { inFlight.isEmpty && (isStopped || totals.isListed && waiting.isEmpty) }
  }

  private let plan: GetPlan
  private let run: SeriesRun
  private let state: Guarded<State>

  /// Gets the URLs of a plan. If one of them fails, the others are received anyway.
  static func perform(_ plan: GetPlan) throws(Failure) {
    do throws(Failure) {
      try GetRun(plan).perform()
    } catch {
      throw plan.series.printing.hidesFailures ? error.silenced : error
    }
  }

  private init(_ plan: GetPlan) throws(Failure) {
    self.plan = plan
    run = try SeriesRun(plan.series, atOnce: plan.atOnce)
    state = Guarded(
      State(waiting: plan.items[...], series: RequestSeries(count: nil, plan.series.printing)))
    state.withLock { state in
      state.totals.listed = plan.items.count
      state.totals.isListed = plan.listed == nil
    }
  }

  private func perform() throws(Failure) {
    let start = ContinuousClock.now
    let display = BatchDisplay(ProgressOutput(plan.series.progress, isQuiet: plan.series.isQuiet))
    run.interruption.onSignal { [self] _ in
      state.withLock { $0.isStopped = true }
      continueIfOver()
    }
    let count = plan.listed == nil ? min(plan.atOnce, max(plan.items.count, 1)) : plan.atOnce
    var started = 0
    while started < count, startThread("formstream-get", { [self] in work(run.branch()) }) {
      started += 1
    }
    guard started > 0 else {
      throw Failure(
        .inputOutput,
        "Nothing can be received: the system has no threads left. Allow more with ulimit -u, or more memory with ulimit -v."
      )
    }
    try runBlocking { [self] () async throws(Failure) in
      // The display is cancelled when the run is over.
      async let _: Void = display.follow { self.progress(isDone: false) }
      await waitUntilOver()
    }
    display.finish(progress(isDone: true))
    let (series, totals, requested) = state.withLock { ($0.series, $0.totals, $0.requested) }
    try run.finish(series) { (exit) throws(Failure) in
      let summary = GetSummary(
        totals: totals, requested: requested, duration: start.duration(to: .now), atOnce: plan.atOnce, exit: exit)
      try summary.print(plan.series.printing)
    }
  }

  private func waitUntilOver() async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.continuation = continuation }
      continueIfOver()
    }
  }

  private func continueIfOver() {
    let continuation = state.withLock { state in
      guard state.isOver else { return nil as CheckedContinuation<Void, Never>? }
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume()
  }

  // MARK: The threads

  /// Gets one URL after another.
  private func work(_ run: SeriesRun) {
    while let item = next(run) {
      var ending: ResultReport.Ending
      let file = plan.storedFile(of: item)
      var isRequested = true
      do throws(Failure) {
        try state.withLock { (state) throws(Failure) in try state.series.check(file) }
        ending = try plan.fetch(
          item, in: run,
          ProgressDisplay { [self] updates in
            state.withLock { $0.inFlight[item.number]?.updates = updates }
          })
        isRequested = !ending.isSkipped
      } catch {
        isRequested = false
        ending = unsent(error, item.place, item.request.url, run)
      }
      state.withLock { state in
        if isRequested { state.requested += 1 }
        let received = state.inFlight.removeValue(forKey: item.number)?.updates?.current.received ?? 0
        state.received = state.received.addingClamped(received)
        state.series.note(ending, storedIn: file)
        state.totals.note(ending, received: ending.received, of: item.name)
      }
      continueIfOver()
    }
  }

  /// The ending of a request that was not sent. With `--json`, its record is printed: there is one for each URL.
  private func unsent(
    _ failure: Failure, _ place: RequestPlace, _ url: HTTPURL?, _ run: SeriesRun
  ) -> ResultReport.Ending {
    var ending = ResultReport.Ending(failure)
    guard plan.series.printing.printsRecord else { return ending }
    do throws(Failure) {
      try plan.printRecord(
        ofUnsent: place, url, outcome: "failed", .failure(code: failure.code.rawValue, failure.message), run)
    } catch {
      ending.add(error)
    }
    return ending
  }

  /// The next request, which counts as being on its way from here on; nil after the last, or after a signal.
  private func next(_ run: SeriesRun) -> GetPlan.Item? {
    if let item = state.withLock({ $0.begin($0.waiting.first) }) { return item }
    guard let listed = plan.listed else { return nil }
    while true {
      // Reading a list may block, for example on a pipe, and must not hold up requests that are on their way: so it has another
      // lock. What was read is noted under that lock. Otherwise another thread could read the end of the list before the last
      // request counts as being on its way, and the run would seem to be over.
      let read = listed.withLock { (items) -> ListedItems.Read? in
        guard !state.withLock({ $0.isStopped || $0.totals.isListed }) else { return nil }
        return begin(items.nextRead())
      }
      switch read {
      case .item(let item): return item
      case .badLine(let place, let url, let failure):
        // Printing may block, too, and must not hold up those who read the list.
        let ending = unsent(failure, place, url, run)
        state.withLock { state in
          state.inFlight[place.index] = nil
          state.series.note(ending, storedIn: nil)
          state.totals.note(ending, received: 0, of: "")
        }
        continueIfOver()
      case .end, nil:
        continueIfOver()
        return nil
      }
    }
  }

  /// Notes what was read from a list. A line counts as being on its way from here on, even a bad one. Returns nil if nothing more
  /// begins.
  private func begin(_ read: ListedItems.Read) -> ListedItems.Read? {
    state.withLock { state in
      if case .end(let failure) = read {
        if let failure { state.series.note(ResultReport.Ending(failure), storedIn: nil) }
        state.totals.isListed = true
        return read
      }
      if state.isStopped { return nil }
      state.totals.listed += 1
      switch read {
      case .item(let item): return state.begin(item).map(ListedItems.Read.item)
      case .badLine(let place, _, _): state.inFlight[place.index] = GetRun.InFlight(name: place.line.map { "line \($0)" } ?? "")
      case .end: break
      }
      return read
    }
  }

  // MARK: Progress

  private func progress(isDone: Bool) -> BatchProgress {
    state.withLock { state in
      var progress = BatchProgress()
      progress.isDownload = true
      progress.stage = isDone ? .done : state.isStopped ? .stopping : .sending
      progress.concurrency = plan.atOnce
      (progress.listed, progress.isListed) = (state.totals.listed, state.totals.isListed)
      (progress.done, progress.skipped) = (state.totals.finished, state.totals[.skipped])
      progress.failed = state.totals.unaccepted
      progress.handed = state.received
      // The sizes of files are known only from the responses.
      var total: Int64? = state.totals.isListed && state.waiting.isEmpty ? state.received : nil
      for (id, request) in state.inFlight.sorted(by: { $0.key < $1.key }) {
        let current = request.updates?.current
        let (received, size) = (current?.received ?? 0, current?.responseTotal)
        progress.handed = progress.handed.addingClamped(received)
        total = size.flatMap { total?.addingClamped($0) }
        let phase = current.map { ProgressSnapshot($0).receiving.phase } ?? .connecting
        progress.requests.append(
          .init(id: id, path: request.name, phase: phase, size: size, handed: received))
      }
      progress.total = total
      progress.left = total.map { max(0, $0 - progress.handed) } ?? 0
      return progress
    }
  }
}

extension GetRun.State {
  /// Notes that a request begins, and returns it; nil if nothing more begins.
  fileprivate mutating func begin(_ item: GetPlan.Item?) -> GetPlan.Item? {
    guard let item, !isStopped else { return nil }
    if waiting.first?.number == item.number { waiting.removeFirst() }
    inFlight[item.number] = GetRun.InFlight(name: item.name)
    return item
  }
}

extension BatchTotals {
  /// Notes how the request for a URL has ended.
  ///
  /// - Parameter name: the name of the file in messages.
  fileprivate mutating func note(
    _ ending: ResultReport.Ending, received: Int64, of name: String
  ) {
    guard let failure = ending.failure else {
      return note(ending.isSkipped ? .skipped : .ok, size: received)
    }
    let state: BatchState =
      switch failure.exit {
      case .unknown: .unknown
      // A request that a signal cancelled has stored nothing.
      case .retryable, .interrupted, .terminated, .hungUp, .quit: .retryable
      default: .failed
      }
    note(state, size: received)
    note(
      error: Self.name(ofError: (ending.code ?? failure.code).rawValue, status: ending.refusedStatus),
      ending.reason ?? failure.message,
      of: LocalPath(bytes: Array(name.utf8)))
  }
}
