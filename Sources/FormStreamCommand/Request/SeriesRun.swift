import FormStreamMultipart
import FormStreamHTTP

/// Sends the requests of one command, one after another, over the same connections.
struct SeriesRun {
  let plan: SeriesPlan
  let session: TransferSession
  /// The file of `-D`; nil if there is none.
  let headFile: HeadFile?
  let interruption: Interruption

  /// Sends the requests. If one of them fails, the others are sent anyway.
  ///
  /// - Parameters:
  ///   - file: the file that gets the response of a request; nil if there is none, or if its name is not known before
  ///     the request.
  ///   - send: sends one request.
  static func perform<Item>(
    _ items: [Item], of plan: SeriesPlan, storedIn file: (Item) -> LocalPath?,
    _ send: (Item, SeriesRun) throws(Failure) -> ResultReport.Ending
  ) throws(Failure) {
    do throws(Failure) {
      let run = try SeriesRun(plan)
      var series = RequestSeries(count: items.count, plan.printing)
      for item in items where run.interruption.signal == nil {
        series.add(storedIn: file(item)) { () throws(Failure) in try send(item, run) }
      }
      try run.finish(series)
    } catch {
      throw plan.printing.hidesFailures ? error.silenced : error
    }
  }

  /// - Parameter count: how many requests are sent at the same time.
  init(_ plan: SeriesPlan, atOnce count: Int = 1) throws(Failure) {
    self.plan = plan
    try checkDescriptors(forRequests: count)
    // These files are opened while a signal still ends the command at once: if a FIFO has no other end, opening it
    // blocks.
    headFile = try HeadFile(plan.printing)
    try checkCookieFile(plan.cookieJar)
    interruption = Interruption(gracePeriod: 10)
    session = try startSession(plan.session, interruption)
  }

  private init(_ run: SeriesRun, _ interruption: Interruption) {
    (plan, session, headFile, self.interruption) = (run.plan, run.session, run.headFile, interruption)
  }

  /// The same run for requests beside others: a signal has an action for each of them.
  func branch() -> SeriesRun { SeriesRun(self, interruption.branch()) }

  /// Completes the files of `-D` and `-c` after the last response, and ends the command.
  ///
  /// - Parameter summarize: receives the exit code before the command ends.
  func finish(
    _ series: RequestSeries, _ summarize: (ExitCode) throws(Failure) -> Void = { _ in }
  ) throws(Failure) {
    var ending = series.ending
    do throws(Failure) {
      try series.check(plan.printing.headTarget?.path, of: "-D")
      ending.complete(headFile)
    } catch {
      headFile?.discard()
      ending.add(error)
    }
    do throws(Failure) {
      try series.check(plan.cookieJar, of: "-c")
      ending.saveCookies(of: session, to: plan.cookieJar, interruption)
    } catch {
      ending.add(error)
    }
    do throws(Failure) {
      try summarize(interruption.signal.map(ExitCode.init(signal:)) ?? ending.failure?.exit ?? .ok)
    } catch {
      ending.add(error)
    }
    try ending.finish(interruption)
  }

  /// Opens the output for the response of a request before the request is sent: if opening fails, nothing is sent.
  ///
  /// - Parameters:
  ///   - heads: receives the heads of all responses.
  ///   - replacesFile: whether an existing file may be replaced.
  ///   - check: the requirements for the response besides its status.
  func open(
    _ target: OutputTarget?, for request: TransferRequest, _ heads: ReceivedHeads,
    replacesFile: Bool = true, check: ExpectedResponse? = nil
  ) throws(Failure) -> ResponseOutput? {
    guard let target else { return nil }
    let (options, printing) = (request.options, plan.printing)
    let make = { @Sendable () throws(Failure) in
      try ResponseOutput(
        target, following: options, outputsAnyStatus: printing.outputsAnyStatus,
        replacesFile: replacesFile, hidesRefused: printing.hidesRefused,
        hidesBody: printing.hidesBodies,
        heads: printing.includesHeads(on: target) ? heads : nil, check: check)
    }
    // Standard output is open already, so this can't block.
    if target.path == nil { return try make() }
    return try interruption.performBlocking(orElse: target.unread, make)
  }

  /// Sends one request, shows its progress, and prints its response or its record.
  ///
  /// - Parameter output: where the response's body goes; nil if it goes into the record.
  func perform(
    _ request: TransferRequest, to output: ResponseOutput?, check: ExpectedResponse? = nil,
    _ report: ResultReport, _ heads: ReceivedHeads, _ display: ProgressDisplay
  ) throws(Failure) -> ResultReport.Ending {
    let sharesTerminal = output?.isTerminal ?? false
    var request = request
    request.options.responseTarget =
      if let output {
        .stream(includingRefused: output.includesRefused) { bytes in
          if sharesTerminal { display.yieldTerminal() }
          try output.write(bytes)
        }
      } else {
        .truncated(at: plan.printing.responseLimit, readingToEnd: true)
      }
    report.follow(&request, heads)
    let task = session.start(request)
    interruption.onSignal { _ in task.cancel() }
    let result = try display.follow(
      task.progress, until: { Self.accepting(await task.result, check) },
      hasSucceeded: { $0.error == nil })
    return report.end(
      result, received: task.progress.current.received, output: output, heads: heads,
      check: check, interruption)
  }

  /// The result. A refused range counts as a success if the range begins at the end of the resource.
  private static func accepting(
    _ result: TransferResult, _ check: ExpectedResponse?
  ) -> TransferResult {
    guard result.outcome == .failed, result.error?.code == .statusRefused,
      let response = result.response, check?.isEmptyRest(response) == true
    else { return result }
    return result.accepted()
  }
}

/// Fails if the limit for memory leaves no room for threads: libdispatch would wait for a thread for ever. `send` has
/// more threads than other commands.
func checkAddressSpace(for plan: CommandPlan) throws(Failure) {
  let threads =
    switch plan {
    case .send: 16
    case .get(let plan) where plan.atOnce > 1: min(16, 4 + plan.atOnce)
    default: 4
    }
  guard hasAddressSpace(forThreads: threads) else {
    throw Failure(
      .inputOutput,
      "The limit for memory leaves no room for the threads of this program: allow \(threads > 4 ? 192 : 64) MiB more with "
        + "ulimit -v.")
  }
}

/// Fails if too few files can be open at once to send anything.
///
/// - Parameter count: how many requests are sent at the same time. Each has a connection, a file and a directory.
func checkDescriptors(forRequests count: Int = 1) throws(Failure) {
  let needed = 24 + (count > 1 ? 4 * count : 0)
  guard canOpenDescriptors(wanting: UInt(40 + needed), needing: UInt(needed)) else {
    throw Failure(
      .inputOutput,
      count > 1
        ? "Too few files can be open at once for -j \(count): allow \(needed) or more with ulimit -n, or get fewer at once."
        : "Too few files can be open at once to send anything: allow 24 or more with ulimit -n.")
  }
}
