import FormStreamBatch
import FormStreamDigest
import FormStreamIntake
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// Runs `get`.
func get(_ plan: GetPlan) throws(Failure) {
  if !plan.series.isQuiet {
    for note in plan.series.notes { StandardError.note(note) }
  }
  if plan.hasSummary { return try GetRun.perform(plan) }
  try SeriesRun.perform(plan.items, of: plan.series, storedIn: plan.storedFile) {
    (item, run) throws(Failure) in
    let output = ProgressOutput(plan.series.progress, isQuiet: plan.series.isQuiet)
    return try plan.fetch(
      item, in: run, ProgressDisplay(output, file: item.name, isDownload: true))
  }
}

extension GetPlan {
  /// The file that no other response may replace; nil if there is none, or if its name is not known before the request.
  func storedFile(of item: Item) -> LocalPath? { keepsExisting ? nil : item.file }

  func fetch(
    _ item: Item, in run: SeriesRun, _ display: ProgressDisplay
  ) throws(Failure) -> ResultReport.Ending {
    if skipsExisting, let file = item.file, isRegularFile(file) {
      var ending = ResultReport.Ending(
        failure: nil, verdict: "The file \"\(file)\" exists, so it was not requested.")
      ending.isSkipped = true
      if series.printing.printsRecord {
        try printRecord(ofUnsent: item.place, item.request.url, outcome: "skipped", .null, run)
      }
      // A list may have very many lines whose files exist, and the summary counts them.
      if !hasSummary, !series.isQuiet { ending.note = ending.verdict }
      return ending
    }
    if series.makesDirectories, let directory = item.destination.directory, !directory.bytes.isEmpty {
      try make(directory)
    }
    let heads = ReceivedHeads()
    var ending: ResultReport.Ending
    var joinsHeads = false
    switch item.destination {
    case .output:
      let target: OutputTarget? = series.printing.printsRecord ? nil : .standardOutput
      ending = try print(item, to: target, heads, in: run, display)
      joinsHeads = series.printing.joinsHeads(on: target)
    case .file(let path):
      if !storesOtherThanFile(item), let file = placeOfDownload(path) {
        ending = try download(
          item, to: .file(file, ifTaken: keepsExisting ? .number : .replace), heads, in: run,
          display)
      } else {
        let free = keepsExisting ? try freePath(like: path) : path
        ending = try print(item, to: .path(free), heads, in: run, display)
        if keepsExisting { ending.file = free }
      }
    case .directory(let directory, let source):
      ending = try download(
        item,
        to: .directory(
          directory, named: source,
          ifTaken: source == .server || keepsExisting ? .number : .replace),
        heads, in: run, display)
    }
    explain(&ending, of: item)
    series.printing.turn.withLock { _ in
      ending.write(heads, areWritten: joinsHeads, to: run.headFile, run.interruption)
    }
    return ending
  }

  /// If a status from 200 to 299 was not a success, adds the reason to the failure.
  private func explain(_ ending: inout ResultReport.Ending, of item: Item) {
    guard let failure = ending.failure, let status = ending.refusedStatus,
      (200...299).contains(status)
    else { return }
    let reason: String
    if range != nil {
      guard status == 200 else { return }
      reason = "It sends the complete file in place of \(rangeFlag)."
    } else if status == 206 {
      reason =
        item.request.headers.contains("Range")
        ? "It sent a part of the file: ask for one with --range, which checks what is sent, and not with -H."
        : "It sent a part of the file without being asked for one."
    } else if item.destination.isFile, !choosesStatuses {
      reason =
        "Only 200 and 203 say that the file is complete: --expect-status \(status) stores it anyway."
    } else {
      return
    }
    ending.failure = Failure(failure.exit, "\(failure.message) \(reason)", code: failure.code)
  }

  /// Writes a response while it arrives.
  ///
  /// - Parameter target: where the body goes; nil if it goes into the record.
  private func print(
    _ item: Item, to target: OutputTarget?, _ heads: ReceivedHeads, in run: SeriesRun,
    _ display: ProgressDisplay
  ) throws(Failure) -> ResultReport.Ending {
    let check =
      item.expectedDigest == nil && range == nil
      ? nil
      : try ExpectedResponse(
        expectedDigest: item.expectedDigest, range: item.request.method == .head ? nil : range,
        isRest: rangeFlag == "-C", hidesRefused: series.printing.hidesRefused)
    let output = try run.open(
      target, for: item.request, heads, replacesFile: !keepsExisting, check: check)
    return try run.perform(item.request, to: output, check: check, report(on: item), heads, display)
  }

  /// Stores the complete resource in a file.
  private func download(
    _ item: Item, to destination: DownloadDestination, _ heads: ReceivedHeads, in run: SeriesRun,
    _ display: ProgressDisplay
  ) throws(Failure) -> ResultReport.Ending {
    var settings = DownloadSettings(destination)
    settings.resumesPartialFile = resumes
    settings.keepsPartialFile = !removesOnError
    settings.numbersAtEnd = keepsExisting
    settings.expectedSHA256 = item.expectedDigest
    let report = report(on: item)
    var request = item.request
    report.follow(&request, heads)
    let task = run.session.startDownload(request, settings)
    run.interruption.onSignal { _ in task.cancel() }
    let result = try display.follow(
      task.progress, until: { await task.result }, hasSucceeded: { $0.outcome == .ok })
    return report.end(result, heads, run.interruption)
  }

  private func report(on item: Item) -> ResultReport {
    ResultReport(
      on: item.request, item.place, of: series,
      subject: item.destination.isOutput && items.count == 1 && listed == nil ? nil : item.name,
      condition: condition,
      // Otherwise, the texts of several refused responses would stand on standard output without anything between them.
      explainsInMessage: (listed != nil || atOnce > 1) && !item.destination.isOutput)
  }

  /// Prints the record of a request that was not sent: with `--json`, there is one for each URL.
  func printRecord(
    ofUnsent place: RequestPlace, _ url: HTTPURL?, outcome: String, _ error: JSONValue, _ run: SeriesRun
  ) throws(Failure) {
    let record = place.recordOfUnsent(url: url, method: method, outcome: outcome, error: error)
    try series.printing.turn.withLock { (_) throws(Failure) in
      try run.interruption.performBlocking { () throws(Failure) in
        try OutputFile(.standardOutput).write(record.line())
      }
    }
  }

  /// Whether something other than the complete file, as it is on the server, may be stored.
  private func storesOtherThanFile(_ item: Item) -> Bool {
    range != nil || series.printing.outputsAnyStatus || series.printing.includesHeads
      || item.request.options.responseCompression != nil || item.request.method != .get
  }

  /// The path that a file is downloaded to; nil if something other than a regular file is at the path, or if it can't
  /// be written.
  private func placeOfDownload(_ path: LocalPath) -> LocalPath? {
    switch try? OutputPlace(at: path) {
    case .nothing: path
    case .file: keepsExisting ? path : try? resolved(path)
    case .deadLink, .standardOutput, .special, nil: nil
    }
  }
}

/// A path at which there is no file: `path` itself, or `path` with a number after it, as in curl.
private func freePath(like path: LocalPath) throws(Failure) -> LocalPath {
  for number in 0...10_000 {
    let free = number == 0 ? path : LocalPath(bytes: path.bytes + Array(".\(number)".utf8))
    switch try? OutputPlace(at: free) {
    case .file, .deadLink: continue
    case .nothing, .standardOutput, .special, nil: return free
    }
  }
  throw Failure(
    .inputOutput, "The file \"\(path)\" exists, and so does each with a number up to 10000.")
}

extension GetPlan.Item {
  /// The name of the download in progress and messages. It never shows the end of a secret URL, even if a file has that
  /// name.
  var name: String {
    let urls = SafeName(lastSegmentOf: request.url).numbered(1).description
    let shown = request.url.isSecret ? "download" : urls
    // The name of a device, such as /dev/null, says nothing.
    guard case .file(let path) = destination, destination.isFile else { return shown }
    return path.lastComponent == urls ? shown : path.lastComponent
  }
}

extension GetPlan.Destination {
  /// The directory of the file; nil if there is no file, or if it is in the current directory.
  fileprivate var directory: LocalPath? {
    switch self {
    case .output: nil
    case .file(let path): LocalPath(bytes: path.directory.bytes)
    case .directory(let directory, _): directory
    }
  }
}

extension DownloadResult {
  /// Whether the body of the last response went to a file, complete or not. If so, `transfer.response` contains nothing
  /// of the body.
  fileprivate var wasWritten: Bool {
    file != nil || received > 0 && transfer.error?.code != .statusRefused
  }
}

extension ResultReport {
  /// Prints the result of a download.
  fileprivate func end(
    _ result: DownloadResult, _ heads: ReceivedHeads, _ interruption: Interruption
  ) -> Ending {
    var outputFailure: Failure?
    var delivered = result.received
    if let response = result.transfer.response, !result.wasWritten, !printing.printsRecord,
      !hidesRefused,
      response.status >= 300 || result.transfer.error?.code == .statusRefused
    {
      delivered += result.unstored
      do throws(Failure) {
        try printing.turn.withLock { (_) throws(Failure) in
          try interruption.performBlocking { () throws(Failure) in
            try print(response, after: nil, withBody: true)
          }
        }
        noteCut(response)
      } catch {
        outputFailure = error
      }
    }
    let isUnshown = hidesRefused && !printing.printsRecord && !result.wasWritten
    let words = isUnshown ? result.transfer.response.flatMap { ServerWords($0) } : nil
    let stored = result.file.map {
      TransferResult.StoredResponse(path: $0.path, sha256: $0.sha256, resumedFrom: $0.resumedFrom)
    }
    var ending = end(
      result.transfer, received: result.received + result.unstored, stored: stored, heads: heads,
      includesBody: !result.wasWritten, delivered: delivered, words, outputFailure, interruption)
    ending.file = result.file?.path
    if result.resumeData != nil, let failure = ending.failure {
      ending.failure = Failure(
        failure.exit, "\(failure.message) With -C -, the same command continues it.")
    }
    return ending
  }
}
