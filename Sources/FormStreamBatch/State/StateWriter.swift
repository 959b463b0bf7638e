import FormStreamDigest
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// Writes `state.jsonl`: joins the state that is there with the rounds after it. The entries are sorted on the disk by their paths,
/// so memory does not grow with the number of files.
struct StateWriter {
  private let earlier: EarlierManifests
  private let directory: LocalPath
  private let sliceSize: Int64?
  private let temporaryDirectory: LocalPath
  private let window: Int64
  private let settled: SettledDoubts
  private let sorter: ExternalSorter
  private var manifests = StateManifests()
  private var keys = FileKeys()
  private var counts = StateManifests.Counts()
  private var targets: Set<StateManifests.Target> = []
  private var nextIndex = 0
  /// The runs that the manifests name that are not summed up.
  private var namedRuns: Set<String> = []
  var cancellation: BatchCancellation?
  /// Receives that an entry is summed up.
  var observe: BatchPreparation.Observer = { _ in }

  /// How many bytes of a manifest are examined together.
  private static let window: Int64 = 1 << 28

  /// - Parameters:
  ///   - earlier: the manifests and journals of all rounds.
  ///   - directory: the directory with all of them.
  ///   - sliceSize: the size of the slices in which files are sent; nil if each file is sent in one piece.
  init(
    _ earlier: EarlierManifests, in directory: LocalPath, sliceSize: Int64?, temporaryDirectory: LocalPath,
    window: Int64 = Self.window
  ) throws(BatchError) {
    (self.earlier, self.directory, self.sliceSize, self.window) = (earlier, directory, sliceSize, window)
    self.temporaryDirectory = temporaryDirectory
    settled = try SettledDoubts(in: [directory], earlier.journals)
    sorter = ExternalSorter(in: temporaryDirectory, memory: 32 * 1024 * 1024)
  }

  /// Sums up the rounds up to a number, or up to the one before the first round to which a run still adds something. Returns false,
  /// and writes nothing, if that is no more than what is summed up already, or if it can't be summed up: if a manifest is missing or
  /// somewhere else, if the directory has journals that are not about its rounds, or if another run has written a state meanwhile.
  ///
  /// - Throws: an error if the rounds can't be read, or if the state can't be written.
  mutating func sumUp(through last: Int, boot: String = JournalHead.currentBoot) throws(BatchError) -> Bool {
    guard earlier.missing.isEmpty, !earlier.areNotAll else { return false }
    var through = last
    var added: [(path: LocalPath, manifest: StateManifests.Manifest)] = []
    var named: [(round: Int, runs: [String])] = []
    for path in earlier.paths {
      let header = try ManifestReader.header(of: path)
      let number = header.round?.number ?? 1
      named.append((number, header.journals))
      guard number <= through else { continue }
      if let manifest = try manifest(header, ofRound: number, at: path) {
        added.append((path, manifest))
      } else {
        through = number - 1
      }
    }
    added.removeAll { $0.manifest.round > through }
    for (round, runs) in named where round > through { namedRuns.formUnion(runs) }
    guard through > earlier.journals.state?.through ?? 0, !added.isEmpty else { return false }
    if let state = earlier.journals.state {
      for manifest in state.manifests.all { manifests.add(manifest) }
      (nextIndex, counts, targets) = (state.nextIndex, state.counts, state.targets)
      var settled = settled
      try state.forEach { path throws(BatchError) in
        try noteEntry()
        var path = path
        path.noteSettled(in: &settled)
        path.note(settled)
        // The state names one size of slices.
        if state.sliceSize != sliceSize { path.forgetKeys() }
        if let file = path.file { try sorter.add(path.json.line(), key: keys.key(of: file)) }
      }
    }
    for (path, manifest) in added {
      var manifest = manifest
      let damaged = try add(path, boot: boot)
      for index in manifest.journals.indices {
        manifest.journals[index].damagedLines = damaged[manifest.journals[index].name] ?? 0
      }
      manifests.add(manifest)
      counts.add(manifest)
      targets.formUnion(manifest.journals.map(\.target))
    }
    return try write(through: through)
  }

  private func noteEntry() throws(BatchError) {
    try cancellation?.check()
    observe(.summingUp)
  }

  /// A manifest as the state names it; nil if it or a journal is somewhere else, or if a run still goes on. The sizes are those
  /// before anything is read: what is added later is then noticed.
  private func manifest(
    _ header: ManifestHeader, ofRound number: Int, at path: LocalPath
  ) throws(BatchError) -> StateManifests.Manifest? {
    var journals: [StateManifests.Journal] = []
    for (journal, head) in earlier.journals.places(ofManifest: header.id) {
      guard directory.appending(journal.name.bytes) == journal else { return nil }
      let size = try JournalReader.size(of: journal)
      let isOpen = try !JournalReader.isClosed(journal)
      if isOpen, JournalReader.isInUse(journal.name, in: directory) { return nil }
      journals.append(
        StateManifests.Journal(
          name: journal.name.bytes, run: head.run, url: head.url, template: head.template, size: size, isOpen: isOpen,
          damagedLines: 0))
    }
    let isBeside = directory.appending(path.name.bytes) == path
    // The manifest of a round is the one that the run has made.
    guard isBeside || header.parent != nil else { return nil }
    return StateManifests.Manifest(
      id: header.id, name: isBeside ? path.name.bytes : nil, size: isBeside ? try JournalReader.size(of: path) : 0,
      round: number, root: header.root, hasOneRoot: header.hasOneRoot, listing: header.listing, parent: header.parent,
      period: try earlier.journals.period(ofManifest: header.id), journals: journals)
  }

  private mutating func add(_ entry: StateEntry) throws(BatchError) {
    try sorter.add(JSONValue.object(entry.members).line(), key: keys.key(of: entry.file))
  }

  /// Adds what a manifest and its journals say. Returns how many lines of each journal can't be read.
  private mutating func add(_ path: LocalPath, boot: String) throws(BatchError) -> [[UInt8]: Int] {
    let journals = earlier.journals
    let manifest = try ManifestReader(path)
    let extent = manifest.extent
    let versions = try AcceptedVersions(of: extent, in: journals, sortedIn: temporaryDirectory)
    let records = try FailureRecords(of: extent, in: journals, sortedIn: temporaryDirectory)
    let groups = try BatchReport.groups(of: extent, isListed: true, in: journals)
    var damaged: [[UInt8]: Int] = [:]
    var count = 0
    let size = extent.records.map { $0.upperBound - $0.lowerBound } ?? 0
    let parts = Int(clamping: size / window + 1)
    for part in 1...parts {
      let shard = Shard(part, of: parts)
      let index = try JournalIndex(of: extent, shard: shard, in: journals, boot: boot, sliceSize: sliceSize)
      let found: [SettledDoubts.DamagedJournal]
      do {
        found = try BatchReport.examine(ManifestReader(path, shard: shard), groups, boot: boot, window: window) {
          listed, finding in
          try noteEntry()
          var entry = StateEntry(listed, of: extent.id, number: count)
          if entry.isGone == nil {
            let offset = entry.file.offset
            count += 1
            nextIndex = max(nextIndex, entry.file.number.addingClamped(1))
            (entry.status, entry.slices) = (index.status(of: offset), index.progress(of: entry.file))
            (entry.finding, entry.accepted) = (finding, try versions.version(of: offset))
            entry.settled = settled.settled(extent.id, offset)
            let state = finding.state
            let record = try records.record(of: offset, with: state)
            if state != .ok { entry.record = record }
          }
          try add(entry)
        }
      } catch let error as BatchError {
        throw error
      } catch {
        throw RecordedState.malformed(path, "\(error)")
      }
      for journal in found { damaged[journal.file] = max(damaged[journal.file] ?? 0, journal.lines) }
    }
    return damaged
  }

  // MARK: The file

  private var path: LocalPath { directory.appending(RecordedState.name.bytes) }

  /// Writes the file. It gets its name when it is complete. Returns false, and leaves the directory as it was, if another run has
  /// written a state meanwhile: that one may know more.
  private func write(through: Int) throws(BatchError) -> Bool {
    var (paths, sources) = try paths()
    let names = Set(try JournalReader.names(in: directory).map(\.bytes))
    let manifests = manifests.all.filter { isNeeded($0, sources, names) }
    let head = RecordedState.Head(
      through: through, time: nanosecondsSince1970(), nextIndex: nextIndex, sliceSize: sliceSize, counts: counts,
      targets: targets, settled: settled.sizes, manifests: manifests.count)
    do {
      let target = try DirectoryDescriptor(directory)
      let file = try AtomicFile(in: target, permissions: 0o600)
      var hash = try SHA256()
      var held = head.json.line()
      for manifest in manifests {
        held += manifest.json.line()
        try Self.write(&held, of: Self.pieceSize, to: file, &hash)
      }
      while let piece = try paths.nextPiece() {
        try cancellation?.check()
        held += piece
        try Self.write(&held, of: Self.pieceSize, to: file, &hash)
      }
      try Self.write(&held, of: 0, to: file, &hash)
      let end = RecordedState.endLine(try hash.finalize())
      try end.withUnsafeBytes { try file.write($0) }
      try file.synchronize()
      try file.close()
      // Runs that begin the same round lock its manifest, so no other run writes a state after this question.
      guard RecordedState.identity(in: directory) == earlier.journals.stateFile else { return false }
      guard try file.commit(as: RecordedState.name) else { return false }
      // The files that it stands for may be deleted now. Some file systems can't synchronize a directory.
      try? target.synchronize()
      return true
    } catch let error as BatchError {
      throw error
    } catch {
      throw BatchError(
        .writeFailed, on: path.description, "The file \(path.description.quoted) can't be written: \(error).",
        underlying: error as? SystemError)
    }
  }

  /// The lines about paths, and the ids of the manifests that they are about.
  private func paths() throws(BatchError) -> (RoundEntries, Set<String>) {
    var paths = try RoundEntries(in: temporaryDirectory)
    var sources: Set<String> = []
    let lines = try sorter.sorted()
    var line = try lines.next()
    while let first = line {
      try cancellation?.check()
      var history = StateHistory(in: manifests)
      while let next = line, next.key == first.key {
        guard let json = try? JSONValue(parsing: next.line) else { throw RecordedState.malformed(path, "it is not JSON") }
        if StateHistory.isLine(json) {
          history.add(try StateHistory(json, in: manifests, of: path))
        } else {
          history.add(try StateEntry(json, in: manifests, of: path))
        }
        line = try lines.next()
      }
      guard history.file != nil else { continue }
      sources.formUnion(history.sources)
      try paths.add(history.json.line())
    }
    return (paths, sources)
  }

  /// Whether the state needs a line about a manifest: if entries are about it, or if there is a file that the state must know. A
  /// manifest without either has been deleted, and no file that is left leads to it.
  private func isNeeded(_ manifest: StateManifests.Manifest, _ sources: Set<String>, _ names: Set<[UInt8]>) -> Bool {
    let files = [manifest.name].compactMap(\.self) + manifest.journals.map(\.name)
    return sources.contains(manifest.id) || earlier.journals.mentionedBesides.contains(manifest.id)
      || manifest.journals.contains { $0.damagedLines > 0 || $0.run.map(namedRuns.contains) ?? true }
      || files.contains(where: names.contains)
  }

  private static let pieceSize = 256 * 1024

  /// Writes bytes and removes them, once there are enough.
  private static func write(
    _ held: inout [UInt8], of size: Int, to file: AtomicFile, _ hash: inout SHA256
  ) throws {
    guard held.count >= size else { return }
    try held.withUnsafeBytes { bytes in
      try hash.update(bytes)
      try file.write(bytes)
    }
    held.removeAll(keepingCapacity: true)
  }
}
