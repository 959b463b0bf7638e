package import FormStreamMultipart
import FormStreamPlatform
import FormStreamRecords

/// What became of each file of a manifest, over all journals of it.
///
/// A file counts once, whatever number of journals mention it: as `ok` if any of them says so, otherwise in the state
/// that comes first of `unknown`, `failed`, `source-changed` and `retryable`. Memory does not grow with the manifest: a
/// part of it is looked at after another.
package struct BatchReport: Sendable {
  /// The UUID of the manifest.
  package private(set) var manifest = ""
  /// The number of the manifest's journals.
  package private(set) var journals = 0
  /// How many of them have no end: their runs were killed, or go on.
  package private(set) var openJournals = 0
  /// How many of them have lines that can't be read: what those said is not known.
  package private(set) var damagedJournals = 0
  /// Whether the manifest has all files that are to be sent: not if the run that makes it was ended while it listed them.
  package private(set) var isListed = true
  /// How many files the manifest has, or its shard.
  package private(set) var files = 0
  package private(set) var states: [BatchState: Int] = [:]
  /// How many of the failed files were missing or could not be read.
  package private(set) var unreadable = 0
  /// How many files no journal has a result for.
  package private(set) var missing = 0
  /// How many files were accepted twice or more.
  package private(set) var duplicates = 0
  /// How many other accepted files may have been accepted twice or more.
  package private(set) var maybeDuplicates = 0
  /// How many bytes the accepted files have.
  package private(set) var bytes: Int64 = 0

  /// Whether it is known that each file was accepted exactly once.
  package var isComplete: Bool {
    states[.ok] ?? 0 == files && duplicates == 0 && maybeDuplicates == 0 && damagedJournals == 0
      && isListed
  }

  /// How many bytes of a manifest are looked at together. What is known about them takes a sixteenth of that.
  private static let window: Int64 = 1 << 30

  /// Reads the journals.
  ///
  /// - Parameters:
  ///   - manifest: the manifest's path.
  ///   - shard: the shard that is looked at; nil for all files.
  ///   - directories: where the journals are. Those of other manifests are left out, and a copy of a journal counts once.
  ///   - boot: what names the current start of this machine's system.
  ///   - window: how many bytes of the manifest are looked at together; tests have fewer.
  ///   - begin: receives the manifest before the first file.
  ///   - rest: receives each file that was not accepted, as it may be sent again: if the file has changed, as it is now.
  package init<Failure: Error>(
    on manifest: LocalPath, shard: Shard? = nil, in directories: [LocalPath],
    boot: String = JournalHead.currentBoot(), window: Int64 = BatchReport.window,
    begin: (any BatchInput) throws(Failure) -> Void, rest: (BatchFile) throws(Failure) -> Void
  ) throws {
    isListed = !RecordedListing.isPartial(manifest)
    let reader = try ManifestReader(manifest, shard: shard, acceptsTornEnd: !isListed)
    self.manifest = reader.id
    try begin(reader)
    let journals = try Self.journals(of: reader.extent, isListed: isListed, in: directories)
    self.journals = journals.count
    var end: Int64 = 0
    var findings = JournalFindings()
    var damaged: Set<LocalPath> = []
    while let file = try reader.next() {
      if file.offset >= end {
        // The next part begins with this file.
        end = file.offset > .max - window ? .max : file.offset + window
        findings = JournalFindings()
        for journal in journals where journal.range.overlaps(file.offset..<end) {
          let isDamaged = try findings.add(journal, in: file.offset..<end, boot: boot)
          if isDamaged { damaged.insert(journal.path) }
        }
      }
      let finding = findings[file.offset]
      count(file, finding)
      if finding.contains(.accepted) { continue }
      try rest(
        file.again(
          isDoubtful: finding.contains(.unknown) || finding.contains(.maybeDuplicate)
            || findings.mayBeLost(file.offset), isChanged: finding.contains(.sourceChanged),
          // In a manifest of `plan`, each shard counts for itself.
          keepsIndex: reader.listing != nil || file.keptIndex != nil))
    }
    openJournals = try journals.count { try !JournalReader.isClosed($0.path) }
    damagedJournals = damaged.count
  }

  /// The journals of a manifest. If two directories have one of the same name, the longer one: names are unique, so one is
  /// a copy, which was made later or earlier.
  private static func journals(
    of manifest: ManifestExtent, isListed: Bool, in directories: [LocalPath]
  ) throws(BatchError) -> [JournalSummary] {
    let extent = isListed ? manifest : ManifestExtent(id: manifest.id, records: nil)
    var found: [FileName: (journal: JournalSummary, size: Int64)] = [:]
    for directory in directories {
      for path in try JournalReader.journals(in: directory) {
        guard let journal = try JournalSummary(path, of: extent) else { continue }
        let size = try JournalReader.size(of: path)
        if size > found[path.name]?.size ?? -1 { found[path.name] = (journal, size) }
      }
    }
    return found.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }.map(
      \.value.journal)
  }

  private mutating func count(_ file: BatchFile, _ finding: JournalFindings.Finding) {
    files += 1
    if finding.contains(.accepted) {
      states[.ok, default: 0] += 1
      bytes = bytes.addingClamped(file.size)
      if finding.contains(.acceptedAgain) {
        duplicates += 1
      } else if finding.contains(.maybeDuplicate) {
        maybeDuplicates += 1
      }
    } else if finding.contains(.unknown) {
      states[.unknown, default: 0] += 1
    } else if finding.contains(.failed) {
      states[.failed, default: 0] += 1
    } else if finding.contains(.unreadable) {
      states[.failed, default: 0] += 1
      unreadable += 1
    } else if finding.contains(.sourceChanged) {
      states[.sourceChanged, default: 0] += 1
    } else if finding.contains(.retryable) {
      states[.retryable, default: 0] += 1
    } else {
      missing += 1
    }
  }
}

extension JournalFindings {
  /// Adds what a journal says about the records in a range. Returns whether it has lines that can't be read.
  mutating func add(
    _ journal: JournalSummary, in range: Range<Int64>, boot: String
  ) throws(BatchError) -> Bool {
    let isHarmlessTwice = journal.head.isHarmlessTwice
    let isClosed = try JournalReader.isClosed(journal.path)
    let isDamaged = try journal.read(in: range) { line in
      switch line {
      case .head, .accepted, .closed, .damaged: break
      case .started(let offset): self[offset].noteUnknown(isHarmlessTwice: isHarmlessTwice)
      case .record(let offset, let outcome, let line):
        self[offset].note(outcome, line, isHarmlessTwice: isHarmlessTwice)
        // Only a complete journal proves that nothing else happened to the file.
        if !isClosed, !isHarmlessTwice, outcome != BatchState.ok.rawValue {
          self[offset].insert(.maybeDuplicate)
        }
      }
    }
    if isHarmlessTwice { return isDamaged }
    if !isDamaged, try !journal.mayHaveLostLines(boot: boot) { return false }
    lost.append(journal.range)
    return isDamaged
  }
}

extension JournalFindings.Finding {
  fileprivate mutating func note(_ outcome: String, _ line: [UInt8], isHarmlessTwice: Bool) {
    switch BatchState(rawValue: outcome) {
    case .ok:
      if contains(.accepted), !isHarmlessTwice { insert(.acceptedAgain) }
      insert(.accepted)
      if JournalReader.isMaybeDuplicate(line) { insert(.maybeDuplicate) }
    case .failed: insert(JournalReader.isUnreadable(line) ? .unreadable : .failed)
    case .sourceChanged: insert(.sourceChanged)
    case .retryable: insert(.retryable)
    // The file was left out because of an earlier run, whose journal says why.
    case .skipped: break
    case .unknown, nil: noteUnknown(isHarmlessTwice: isHarmlessTwice)
    }
  }

  /// If another run learns that the server accepted the file, it may have done so twice.
  fileprivate mutating func noteUnknown(isHarmlessTwice: Bool) {
    insert(.unknown)
    if !isHarmlessTwice { insert(.maybeDuplicate) }
  }
}
