package import FormStreamMultipart
import FormStreamPlatform

/// Compares a listing with the earlier rounds, and finds what a new round has to send: the files that are new or have
/// changed, and those that no journal proves accepted. The files are sorted on the disk by their paths, so memory does not
/// grow with their number.
package struct RoundComparison {
  /// How files are compared, and which are sent.
  package struct Rules: Sendable {
    /// Whether a file is compared by its contents, if an earlier round knows its digest. Otherwise, it is compared by size
    /// and time.
    package var comparesContents = false
    /// Whether files that are unchanged and were accepted are sent again.
    package var sendsAll = false
    /// The size of the slices in which the new round sends files; nil if it sends each file in one piece.
    package var sliceSize: Int64?

    package init() {}
  }

  /// What a line of the sorter is about.
  private enum Tag: UInt8 {
    case known, gone, back, listed
  }

  private let directory: LocalPath
  private let rules: Rules
  private let journals: JournalSet
  private let sorter: ExternalSorter
  private var keys = FileKeys()
  /// The number that `{index}` stands for in the next new file.
  private var nextIndex = 0
  private var round: Round

  /// - Parameters:
  ///   - journals: the journals of the earlier rounds.
  ///   - number: the number of the last round, if it is known from another place than the manifests.
  ///   - directory: the directory for temporary files with the entries that don't fit into memory.
  package init(
    _ rules: Rules, journals: JournalSet, after number: Int = 0, in directory: LocalPath
  ) {
    round = Round(number: number + 1)
    (self.rules, self.journals, self.directory) = (rules, journals, directory)
    sorter = ExternalSorter(in: directory, memory: 32 * 1024 * 1024)
  }

  /// The number of the new round.
  package var number: Int { round.number }

  // MARK: Earlier rounds

  /// How many bytes of a manifest are examined together. What the journals say about them takes at most 1/64 of this.
  private static let window: Int64 = 1 << 30

  /// Adds the manifest of an earlier round, and what its journals say. The rounds must be added in their order.
  ///
  /// - Parameters:
  ///   - boot: the identifier of this machine's current boot.
  ///   - window: how many bytes of the manifest are examined together; tests use fewer.
  package mutating func add(
    _ path: LocalPath, boot: String = JournalHead.currentBoot, window: Int64 = Self.window
  ) throws(BatchError) {
    let manifest = try ManifestReader(path)
    round.number = max(round.number, (manifest.round?.number ?? 1) + 1)
    var digests = try rules.comparesContents ? acceptedDigests(of: manifest.extent) : nil
    var count = 0
    let parts = Int(clamping: (manifest.extent.records?.count64 ?? 0) / window + 1)
    for part in 1...parts {
      let shard = Shard(part, of: parts)
      let reader = try ManifestReader(path, shard: shard)
      let index = try JournalIndex(
        of: manifest.extent, shard: shard, in: journals, boot: boot, sliceSize: rules.sliceSize)
      while let entry = try reader.nextEntry() {
        switch entry {
        case .presence(let file, let isGone):
          try sorter.add([isGone ? Tag.gone.rawValue : Tag.back.rawValue], key: keys.key(of: file))
        case .file(var file):
          // A reader counts the files of its part.
          file.index = count
          count += 1
          nextIndex = max(nextIndex, file.number.addingClamped(1))
          var known = KnownFile(file, index, of: manifest.id)
          if let digest = try digests?.digest(of: file.offset) { known.version?.sha256 = digest }
          try sorter.add([Tag.known.rawValue] + known.bytes, key: keys.key(of: file))
        }
      }
    }
  }

  /// The digests that journals have for the accepted files of a manifest, in the order of its records.
  private func acceptedDigests(of manifest: ManifestExtent) throws(BatchError) -> DigestsByOffset {
    let sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
    for journal in try journals.journals(of: manifest) {
      try JournalReader.read(journal.path) { line throws(BatchError) in
        guard case .record(let offset, let record) = line, record.state == .ok,
          let digest = record.sha256
        else { return }
        try sorter.add(digest.bytes, key: withUnsafeBytes(of: offset.bigEndian, Array.init))
      }
    }
    return DigestsByOffset(try sorter.sorted())
  }

  // MARK: The new round

  /// Compares the files of a listing, and returns the entries of the new round's manifest.
  ///
  /// - Parameters:
  ///   - look: receives each file of the listing, with its index, and may note a problem.
  ///   - complete: receives each file of the new round, and may add to it.
  package mutating func compare(
    _ listing: any BatchInput,
    look: (inout BatchFile) throws(BatchError) -> Void = { _ in },
    complete: (inout BatchFile) -> Void = { _ in }
  ) throws(BatchError) -> RoundEntries {
    while let file = try listing.next() {
      try sorter.add([Tag.listed.rawValue] + StoredFile.bytes(of: file), key: keys.key(of: file))
    }
    let root = listing.hasOneRoot ? keys.key(ofDirectory: listing.root ?? ".") : nil
    let lines = try sorter.sorted()
    var entries = try RoundEntries(in: directory)
    var unlistable = UnlistableDirectories()
    var line = try lines.next()
    while let first = line {
      var history = FileHistory()
      while let next = line, next.key == first.key {
        let value = Array(next.line.dropFirst())
        switch Tag(rawValue: next.line.first ?? 0) {
        case .known: history.add(KnownFile(value))
        case .gone: history.isGone = true
        case .back: history.isGone = false
        case .listed, nil: history.listed = StoredFile.file(value)
        }
        line = try lines.next()
      }
      if let file = history.listed {
        if var file = try entry(for: file, history, &entries, look) {
          complete(&file)
          try entries.add(ManifestEncoder.line(for: file))
        }
        if file.problem != nil { unlistable.add(first.key) }
      } else if !history.isGone, !unlistable.contain(first.key),
        let path = LocalPath(key: first.key, below: root)
      {
        round.gone += 1
        try entries.add(ManifestEncoder.line(for: path, isGone: true))
      }
    }
    entries.round = round
    return entries
  }

  /// The file as the new round sends it; nil if it does not.
  private mutating func entry(
    for listed: BatchFile, _ history: FileHistory, _ entries: inout RoundEntries,
    _ look: (inout BatchFile) throws(BatchError) -> Void
  ) throws(BatchError) -> BatchFile? {
    var file = listed
    file.keptIndex = history.known?.index ?? nextIndex
    if history.known == nil { nextIndex = nextIndex.addingClamped(1) }
    try look(&file)
    var contents = ListedContents(file, isCompared: rules.comparesContents)
    if history.known == nil {
      round.new += 1
    } else if contents.are(history.accepted) {
      if history.isGone { try entries.add(ManifestEncoder.line(for: file.manifestPath, isGone: false)) }
      guard rules.sendsAll else {
        round.unchanged += 1
        if contents.isUncompared { entries.uncompared += 1 }
        return nil
      }
      round.again += 1
    } else if let known = history.known, contents.are(known.version) || file.problem != nil {
      round.again += 1
      file.noteAgain(known)
    } else if history.isGone {
      round.new += 1
    } else {
      round.changed += 1
    }
    return file
  }
}

/// What all rounds say about one path.
private struct FileHistory {
  /// What the last round that had the file knows.
  private(set) var known: KnownFile?
  /// The version that the server has accepted last; nil if it may have another one.
  private(set) var accepted: KnownFile.Version?
  /// Whether the file was not there in the last round that looked for it.
  var isGone = false
  var listed: BatchFile?

  mutating func add(_ file: KnownFile) {
    known = file
    isGone = false
    switch file.status {
    case .accepted: accepted = file.version
    case .unsent: break
    case .doubtful, .repeatable: accepted = nil
    }
  }
}

extension KnownFile {
  fileprivate init(_ file: BatchFile, _ index: JournalIndex, of manifest: String) {
    version =
      file.problem == nil
      ? Version(size: file.size, modified: file.modified, sha256: file.sha256) : nil
    status = index.status(of: file.offset)
    self.index = file.number
    maybeDuplicate = file.maybeDuplicate
    place = RecordPlace(manifest: manifest, offset: file.offset)
    keyRecord = file.keyRecord
    slices = index.progress(of: file.offset) ?? file.slices
  }
}

extension BatchFile {
  /// Notes what the last round says about the file, which was not proven accepted and has not changed.
  fileprivate mutating func noteAgain(_ known: KnownFile) {
    // The keys stay the same, so that the server can tell that it is the same file.
    switch known.status {
    case .doubtful: maybeDuplicate = true
    case .repeatable:
      maybeDuplicate = true
      // If the mark is older than the keys, the keys can't prevent a duplicate.
      keyRecord = known.keyRecord ?? (known.maybeDuplicate ? nil : known.place)
    case .unsent:
      maybeDuplicate = known.maybeDuplicate
      keyRecord = known.keyRecord ?? (known.maybeDuplicate ? nil : known.place)
    case .accepted: return
    }
    if known.slices?.hasOthers == true {
      (maybeDuplicate, keyRecord) = (true, nil)
    } else {
      slices = known.slices
    }
  }
}

/// Compares a listed file with versions that earlier rounds know. The digest is computed only if it is needed.
private struct ListedContents {
  private let file: BatchFile
  private let isCompared: Bool
  private var digest: SHA256Digest?
  /// Whether the last comparison was by size and time, because the digest of the other version is not known.
  private(set) var isUncompared = false

  init(_ file: BatchFile, isCompared: Bool) {
    (self.file, self.isCompared) = (file, isCompared)
  }

  /// Whether the file is that version, and can be sent.
  mutating func are(_ version: KnownFile.Version?) -> Bool {
    guard let version, file.problem == nil, file.size == version.size else { return false }
    guard isCompared else { return file.modified == version.modified }
    isUncompared = version.sha256 == nil
    guard let known = version.sha256 else { return file.modified == version.modified }
    // A file that can't be read counts as changed, so that the run says what is wrong.
    if digest == nil { digest = try? OpenedBatchFile.digest(of: file) }
    return digest == known
  }
}

/// Digests in the order of the offsets of records.
private struct DigestsByOffset {
  private let lines: SortedLines
  private var next: (key: [UInt8], line: [UInt8])?
  private var isBegun = false

  init(_ lines: SortedLines) {
    self.lines = lines
  }

  /// The digest of a record; nil if there is none. The offsets must be asked for in their order.
  mutating func digest(of offset: Int64) throws(BatchError) -> SHA256Digest? {
    let key = withUnsafeBytes(of: offset.bigEndian, Array.init)
    if !isBegun {
      next = try lines.next()
      isBegun = true
    }
    var digest: SHA256Digest?
    while let line = next, !key.lexicographicallyPrecedes(line.key) {
      if line.key == key { digest = SHA256Digest(bytes: line.line) }
      next = try lines.next()
    }
    return digest
  }
}

/// The directories that could not be listed, on the way to the current path. What was in them is not gone.
private struct UnlistableDirectories {
  private var keys: [[UInt8]] = []

  mutating func add(_ key: [UInt8]) {
    drop(before: key)
    keys.append(key)
  }

  /// Whether the path is in one of the directories. The paths must be asked for in their order.
  mutating func contain(_ key: [UInt8]) -> Bool {
    drop(before: key)
    return keys.contains { key.starts(with: $0 + [UInt8(ascii: "/")]) }
  }

  private mutating func drop(before key: [UInt8]) {
    while let last = keys.last, !key.starts(with: last) { keys.removeLast() }
  }
}

extension LocalPath {
  /// The path of a key as a manifest has it: below the root, if the manifest has one root. Nil if the key is not below the
  /// root.
  fileprivate init?(key: [UInt8], below root: [UInt8]?) {
    guard let root else {
      self.init(bytes: key)
      return
    }
    let slash = UInt8(ascii: "/")
    let prefix = root.last == slash ? root : root + [slash]
    guard key.starts(with: prefix), key.count > prefix.count else { return nil }
    self.init(bytes: Array(key.dropFirst(prefix.count)))
  }
}

extension Range<Int64> {
  fileprivate var count64: Int64 { upperBound - lowerBound }
}
