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
  private var nextIndex = 0
  var cancellation: BatchCancellation?

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

  /// Sums up the rounds up to a number. Returns false, and writes nothing, if that can't be done now: if the manifest or a
  /// journal of a run is somewhere else, or if a run still goes on.
  ///
  /// - Throws: an error if the rounds can't be read, or if the state can't be written.
  mutating func sumUp(through: Int, boot: String = JournalHead.currentBoot) throws(BatchError) -> Bool {
    guard earlier.missing.isEmpty else { return false }
    var added: [(path: LocalPath, manifest: StateManifests.Manifest)] = []
    for path in earlier.paths {
      guard let manifest = try manifest(at: path) else { return false }
      if manifest.round <= through { added.append((path, manifest)) }
    }
    guard !added.isEmpty else { return false }
    if let state = earlier.journals.state {
      for manifest in state.manifests.all { manifests.add(manifest) }
      nextIndex = state.nextIndex
      var settled = settled
      try state.forEach { entry throws(BatchError) in
        try cancellation?.check()
        settled.note(entry)
        var entry = entry
        entry.settled = settled.settled(entry.manifest, entry.file.offset)
        // The state names one size of slices, and slices of another size have other idempotency keys.
        if entry.status == .repeatable, state.sliceSize != sliceSize { entry.status = .doubtful }
        try add(entry)
      }
    }
    for (path, manifest) in added {
      var manifest = manifest
      let damaged = try add(path, boot: boot)
      for index in manifest.journals.indices {
        manifest.journals[index].damagedLines = damaged[manifest.journals[index].name] ?? 0
      }
      manifests.add(manifest)
    }
    try write(through: through)
    return true
  }

  /// A manifest as the state names it; nil if it or a journal is somewhere else, or if a run still goes on. The sizes are those
  /// before anything is read: what is added later is then noticed.
  private func manifest(at path: LocalPath) throws(BatchError) -> StateManifests.Manifest? {
    let header = try ManifestReader.header(of: path)
    var journals: [StateManifests.Journal] = []
    for (journal, head) in earlier.journals.places(ofManifest: header.id) {
      guard directory.appending(journal.name.bytes) == journal else { return nil }
      let size = try JournalReader.size(of: journal)
      let isOpen = try !JournalReader.isClosed(journal)
      if isOpen, isInUse(journal.name) { return nil }
      journals.append(
        StateManifests.Journal(name: journal.name.bytes, run: head.run, size: size, isOpen: isOpen, damagedLines: 0))
    }
    let isBeside = directory.appending(path.name.bytes) == path
    let number = header.round?.number ?? 1
    // The manifest of a round is the one that the run has made.
    guard isBeside || header.parent != nil else { return nil }
    return StateManifests.Manifest(
      id: header.id, name: isBeside ? path.name.bytes : nil, size: isBeside ? try JournalReader.size(of: path) : 0,
      round: number, root: header.root, hasOneRoot: header.hasOneRoot, listing: header.listing, parent: header.parent,
      period: try earlier.journals.period(ofManifest: header.id), journals: journals)
  }

  /// Whether the run of a journal still goes on. It locks its journal.
  private func isInUse(_ journal: FileName) -> Bool {
    guard let directory = try? DirectoryDescriptor(directory),
      let file = try? AppendedFile(continuing: journal, in: directory)
    else { return true }
    return (try? file.lock()) == false
  }

  private mutating func add(_ entry: StateEntry) throws(BatchError) {
    try sorter.add(entry.json.line(), key: keys.key(of: entry.file))
  }

  /// Adds what a manifest and its journals say. Returns how many lines of each journal can't be read.
  private mutating func add(_ path: LocalPath, boot: String) throws(BatchError) -> [[UInt8]: Int] {
    let journals = earlier.journals
    let manifest = try ManifestReader(path)
    let extent = manifest.extent
    var versions = try AcceptedVersions(of: extent, in: journals, sortedIn: temporaryDirectory)
    var records = try FailureRecords(of: extent, in: journals, sortedIn: temporaryDirectory)
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
          try cancellation?.check()
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

  /// Writes the file. It gets its name when it is complete.
  private func write(through: Int) throws(BatchError) {
    let lines = try sorter.sorted()
    let head = RecordedState.Head(
      through: through, time: nanosecondsSince1970(), nextIndex: nextIndex, sliceSize: sliceSize,
      manifests: manifests.all.count)
    do {
      let file = try AtomicFile(in: DirectoryDescriptor(directory), permissions: 0o600)
      var hash = try SHA256()
      var held = head.json.line()
      for manifest in manifests.all {
        held += manifest.json.line()
        try Self.write(&held, of: Self.pieceSize, to: file, &hash)
      }
      var line = try lines.next()
      while line != nil {
        try cancellation?.check()
        held += try nextLines(&line, lines)
        try Self.write(&held, of: Self.pieceSize, to: file, &hash)
      }
      try Self.write(&held, of: 0, to: file, &hash)
      let end = RecordedState.endLine(try hash.finalize())
      try end.withUnsafeBytes { try file.write($0) }
      try file.synchronize()
      try file.close()
      _ = try file.commit(as: RecordedState.name)
    } catch let error as BatchError {
      throw error
    } catch {
      throw BatchError(
        .writeFailed, on: path.description, "The file \(path.description.quoted) can't be written: \(error).",
        underlying: error as? SystemError)
    }
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

  /// The lines about the next path, without those that say nothing any more.
  private func nextLines(
    _ line: inout (key: [UInt8], line: [UInt8])?, _ lines: SortedLines
  ) throws(BatchError) -> [UInt8] {
    guard let first = line else { return [] }
    line = try lines.next()
    // Most paths have one entry.
    guard line?.key == first.key else { return first.line }
    var history = StateHistory(in: manifests)
    try history.add(entry(first.line))
    while let next = line, next.key == first.key {
      try history.add(entry(next.line))
      line = try lines.next()
    }
    return history.entries.flatMap { $0.json.line() }
  }

  private func entry(_ line: [UInt8]) throws(BatchError) -> StateEntry {
    guard let json = try? JSONValue(parsing: line) else { throw RecordedState.malformed(path, "it is not JSON") }
    return try StateEntry(json, in: manifests, of: path)
  }
}
