package import FormStreamMultipart
import FormStreamPlatform

/// Compares a listing with the earlier rounds, and finds what a new round has to send: the files that are new or have
/// changed, and those that no journal proves accepted. The files are sorted on the disk by their paths, so memory does not
/// grow with their number.
package struct RoundComparison {
  /// What a line of the sorter is about.
  private enum Tag: UInt8 {
    case summedUp, known, gone, back, listed
  }

  private let directory: LocalPath
  private let rules: RoundRules
  /// The size of the slices in which the new round sends files; nil if it sends each file in one piece.
  private let sliceSize: Int64?
  private let journals: JournalSet
  private let sorter: ExternalSorter
  private var keys = FileKeys()
  /// The number that `{index}` stands for in the next new file.
  private var nextIndex = 0
  private var round: Round
  /// When the last run of a manifest that is not there wrote to its journal, in nanoseconds since 1970; nil if all manifests
  /// are there. Such a run may have sent any version that is not younger.
  private let lastTime: Int64?

  /// - Parameters:
  ///   - earlier: the manifests and journals of the earlier rounds.
  ///   - number: the number of the last round, if it is known from another place than the manifests.
  ///   - sliceSize: the size of the slices in which the new round sends files; nil if it sends each file in one piece.
  ///   - directory: the directory for temporary files with the entries that don't fit into memory.
  package init(
    _ rules: RoundRules, against earlier: EarlierManifests, after number: Int = 0,
    sliceSize: Int64? = nil, in directory: LocalPath
  ) {
    round = Round(number: number + 1)
    (self.rules, self.sliceSize, self.directory) = (rules, sliceSize, directory)
    (journals, lastTime) = (earlier.journals, earlier.lastTimeOfMissing)
    sorter = ExternalSorter(in: directory, memory: 32 * 1024 * 1024)
  }

  /// Ends the comparison.
  var cancellation: BatchCancellation?
  /// Receives what is done with each file.
  var observe: BatchPreparation.Observer = { _ in }
  /// Receives the files that the server has; nil unless the batch wants their results.
  var accepted: AcceptedFiles?
  /// Whether two paths may have had the same URL, one after the other.
  package var sharesURLs = false

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
    let versions = try AcceptedVersions(of: manifest.extent, in: journals, sortedIn: directory)
    let period = try journals.period(ofManifest: manifest.id)
    var count = 0
    let parts = Int(clamping: (manifest.extent.records?.count64 ?? 0) / window + 1)
    for part in 1...parts {
      let shard = Shard(part, of: parts)
      let reader = try ManifestReader(path, shard: shard)
      let index = try JournalIndex(
        of: manifest.extent, shard: shard, in: journals, boot: boot, sliceSize: sliceSize)
      while let entry = try reader.nextEntry() {
        try cancellation?.check()
        observe(.reading)
        switch entry {
        case .presence(let file, let isGone):
          try sorter.add([isGone ? Tag.gone.rawValue : Tag.back.rawValue], key: keys.key(of: file))
        case .file(var file):
          // A reader counts the files of its part.
          file.index = count
          count += 1
          nextIndex = max(nextIndex, file.number.addingClamped(1))
          let accepted = try versions.version(of: file.offset)
          let known = KnownFile(
            file, accepted, index.status(of: file.offset), index.progress(of: file), of: manifest.id, period)
          try sorter.add([Tag.known.rawValue] + known.bytes, key: keys.key(of: file))
        }
      }
    }
  }

  /// Adds the old rounds that a state sums up. They must be added before the others.
  package mutating func add(_ state: RecordedState) throws(BatchError) {
    round.number = max(round.number, state.through + 1)
    nextIndex = max(nextIndex, state.nextIndex)
    try state.forEach { path throws(BatchError) in
      try cancellation?.check()
      observe(.reading)
      guard let file = path.file else { return }
      var history = path.history
      if state.sliceSize != sliceSize { history.forgetKeys() }
      try sorter.add([Tag.summedUp.rawValue] + history.bytes, key: keys.key(of: file))
    }
  }

  /// Passes on what is known about each file of a manifest that was made before the manifests that were added, or while they
  /// were sent: whether the server has this very version, or may have it.
  mutating func forEach(
    of manifest: ManifestReader, _ receive: (_ offset: Int64, JournalIndex.FileStatus) -> Void
  ) throws(BatchError) {
    while let file = try manifest.next() {
      try sorter.add([Tag.listed.rawValue] + StoredFile.bytes(of: file), key: keys.key(of: file))
    }
    let lines = try sorter.sorted()
    var line = try lines.next()
    while let first = line {
      try cancellation?.check()
      let history = try Self.history(of: first.key, &line, lines)
      guard let file = history.listed else { continue }
      var contents = ListedContents(file, isCompared: false)
      if let status = history.status(of: &contents) { receive(file.offset, status) }
    }
  }

  /// What the lines of a path say.
  private static func history(
    of key: [UInt8], _ line: inout (key: [UInt8], line: [UInt8])?, _ lines: SortedLines
  ) throws(BatchError) -> FileHistory {
    var history = FileHistory()
    while let next = line, next.key == key {
      let value = Array(next.line.dropFirst())
      switch Tag(rawValue: next.line.first ?? 0) {
      case .summedUp: history.add(FileHistory(value))
      case .known: history.add(KnownFile(value))
      case .gone: history.isGone = true
      case .back: history.noteBack()
      case .listed, nil: history.listed = StoredFile.file(value)
      }
      line = try lines.next()
    }
    return history
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
    var count = 0
    while let file = try listing.next() {
      observe(.listing)
      count += 1
      try sorter.add([Tag.listed.rawValue] + StoredFile.bytes(of: file), key: keys.key(of: file))
    }
    let root = listing.hasOneRoot ? keys.key(ofDirectory: listing.root ?? ".") : nil
    let lines = try sorter.sorted()
    var entries = try RoundEntries(in: directory)
    var unlistable = UnlistableDirectories()
    var line = try lines.next()
    while let first = line {
      try cancellation?.check()
      let history = try Self.history(of: first.key, &line, lines)
      if let file = history.listed {
        // The check of the URLs counts its files itself.
        if !sharesURLs { observe(.comparing(count)) }
        if var file = try entry(for: file, history, &entries, look) {
          complete(&file)
          try entries.add(ManifestEncoder.line(for: file))
        }
        if file.problem != nil { unlistable.add(first.key) }
      } else if !history.isGone, !unlistable.contain(first.key),
        let path = LocalPath(key: first.key, below: root)
      {
        if history.wasFile { round.gone += 1 }
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
    file.keptIndex = history.last?.index ?? nextIndex
    if history.last == nil { nextIndex = nextIndex.addingClamped(1) }
    try look(&file)
    var contents = ListedContents(file, isCompared: rules.comparesContents)
    // While the file was not there, another one may have been sent to its URL.
    let isReplaced = sharesURLs && history.isGone
    let isBack = history.isGone && !contents.areCertainly(history.accepted)
    if !isReplaced, !isBack, contents.are(history.accepted?.version) {
      if !history.isLastAccepted {
        try entries.add(ManifestEncoder.line(for: file.manifestPath, isGone: false))
      }
      guard rules.sendsAll else {
        round.unchanged += 1
        try accepted?.add(file)
        if contents.isUncompared { entries.uncompared += 1 }
        return nil
      }
      round.again += 1
      return file
    }
    if let problem = history.problem(of: &contents) { file.problem = problem }
    let isSame = isBack ? nil : history.last.map { contents.are($0.version) || file.problem != nil }
    switch isSame {
    case _ where file.isDirectory: break
    case true?: round.again += 1
    case false? where !history.isGone: round.changed += 1
    case false?, nil: round.new += 1
    }
    history.complete(&file, &contents, isNew: isBack)
    if let lastTime, file.modified <= lastTime || file.problem != nil {
      (file.maybeDuplicate, file.keyRecord) = (true, nil)
    }
    return file
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
