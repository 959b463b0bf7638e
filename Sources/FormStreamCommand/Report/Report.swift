import FormStreamBatch
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// Runs `report`.
func report(_ plan: ReportPlan) throws(Failure) {
  let (manifests, journals) = try convertingErrors { () throws(BatchError) in try plan.manifests() }
  try plan.checkPage(besides: manifests)
  let failed = try plan.failed.map { target throws(Failure) in try ManifestOutput(target, isFailedList: true) }
  let page = try plan.page.map { target throws(Failure) in try OutputFile(target, of: "--html") }
  let list = try plan.list.map { list throws(Failure) in try ReportListing(list) }
  var report: BatchReport
  var deletable: DeletableFiles?
  do {
    report = try BatchReport(
      on: manifests, shard: plan.shard, in: plan.directories,
      temporaryDirectory: LocalPath(bytes: temporaryDirectory), summedUp: journals, failures: list?.failures,
      accepted: list?.accepted,
      begin: { manifest throws(Failure) in
        try failed?.begin(
          of: FailedList.Origin(
            root: manifest.root, hasOneRoot: manifest.hasOneRoot, manifest: manifest.id,
            round: manifest.round, journal: plan.directories.count == 1 ? plan.directories[0] : nil))
      },
      rest: { file throws(Failure) in try failed?.write(ManifestEncoder.line(for: file)) })
    if plan.list?.kind == .deletable, let journals { deletable = try DeletableFiles(in: journals) }
    try list?.finish(report, deletable: deletable)
  } catch {
    throw Failure(anyOf: error)
  }
  try failed?.commit()
  var pageFailure: Failure?
  if let page {
    // If the page can't be written, the report is still printed, but nothing is settled: nobody has seen the page.
    do throws(Failure) { try write(report, to: page, plan) } catch { pageFailure = error }
  }
  if plan.settlesDoubts, pageFailure == nil, let directory = plan.directories.first,
    !report.doubts.isEmpty || !report.damaged.isEmpty
  {
    try convertingErrors { () throws(BatchError) in
      try SettledDoubts.settle(report.doubts, report.damaged, in: directory)
    }
    report.noteSettled()
  }
  let exit = report.exit
  if plan.printsRecord {
    try OutputFile(.standardOutput).write(
      report.record(shard: plan.shard, exit: Int(exit.rawValue)).line())
  } else {
    // If the manifest of `--failed`, the page or a list goes to standard output, the report goes to standard error.
    let isTaken = plan.failed.isStandardOutput || plan.page.isStandardOutput || list != nil
    let output = isTaken ? nil : try OutputFile(.standardOutput)
    for line in report.lines + [deletable?.reason].compactMap(\.self) {
      if let output { try output.write(line + "\n") } else { StandardError.write(line) }
    }
  }
  if let pageFailure { throw pageFailure }
  guard exit != .ok else { return }
  throw Failure(exit, plan.printsRecord ? report.sentence : "")
}

private func write(_ report: BatchReport, to page: OutputFile, _ plan: ReportPlan) throws(Failure) {
  let history = try convertingErrors { () throws(BatchError) in try RunHistory(of: report) }
  // The page says what the report says.
  var shown = report
  if plan.settlesDoubts { shown.noteSettled() }
  try page.write(ReportPage(report: shown, lines: shown.lines, history: history).text)
  try page.commit()
}

extension ReportPlan {
  /// Throws if the page would replace a file that says what was sent, or would be read as such a file.
  ///
  /// - Parameter manifests: the manifests that the report is about.
  fileprivate func checkPage(besides manifests: [LocalPath]) throws(Failure) {
    guard let path = page?.path, let target = FileAtPath(at: path) else { return }
    func refuse() -> Failure {
      .usage("--html would replace \"\(path)\", which says what was sent, or would be read as if it did: choose another name.")
    }
    for directory in directories {
      if JournalReader.isRecord(path.name),
        FileAtPath(at: LocalPath(bytes: directory.bytes + [UInt8(ascii: "/")] + path.name.bytes)) == target
      {
        throw refuse()
      }
      let records = try convertingErrors { () throws(BatchError) in try JournalReader.records(in: directory) }
      if records.contains(where: { FileAtPath(at: $0) == target }) { throw refuse() }
    }
    if manifests.contains(where: { FileAtPath(at: $0) == target }) { throw refuse() }
  }
}

extension ReportPlan {
  /// The manifests that the report is about: those of all rounds, or the one that was named, with the lists of their failed
  /// files. If it is about all rounds, also returns the journals, and the state that sums up the rounds before the manifests.
  fileprivate func manifests() throws(BatchError) -> ([LocalPath], JournalSet?) {
    // A shard of a list has other files than the shard of its manifest.
    if let manifest, shard != nil { return ([manifest], nil) }
    if let manifest {
      let id = try JournalSet.id(of: manifest, in: directories)
      let earlier = try EarlierManifests(of: JournalSet(in: directories), named: [manifest], taking: .of([id]))
      try earlier.checkJournals()
      return (earlier.paths, nil)
    }
    let journals = try JournalSet(in: directories)
    var found: [LocalPath] = []
    for directory in journals.directories where try !RecordedListing.manifests(in: directory).isEmpty {
      found.append(directory)
    }
    let earlier = try EarlierManifests(of: journals, taking: found.first.map { .rounds(in: $0) } ?? .all)
    try earlier.checkRounds()
    let manifests = earlier.paths
    guard found.count <= 1, !manifests.isEmpty else {
      throw BatchError(
        .journalMisplaced, on: directories[0].description,
        "There \(found.isEmpty ? "is no manifest" : "are several manifests") in the directories of the journals: name one with "
          + "--manifest FILE.")
    }
    return (manifests, earlier.journals)
  }
}

extension OutputTarget? {
  var isStandardOutput: Bool {
    if case .standardOutput = self { true } else { false }
  }
}

extension BatchReport {
  private func count(_ state: BatchState) -> Int { states[state] ?? 0 }

  /// The exit code: the worst code of any file. If a file was accepted twice, no other run can undo that.
  fileprivate var exit: ExitCode {
    ExitCode.worst(of: [
      (.unknown, count(.unknown) > 0 || maybeDuplicates > 0 || damagedJournals > 0),
      (.failed, count(.failed) > unreadable || duplicates > 0),
      (.inputOutput, count(.sourceChanged) > 0),
      (.noInput, unreadable > 0),
      (.retryable, count(.retryable) > 0 || missing > 0 || !isListed),
    ]) ?? .ok
  }

  /// The states in one sentence.
  fileprivate var sentence: String {
    let states = BatchState.allCases.map { (count($0), $0.rawValue) } + [(missing, "missing")]
    let named = states.compactMap { $0.0 > 0 ? "\($0.0) \($0.1)" : nil }.joined(separator: ", ")
    return "\(countedFiles(files, unlistedDirectories: unlistedDirectories))\(named.isEmpty ? "" : ": \(named)")."
  }

  /// The report for people.
  fileprivate var lines: [String] {
    var lines = ["\(sentence) \(HumanReadable.size(bytes)) accepted."]
    let open =
      openJournals > 0 ? ", \(openJournals) of them from runs that were killed, or go on" : ""
    let rounds = rounds > 1 ? "\(rounds) manifests, " : ""
    lines.append("\(rounds)\(counted(journals, "journal", "journals"))\(open).")
    if let summedUp {
      lines.append("\(RecordedState.fileName) sums up rounds 1 to \(summedUp): --deletable lists their files.")
    }
    if damagedJournals > 0 {
      let have = damagedJournals == 1 ? "journal has" : "journals have"
      lines.append(
        "\(damagedJournals) \(have) some lines that can't be read: what they said is not known.")
    }
    if settledJournals > 0 {
      let have = settledJournals == 1 ? "journal has" : "journals have"
      lines.append("\(settledJournals) \(have) some lines that can't be read, settled with --settle.")
    }
    if !isListed {
      lines.append("Not all files are listed: the run that lists them was ended, or goes on.")
    }
    if duplicates > 0 {
      lines.append("\(counted(duplicates, "file", "files")) accepted twice or more.")
    }
    if maybeDuplicates > 0 {
      lines.append("\(counted(maybeDuplicates, "file", "files")) accepted, and maybe twice.")
    }
    if settled > 0 {
      lines.append(
        "\(counted(settled, "file", "files")) accepted twice, or maybe twice, and settled with --settle.")
    }
    return lines
  }
}
