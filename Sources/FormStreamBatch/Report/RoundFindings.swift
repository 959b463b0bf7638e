import FormStreamMultipart

/// What the journals of several rounds say about each file. The files are sorted on the disk by their paths.
struct RoundFindings {
  /// A file of a manifest, and what journals say about it.
  struct Entry: Equatable {
    private(set) var file: BatchFile
    /// What journals say; nil if the entry says only whether the file is there.
    fileprivate(set) var finding: JournalFindings.Finding?
    /// Whether the file is not there any more.
    fileprivate(set) var isGone: Bool
    /// Whether the manifest lists files that were not accepted in an earlier run.
    var isRepair = false
    /// Whether the file keeps its index if it is sent again.
    var keepsIndex = false
    /// The id of the manifest.
    var manifest = ""
    /// When the files of the manifest were sent.
    var period = SendingPeriod()
    /// The record of a journal that says why the file was not accepted, if the journal need not be there any more; empty
    /// otherwise.
    var record: [UInt8] = []

    init(_ entry: ManifestReader.Entry, _ finding: JournalFindings.Finding = []) {
      switch entry {
      case .file(let file): (self.file, self.finding, isGone) = (file, finding, false)
      case .presence(let file, let isGone):
        (self.file, self.finding, self.isGone) = (file, nil, isGone)
      }
    }

    /// Gives the file the size and the time of the version that was accepted.
    mutating func note(accepted version: KnownFile.Version) {
      guard finding?.contains(.accepted) == true else { return }
      (file.size, file.modified) = (version.size, version.modified)
      (file.problem, file.isFoundLater) = (nil, false)
    }

    /// Where the manifest has the file.
    var place: RecordPlace { RecordPlace(manifest: manifest, offset: file.offset) }

    /// The file and what is known about it; nil if the entry says only whether the file is there.
    var found: (BatchFile, JournalFindings.Finding)? { finding.map { (file, $0) } }
  }

  private let sorter: ExternalSorter
  private var keys = FileKeys()

  init(in directory: LocalPath) {
    sorter = ExternalSorter(in: directory, memory: 32 * 1024 * 1024)
  }

  /// Adds an entry. The rounds must be added in their order.
  mutating func add(_ entry: Entry) throws(BatchError) {
    try sorter.add(entry.bytes, key: keys.key(of: entry.file))
  }

  /// Adds what a state says about a path. It must be added before the rounds that the state doesn't sum up.
  mutating func add(_ path: PathFindings, of file: BatchFile) throws(BatchError) {
    try sorter.add(path.bytes, key: keys.key(of: file))
  }

  /// Passes on each file as the last round has it. A file that was not accepted and is not there any more is left out.
  func forEach(_ receive: (Entry) throws -> Void) throws {
    let lines = try sorter.sorted()
    var line = try lines.next()
    while let first = line {
      var path = PathFindings()
      while let next = line, next.key == first.key {
        if let earlier = PathFindings(next.line) { path.add(earlier) } else { path.add(Entry(next.line)) }
        line = try lines.next()
      }
      if let entry = path.result { try receive(entry) }
    }
  }

  /// What the rounds so far say about one path.
  struct PathFindings: Equatable {
    private(set) var last: Entry?
    private(set) var accepted: Entry?
    private(set) var isGone = false

    init(last: Entry? = nil, accepted: Entry? = nil, isGone: Bool = false) {
      (self.last, self.accepted, self.isGone) = (last, accepted, isGone)
    }

    /// Adds what the next round says.
    mutating func add(_ entry: Entry) {
      isGone = entry.isGone
      if let finding = entry.finding {
        let isAcceptedTwice = accepted?.isAcceptedAgain(in: entry) ?? false
        last = entry.isRepair ? last?.repaired(by: entry) ?? entry : entry
        if isAcceptedTwice { last?.finding?.insert(.acceptedAgain) }
        if finding.contains(.accepted) { accepted = last }
      } else if !isGone {
        // The file is there again as it was accepted.
        last = accepted ?? last
      }
    }

    /// Adds what a state says about earlier rounds. Usually, nothing was added before.
    mutating func add(_ earlier: PathFindings) {
      guard last != nil else { return self = earlier }
      // Two paths have become one. What is both must not count as accepted twice.
      let isLast = earlier.accepted?.place == earlier.last?.place
      for entry in [isLast ? nil : earlier.accepted, earlier.last] {
        if let entry { add(entry) }
      }
    }

    /// The file as the last round has it; nil if it was not accepted and is not there any more.
    var result: Entry? {
      guard var last, let finding = last.finding else { return nil }
      last.isGone = isGone
      return !isGone || finding.contains(.accepted) ? last : nil
    }
  }
}

extension RoundFindings.PathFindings {
  /// The first number of the bytes. Entries begin with another one.
  private static let mark: Int64 = -2

  /// The findings as bytes that only this process reads.
  fileprivate var bytes: [UInt8] {
    var stored = StoredBytes()
    stored.add(Self.mark)
    stored.add(isGone ? 1 : 0)
    for entry in [last, accepted] { stored.add(entry?.bytes ?? []) }
    return stored.bytes
  }

  /// Reads findings; nil if the bytes are those of an entry.
  fileprivate init?(_ bytes: [UInt8]) {
    var stored = StoredBytes(bytes)
    guard stored.number() == Self.mark else { return nil }
    isGone = stored.number() == 1
    let entries = [stored.list(), stored.list()].map { $0.isEmpty ? nil : RoundFindings.Entry($0) }
    (last, accepted) = (entries[0], entries[1])
  }
}

extension RoundFindings.Entry {
  /// The entry as bytes that only this process reads.
  fileprivate var bytes: [UInt8] {
    var stored = StoredBytes()
    stored.add(finding.map { Int64($0.rawValue) } ?? -1)
    stored.add(isGone ? 1 : 0)
    stored.add(isRepair ? 1 : 0)
    stored.add(keepsIndex ? 1 : 0)
    stored.add(Array(manifest.utf8))
    stored.add(period.first)
    stored.add(period.last)
    stored.add(record)
    stored.add(StoredFile.bytes(of: file))
    return stored.bytes
  }

  /// What is known after a list of failed files was sent. The list may have been made while the file was still being sent.
  fileprivate func repaired(by entry: Self) -> Self {
    guard let finding, let other = entry.finding else { return self }
    let isSame = (file.size, file.modified) == (entry.file.size, entry.file.modified)
    guard isSame, finding.contains(.accepted) else { return other.isEmpty ? self : entry }
    var accepted = self
    if other.contains(.accepted) {
      accepted.finding?.insert(.acceptedAgain)
    } else if !other.isDisjoint(with: [.unknown, .maybeDuplicate, .partlyStored]) {
      accepted.finding?.insert(.maybeDuplicate)
    }
    return accepted
  }

  /// Whether the version that was accepted was accepted again, in another manifest that was made before that was known. A round
  /// that begins later was compared with what was accepted, so its user wants the file to be sent again.
  fileprivate func isAcceptedAgain(in entry: Self) -> Bool {
    entry.finding?.contains(.accepted) == true && period.last >= entry.period.first
      && (file.size, file.modified) == (entry.file.size, entry.file.modified)
  }

  fileprivate init(_ bytes: [UInt8]) {
    var stored = StoredBytes(bytes)
    finding = UInt16(exactly: stored.number()).map(JournalFindings.Finding.init)
    isGone = stored.number() == 1
    isRepair = stored.number() == 1
    keepsIndex = stored.number() == 1
    manifest = stored.text()
    period = SendingPeriod(first: stored.number(), last: stored.number())
    record = stored.list()
    file = StoredFile.file(stored.list())
  }
}
