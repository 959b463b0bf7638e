import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTransfer

/// Runs `get`: one URL after another, over the same connections. A failure ends none of the others.
func get(_ plan: GetPlan) throws(Failure) {
  if !plan.isQuiet {
    for note in plan.notes { StandardError.note(note) }
  }
  try checkDescriptors()
  let interruption = Interruption(gracePeriod: 10)
  let session = try convertingErrors { () throws(TransferError) in
    try TransferSession(plan.configuration)
  }
  var ending = ResultReport.Ending(failure: nil, verdict: "Nothing was requested.")
  for item in plan.items where interruption.signal == nil {
    let failure = ending.failure
    do throws(Failure) {
      ending = try plan.fetch(item, in: session, interruption)
    } catch {
      ending = ResultReport.Ending(failure: error, verdict: error.message)
    }
    if plan.items.count > 1, let message = ending.failure?.message { StandardError.note(message) }
    ending.failure = Failure.worst(failure, ending.failure)
  }
  if plan.items.count > 1 { ending.failure = ending.failure.map { Failure($0.exit, "") } }
  ending.saveCookies(of: session, to: plan.cookieJar)
  try ending.finish(interruption)
}

extension Failure {
  /// The one of two failures that the exit code of many is that of, in whatever order they came.
  fileprivate static func worst(_ first: Failure?, _ second: Failure?) -> Failure? {
    guard let first, let second else { return first ?? second }
    let order: [ExitCode] = [.bug, .unknown, .failed, .inputOutput, .noInput, .usage, .retryable]
    let rank = { (failure: Failure) in order.firstIndex(of: failure.exit) ?? 0 }
    return rank(second) < rank(first) ? second : first
  }
}

extension GetPlan {
  fileprivate func fetch(
    _ item: Item, in session: TransferSession, _ interruption: Interruption
  ) throws(Failure) -> ResultReport.Ending {
    if makesDirectories, let directory = item.destination.directory, !directory.bytes.isEmpty {
      try make(directory)
    }
    let display = ProgressDisplay(
      ProgressOutput(progress, isQuiet: isQuiet), file: item.name, isDownload: true)
    switch item.destination {
    case .output:
      return try print(
        item, to: printsRecord ? nil : .standardOutput, in: session, display, interruption)
    case .file(let path):
      guard !storesOtherThanFiles, let file = placeOfDownload(path) else {
        return try print(item, to: .path(path), in: session, display, interruption)
      }
      return try download(
        item, to: .file(file, ifTaken: .replace), in: session, display, interruption)
    case .directory(let directory, let source):
      return try download(
        item,
        to: .directory(directory, named: source, ifTaken: source == .server ? .number : .replace),
        in: session, display, interruption)
    }
  }

  /// Writes a response while it arrives.
  ///
  /// - Parameter target: nil for the record.
  private func print(
    _ item: Item, to target: OutputTarget?, in session: TransferSession,
    _ display: ProgressDisplay, _ interruption: Interruption
  ) throws(Failure) -> ResultReport.Ending {
    let check =
      item.expectedDigest == nil && range == nil
      ? nil : try ExpectedResponse(expectedDigest: item.expectedDigest, range: range)
    let output = try target.map { (target) throws(Failure) in
      try ResponseOutput(
        target, following: item.request.options, outputsAnyStatus: outputsAnyStatus, check: check)
    }
    let run = RequestRun(
      request: item.request, output: output, responseLimit: responseLimit, check: check,
      report: report)
    var ending = try run.perform(in: session, display, interruption)
    if range != nil, ending.status == 200, let failure = ending.failure {
      ending.failure = Failure(
        failure.exit, "\(failure.message) It sends the complete file in place of --range.")
    }
    return ending
  }

  /// Stores the complete resource in a file.
  private func download(
    _ item: Item, to destination: DownloadDestination, in session: TransferSession,
    _ display: ProgressDisplay, _ interruption: Interruption
  ) throws(Failure) -> ResultReport.Ending {
    var settings = DownloadSettings(destination)
    settings.resumesPartialFile = resumes
    settings.expectedSHA256 = item.expectedDigest?.description
    let task = session.startDownload(item.request, settings)
    interruption.onSignal { _ in task.cancel() }
    let result = try runBlocking { () async throws(Failure) in
      async let displayed: Void = display.follow(task.progress)
      let result = await task.result
      await displayed
      return result
    }
    display.finish(task.progress.current)
    return report.end(result, following: item.request.options, interruption)
  }

  private var report: ResultReport {
    ResultReport(printsRecord: printsRecord, isQuiet: isQuiet, socket: configuration.unixSocket)
  }

  /// Whether what is stored is not the complete file as it is on the server.
  private var storesOtherThanFiles: Bool {
    range != nil || outputsAnyStatus
      || items.contains { $0.request.options.decompression != nil }
  }

  /// Where a file is downloaded to; nil if the path is that of something else, or can't be written.
  private func placeOfDownload(_ path: LocalPath) -> LocalPath? {
    switch try? OutputPlace(at: path) {
    case .nothing: path
    case .file: try? resolved(path)
    case .deadLink, .standardOutput, .special, nil: nil
    }
  }

  private func make(_ directory: LocalPath) throws(Failure) {
    do throws(SystemError) {
      try makeDirectories(directory)
    } catch {
      throw Failure(.inputOutput, "The directory \"\(directory)\" can't be made: \(error).")
    }
  }
}

extension GetPlan.Item {
  /// The name that progress is shown with.
  fileprivate var name: String {
    if case .file(let path) = destination { return path.lastComponent }
    return SafeName(lastSegmentOf: request.url).numbered(1).description
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

extension ResultReport {
  /// Prints what became of a download.
  fileprivate func end(
    _ result: DownloadResult, following options: TransferOptions, _ interruption: Interruption
  ) -> Ending {
    var outputFailure: Failure?
    if let response = result.transfer.response, result.file == nil, !printsRecord,
      response.status >= 300
    {
      do throws(Failure) {
        try interruption.performBlocking { () throws(Failure) in try print(response) }
      } catch {
        outputFailure = error
      }
    }
    let stored = result.file.map {
      StoredResponse(path: $0.path, sha256: $0.sha256, resumedFrom: $0.resumedFrom)
    }
    var ending = end(
      result.transfer, received: result.received, stored: stored, includesBody: stored == nil,
      outputFailure, interruption)
    if result.resumeData != nil, let failure = ending.failure {
      ending.failure = Failure(
        failure.exit, "\(failure.message) With -C -, the same command continues it.")
    }
    return ending
  }
}
