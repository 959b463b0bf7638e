import FormStreamHTTP
package import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON

/// What became of each file of a manifest, or of several rounds, according to all journals of the manifests.
///
/// A file counts once, however many journals mention it. It counts as `ok` if any journal says so. Otherwise it counts as
/// the first of these states that a journal has for it: `unknown`, `failed`, `source-changed`, `retryable`. Memory does not
/// grow with the manifest, because the manifest is examined one part at a time, and the files of several rounds are sorted on
/// the disk.
package struct BatchReport: Sendable {
  /// The UUID of the manifest. If there are several rounds, it is the UUID of the last round's manifest.
  package private(set) var manifest = ""
  /// The number of rounds that the report is about.
  package private(set) var rounds = 1
  /// A file that was not accepted.
  package struct Unaccepted: Sendable {
    package let path: LocalPath
    /// What the file is counted as; nil if no journal has a result.
    package let state: BatchState?
    let manifest: String
    let offset: Int64
    /// The record of a journal that says why, if the journal need not be there any more; empty otherwise.
    var record: [UInt8] = []

    /// Why the file was not accepted.
    ///
    /// - Parameter result: what a journal says about the file; nil if none says anything.
    package func explanation(by result: RunHistory.Entry?) -> String {
      result.map { $0.explanation ?? "" } ?? reasonWithoutResult
    }

    /// Why no journal says what became of the file.
    var reasonWithoutResult: String {
      state == nil
        ? "No journal has a result for it." : "A request for it may have begun, and no journal says what became of it."
    }
  }

  /// The first files that were not accepted.
  package private(set) var unaccepted: [Unaccepted] = []
  /// The most files in ``unaccepted``.
  private static let maximumUnaccepted = 100
  /// The journals of a manifest, and the range of its records that the report is about.
  struct Sources {
    let manifest: String
    let journals: [JournalSummary]
    let range: Range<Int64>
  }
  /// The journals of each manifest, in the order of the rounds.
  private(set) var sources: [Sources] = []
  /// The number of the manifests' journals.
  package private(set) var journals = 0
  /// How many journals have no last line: their runs were killed, or still go on.
  package private(set) var openJournals = 0
  /// The journals with lines that can't be read, unless `--settle` has noted these lines. Their contents are not known.
  package private(set) var damaged: [SettledDoubts.DamagedJournal] = []
  package var damagedJournals: Int { damaged.count }
  /// How many journals have lines that can't be read, and somebody has looked at them.
  package private(set) var settledJournals = 0
  /// Whether the manifest has all files to send. False if the run that writes the manifest is still listing files, or ended
  /// while it listed them.
  package private(set) var isListed = true
  /// How many files the manifest or the shard has. A directory that can't be listed counts as one.
  package private(set) var files = 0
  /// How many of the ``files`` are directories that can't be listed.
  package private(set) var unlistedDirectories = 0
  package private(set) var states: [BatchState: Int] = [:]
  /// How many of the failed files were missing or could not be read.
  package private(set) var unreadable = 0
  /// How many files have no result in any journal.
  package private(set) var missing = 0
  /// How many files were accepted twice or more.
  package private(set) var duplicates = 0
  /// How many accepted files may have been accepted twice or more, without being counted in ``duplicates``.
  package private(set) var maybeDuplicates = 0
  /// How many files were accepted twice, or may have been, and somebody has looked at them.
  package private(set) var settled = 0
  /// The files that ``duplicates`` and ``maybeDuplicates`` count.
  package private(set) var doubts: [SettledDoubts.Doubt] = []
  private var settledDoubts: SettledDoubts
  /// The number of the last of the rounds that ``RecordedState`` sums up; nil if it sums up none.
  package private(set) var summedUp: Int?
  /// How many bytes the accepted files have.
  package private(set) var bytes: Int64 = 0

  /// Whether each file is known to have been accepted exactly once.
  package var isComplete: Bool {
    states[.ok] ?? 0 == files && duplicates == 0 && maybeDuplicates == 0 && damagedJournals == 0
      && isListed
  }

  /// Notes that somebody has looked at all ``doubts`` and ``damaged`` journals.
  package mutating func noteSettled() {
    settled += doubts.count
    (duplicates, maybeDuplicates, doubts) = (0, 0, [])
    settledJournals += damaged.count
    damaged = []
  }

  /// How many bytes of a manifest are examined together. The findings about this part take at most an eighth of its size.
  private static let window: Int64 = 1 << 29

  /// Reads the journals.
  ///
  /// - Parameters:
  ///   - manifests: the paths of the manifest, or of the manifests of all rounds, in the order of the rounds. Of a file that
  ///     several rounds have, the last round counts.
  ///   - shard: the shard that the report is about; nil for all files.
  ///   - directories: the directories with the journals. Journals of other manifests are left out. A journal and its copy
  ///     count once.
  ///   - boot: the identifier of this machine's current boot.
  ///   - window: how many bytes of the manifest are examined together; tests use fewer.
  ///   - temporaryDirectory: the directory for temporary files, in which the files of several rounds are sorted.
  ///   - journals: the journals in the directories, and the state that sums up the rounds before the manifests; nil if the
  ///     manifests have all rounds.
  ///   - begin: receives the open manifest before the first file is examined.
  ///   - failures: receives all files that were not accepted; nil if they are not listed.
  ///   - accepted: receives each accepted file, with the size and time of the accepted version; nil if they are not listed.
  ///   - rest: receives each file that was not accepted, so that it can be sent again. If the file has changed, it has its
  ///     current size and time.
  package init<Failure: Error>(
    on manifests: [LocalPath], shard: Shard? = nil, in directories: [LocalPath],
    boot: String = JournalHead.currentBoot, window: Int64 = BatchReport.window,
    temporaryDirectory: LocalPath = "/tmp", summedUp journals: JournalSet? = nil, failures: FailureList? = nil,
    accepted: ((BatchFile) throws -> Void)? = nil,
    begin: (ManifestReader) throws(Failure) -> Void, rest: (BatchFile) throws(Failure) -> Void
  ) throws {
    let set = try journals ?? JournalSet(in: directories, usesState: false)
    rounds = manifests.count + (set.state?.counts.manifests ?? 0)
    settledDoubts = try SettledDoubts(in: directories, set)
    var files = rounds > 1 ? RoundFindings(in: temporaryDirectory) : nil
    if let state = set.state { try add(state, to: &files, notesVersions: accepted != nil) }
    for (index, path) in manifests.enumerated() {
      isListed = isListed && !RecordedRounds.isPartial(path)
      let reader = try ManifestReader(path, shard: shard, acceptsTornEnd: !isListed)
      manifest = reader.id
      if index == manifests.count - 1 { try begin(reader) }
      let groups = try Self.groups(of: reader.extent, isListed: isListed, in: set)
      let journals = groups.flatMap(\.self)
      sources.append(
        Sources(manifest: reader.id, journals: journals, range: reader.extent.offsets(of: shard)))
      self.journals += journals.count
      openJournals += try journals.count { try !JournalReader.isClosed($0.path) }
      let period = try set.period(ofManifest: reader.id)
      // A file that was missing when it was listed has the version that was sent in the journals alone.
      let versions =
        accepted == nil ? nil : try AcceptedVersions(of: reader.extent, in: set, sortedIn: temporaryDirectory)
      let damaged = try Self.examine(reader, groups, boot: boot, window: window) { listed, finding in
        var entry = RoundFindings.Entry(listed.lookedForAgain, finding)
        if case .file(let file) = listed {
          entry.isRepair = reader.parent != nil
          // In a manifest made by `plan`, each shard has indices of its own.
          entry.keepsIndex = reader.listing != nil || file.keptIndex != nil
        }
        (entry.manifest, entry.period) = (reader.id, period)
        if let version = try versions?.version(of: entry.file.offset) { entry.note(accepted: version) }
        if files != nil { try files?.add(entry) } else { try count(entry, failures, accepted, rest) }
      }
      for journal in damaged {
        if settledDoubts.settles(journal) { settledJournals += 1 } else { self.damaged.append(journal) }
      }
    }
    try files?.forEach { entry in try count(entry, failures, accepted, rest) }
  }

  /// Adds what a state says about the rounds before the manifests.
  private mutating func add(
    _ state: RecordedState, to files: inout RoundFindings?, notesVersions: Bool
  ) throws(BatchError) {
    summedUp = state.through
    (journals, openJournals) = (state.counts.journals, state.counts.openJournals)
    for journal in state.manifests.all.flatMap(\.journals) where journal.damagedLines > 0 {
      let damaged = SettledDoubts.DamagedJournal(journal)
      if settledDoubts.settles(damaged) { settledJournals += 1 } else { self.damaged.append(damaged) }
    }
    try state.forEach(notesVersions: notesVersions) { path throws(BatchError) in
      path.noteSettled(in: &settledDoubts)
      if let file = path.file { try files?.add(path.findings, of: file) }
    }
  }

  /// Passes on each file of a manifest, with what the journals say about it. Returns the journals with lines that can't be
  /// read.
  static func examine(
    _ reader: ManifestReader, _ groups: [[JournalSummary]], boot: String, window: Int64,
    _ receive: (ManifestReader.Entry, JournalFindings.Finding) throws -> Void
  ) throws -> [SettledDoubts.DamagedJournal] {
    var end: Int64 = 0
    var findings = JournalFindings()
    var damaged: [LocalPath: SettledDoubts.DamagedJournal] = [:]
    while let entry = try reader.nextEntry() {
      guard case .file(let file) = entry else {
        try receive(entry, [])
        continue
      }
      if file.offset >= end {
        // The next part begins with this file.
        end = file.offset > .max - window ? .max : file.offset + window
        findings = JournalFindings()
        for group in groups {
          var lost: [Range<Int64>] = []
          for journal in group where journal.range.overlaps(file.offset..<end) {
            let lines = try findings.add(journal, in: file.offset..<end)
            if lines > 0 { damaged[journal.path] = SettledDoubts.DamagedJournal(journal, lines: lines) }
            if try lines > 0 || journal.mayHaveLostLines(boot: boot) { lost.append(journal.range) }
          }
          findings.endGroup(lost: lost)
        }
      }
      var finding = findings[file.offset]
      if findings.mayBeAcceptedAgain(file.offset) { finding.insert(.maybeDuplicate) }
      if findings.mayBeLost(file.offset) { finding.insert(.mayBeLost) }
      // An earlier round or manifest may have sent the file.
      if file.maybeDuplicate, finding.isEmpty { finding.insert(.unknown) }
      try receive(entry, finding)
    }
    return Array(damaged.values)
  }

  /// What journals have in common if their runs can't store a file twice.
  private enum Group: Hashable {
    /// The runs send the same data to the same URLs, so a file that the server accepts twice is stored once.
    case harmless(url: String, template: String?, sliceSize: Int64?)
    /// The journals are in one directory: each run knows which files were accepted in the runs before it.
    case directory(LocalPath)
  }

  /// The journals of a manifest, in groups. Groups whose runs are harmless if repeated come first.
  static func groups(
    of manifest: ManifestExtent, isListed: Bool, in journals: JournalSet
  ) throws(BatchError) -> [[JournalSummary]] {
    let extent = isListed ? manifest : ManifestExtent(id: manifest.id, records: nil)
    let groups = Dictionary(grouping: try journals.journals(of: extent)) { journal in
      let head = journal.head
      return head.isHarmlessTwice
        ? Group.harmless(url: head.url, template: head.template, sliceSize: head.sliceSize)
        : Group.directory(LocalPath(bytes: journal.path.directory.bytes))
    }.values
    return groups.filter { $0[0].head.isHarmlessTwice }
      + groups.filter { !$0[0].head.isHarmlessTwice }
  }

  /// Counts a file, and passes it on.
  private mutating func count<Failure: Error>(
    _ entry: RoundFindings.Entry, _ failures: FailureList?, _ accepted: ((BatchFile) throws -> Void)?,
    _ rest: (BatchFile) throws(Failure) -> Void
  ) throws {
    guard let (file, finding) = entry.found else { return }
    let state = count(file, finding, of: entry.manifest)
    if state == .ok {
      // What has the name of a file that was gone since may be another file.
      if !entry.isGone { try accepted?(file) }
      return
    }
    let unaccepted = Unaccepted(
      path: file.path, state: state, manifest: entry.manifest, offset: file.offset, record: entry.record)
    if self.unaccepted.count < Self.maximumUnaccepted { self.unaccepted.append(unaccepted) }
    try failures?.add(unaccepted)
    try rest(
      file.again(
        isDoubtful: !finding.isDisjoint(with: [.unknown, .maybeDuplicate, .partlyStored, .mayBeLost]),
        isChanged: finding.contains(.sourceChanged), keepsIndex: entry.keepsIndex))
  }

  /// Counts a file. Returns what it is counted as; nil if no journal has a result.
  private mutating func count(
    _ file: BatchFile, _ finding: JournalFindings.Finding, of manifest: String
  ) -> BatchState? {
    files += 1
    if file.isDirectory { unlistedDirectories += 1 }
    guard let state = finding.state else {
      missing += 1
      return nil
    }
    states[state, default: 0] += 1
    if state == .failed, !finding.contains(.failed) { unreadable += 1 }
    if state == .ok { countAccepted(file, finding, of: manifest) }
    return state
  }

  private mutating func countAccepted(
    _ file: BatchFile, _ finding: JournalFindings.Finding, of manifest: String
  ) {
    bytes = bytes.addingClamped(file.size)
    let isDuplicate = finding.contains(.acceptedAgain)
    guard isDuplicate || finding.contains(.maybeDuplicate) else { return }
    let doubt = SettledDoubts.Doubt(
      manifest: manifest, offset: file.offset, isDuplicate: isDuplicate)
    if settledDoubts.settles(doubt) {
      settled += 1
      return
    }
    doubts.append(doubt)
    if isDuplicate { duplicates += 1 } else { maybeDuplicates += 1 }
  }
}

extension ManifestReader.Entry {
  /// The entry with the file as it is now, if a problem prevented it from being sent when the manifest was made.
  fileprivate var lookedForAgain: Self {
    if case .file(let file) = self { .file(file.lookedForAgain) } else { self }
  }
}

extension JournalFindings.Finding {
  /// What the file is counted as; nil if no journal has a result.
  var state: BatchState? {
    if contains(.accepted) { return .ok }
    if contains(.unknown) { return .unknown }
    if !isDisjoint(with: [.failed, .unreadable]) { return .failed }
    if contains(.sourceChanged) { return .sourceChanged }
    return contains(.retryable) ? .retryable : nil
  }
}

extension JournalFindings {
  /// Adds what a journal says about the records in a range. Returns how many lines of the journal can't be read.
  mutating func add(
    _ journal: JournalSummary, in range: Range<Int64>
  ) throws(BatchError) -> Int {
    let isHarmlessTwice = journal.head.isHarmlessTwice
    let isClosed = try JournalReader.isClosed(journal.path)
    // The files that have no outcome yet, and of which the server keeps what has arrived. A run of the same directory asks the
    // server before it sends such a file again, and marks the file if it could not ask.
    var kept: Set<Int64> = []
    return try journal.read(in: range) { line in
      switch line {
      case .head, .closed, .damaged: break
      case .unfinished(let offset, let upload):
        if upload?.uploadURL == nil { kept.remove(offset) } else { kept.insert(offset) }
      case .started(let offset):
        self[offset].noteUnknown(isHarmlessTwice: isHarmlessTwice || kept.contains(offset))
      // The file still counts as its record says. If it is sent again with another key, the server may store it twice.
      case .storedPerhaps(let offset): self[offset].insert(isHarmlessTwice ? .unknownInGroup : .maybeDuplicate)
      // A run of the same group goes on with the next slice, and a run of another group begins again with the first slice.
      case .accepted(let offset, let slices):
        if slices.bytes > 0 { self[offset].insert([.partlyStored, .unknownInGroup]) }
      case .record(let offset, let record):
        let isKept = kept.remove(offset) != nil && record.state != .ok
        self[offset].note(record, isHarmlessTwice: isHarmlessTwice, isKept: isKept)
        // Only a complete journal proves that nothing else happened to the file.
        if !isClosed, record.state != .ok {
          self[offset].insert(isHarmlessTwice || isKept ? .unknownInGroup : .maybeDuplicate)
        }
      }
    }
  }
}

extension JournalFindings.Finding {
  /// - Parameter isKept: whether the server keeps what has arrived, so that the next run can ask for it.
  fileprivate mutating func note(_ record: JournalRecord, isHarmlessTwice: Bool, isKept: Bool) {
    if record.isMismatch {
      insert([.partlyStored, isHarmlessTwice ? .unknownInGroup : .maybeDuplicate])
    }
    switch record.state {
    case .ok:
      // Journals of harmless runs are added before the others.
      if contains(.accepted), !isHarmlessTwice || !contains(.acceptedInGroup) {
        insert(.acceptedAgain)
      }
      insert([.accepted, .acceptedInGroup])
      if record.isMaybeDuplicate { insert(.maybeDuplicate) }
    case .failed: insert(record.isUnreadable ? .unreadable : .failed)
    case .sourceChanged: insert(.sourceChanged)
    case .retryable: insert(.retryable)
    // The file was left out because of an earlier run, whose journal says why.
    case .skipped: break
    case .unknown, nil: noteUnknown(isHarmlessTwice: isHarmlessTwice || isKept)
    }
  }

  /// Notes that the outcome of a request is unknown. If the server then accepts the file in another run, it may have
  /// accepted the file twice.
  fileprivate mutating func noteUnknown(isHarmlessTwice: Bool) {
    insert([.unknown, isHarmlessTwice ? .unknownInGroup : .maybeDuplicate])
  }
}
