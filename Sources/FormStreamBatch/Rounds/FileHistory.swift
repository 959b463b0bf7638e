/// What all earlier rounds say about one path.
struct FileHistory: Equatable {
  /// A version that the server may have, although no journal proves it.
  struct Doubt: Equatable {
    /// The version; nil if it is not known which one was sent.
    let version: KnownFile.Version?
    /// The record that the keys of all requests with this version were made from; nil if there were requests without keys,
    /// or with other ones.
    let keyRecord: RecordPlace?

    static let anyVersion = Doubt(version: nil, keyRecord: nil)
  }

  /// What the last round that had the file knows.
  private(set) var last: KnownFile?
  /// The record of the version that the server has; nil if it may have another one.
  private(set) var accepted: KnownFile?
  private(set) var doubts: [Doubt] = []
  /// The most versions that are kept in doubt. If there are more, any version is in doubt: a file that fails every night for years
  /// must not cost more every night.
  static let maximumDoubts = 64
  /// When a version was sent for the last time, as far as the rounds so far say, in nanoseconds since 1970.
  private(set) var lastSending = Int64.min
  /// Whether the file was not there in the last round that looked for it.
  var isGone = false
  var listed: BatchFile?

  init() {}

  init(last: KnownFile?, accepted: KnownFile?, doubts: [Doubt], lastSending: Int64, isGone: Bool) {
    (self.last, self.accepted, self.doubts) = (last, accepted, doubts)
    (self.lastSending, self.isGone) = (lastSending, isGone)
  }

  /// Whether the path was ever one of a file. A path that could never be read may be that of a directory.
  var wasFile: Bool { last?.version != nil || accepted != nil }

  /// Whether the last round that had the file sent the version that the server has.
  var isLastAccepted: Bool { !isGone && last?.place == accepted?.place }

  /// Whether the server has some version, or may have one.
  var mayBeStored: Bool { accepted != nil || !doubts.isEmpty || last?.slices?.isBegun == true }

  /// Adds what the next round knows.
  mutating func add(_ file: KnownFile) {
    let isFirst = last == nil
    // Slices of a version that is not the last one are not continued.
    if let last, last.slices?.isBegun == true, !last.version.isSame(as: file.version) {
      add(Doubt(version: last.version, keyRecord: nil))
    }
    last = file
    // A file that could not be read may be another one.
    if file.version != nil {
      // The round has listed a file that was gone. It may be another one of the same size and time, until it is accepted itself.
      if isGone { accepted = nil }
      isGone = false
    }
    // Manifests may be sent later than a round that is compared with them. Then it is not known which version came last.
    let isInOrder = lastSending < file.period.first
    if file.mayBeStored { lastSending = max(lastSending, file.period.last) }
    switch file.status {
    case .accepted where isInOrder || isOnlyVersion(file.version): (accepted, doubts) = (file, [])
    case .accepted: addDoubt(about: file, keyRecord: nil)
    case .unsent:
      if file.slices?.isBegun == true { doubtAccepted() }
      // A round that could not read the file, and did not send it, marks only what the rounds before it know.
      if file.maybeDuplicate, file.version != nil || isFirst {
        add(Doubt(version: file.version, keyRecord: file.keyRecord))
      }
    case .doubtful: addDoubt(about: file, keyRecord: nil)
    // If the manifest marks the file without a key, there were requests without that key.
    case .repeatable:
      addDoubt(about: file, keyRecord: file.keyRecord ?? (file.maybeDuplicate ? nil : file.place))
    }
  }

  /// Whether no other version may have been sent.
  private func isOnlyVersion(_ version: KnownFile.Version?) -> Bool {
    (accepted == nil || accepted?.version.isSame(as: version) == true)
      && doubts.allSatisfy { $0.version.isSame(as: version) }
  }

  /// Notes that the server may have another version than the one it has accepted.
  private mutating func doubtAccepted() {
    if let accepted { add(Doubt(version: accepted.version, keyRecord: nil)) }
    accepted = nil
  }

  private mutating func addDoubt(about file: KnownFile, keyRecord: RecordPlace?) {
    // The server has either the version that it had, or this one.
    doubtAccepted()
    add(Doubt(version: file.version, keyRecord: keyRecord))
  }

  private mutating func add(_ doubt: Doubt) {
    guard !doubts.contains(doubt) else { return }
    doubts.append(doubt)
    if doubts.count > Self.maximumDoubts { doubts = [.anyVersion] }
  }

  /// Adds what a state says about earlier rounds. Usually, nothing was added before.
  mutating func add(_ earlier: FileHistory) {
    guard self != FileHistory() else { return self = earlier }
    // Two paths have become one, so the order of the rounds is not known.
    for known in [earlier.accepted, earlier.last] {
      if let known { add(known) }
    }
    for doubt in earlier.doubts { add(doubt) }
    doubtAccepted()
    lastSending = max(lastSending, earlier.lastSending)
  }

  /// Notes that the next requests have other idempotency keys than those before.
  mutating func forgetKeys() { doubts = doubts.map { Doubt(version: $0.version, keyRecord: nil) } }

  /// Notes that the file was there again in a round, as the server has it.
  mutating func noteBack() {
    isGone = false
    last = accepted ?? last
  }

  /// Why the file can't be compared with the versions that are known; nil if it can.
  func problem(of contents: inout ListedContents) -> BatchError? {
    for version in [accepted?.version, last?.version] + doubts.map(\.version) { _ = contents.are(version) }
    return contents.problem.map { mayBeStored ? .notCompared($0) : $0 }
  }

  /// Whether the server has a version, or may have it; nil if it doesn't have it, as far as is known.
  func status(of contents: inout ListedContents) -> JournalIndex.FileStatus? {
    if contents.are(accepted?.version) { return .accepted }
    for doubt in doubts where doubt.version == nil || contents.are(doubt.version) { return .doubtful }
    return nil
  }

  /// Adds to a file that is sent what the earlier rounds say about its contents: whether the server may have them, which
  /// idempotency keys they had, and which slices are accepted.
  ///
  /// - Parameters:
  ///   - contents: the contents of the file.
  ///   - isNew: whether the file was gone and may be another one, so that the server must not take it for the earlier one.
  func complete(_ file: inout BatchFile, _ contents: inout ListedContents, isNew: Bool) {
    var keyRecords: Set<RecordPlace?> = []
    for doubt in doubts where doubt.version == nil || file.problem != nil || contents.are(doubt.version) {
      // A key depends on the time.
      let hasKey = doubt.version?.modified == file.modified && file.problem == nil
      keyRecords.insert(hasKey && !isNew ? doubt.keyRecord : nil)
    }
    // A file that can't be read now may be there when it is sent, as the server has it.
    if file.problem != nil, accepted != nil || last?.slices?.isBegun == true { keyRecords.insert(nil) }
    guard !isNew, let last, contents.are(last.version) else {
      file.maybeDuplicate = !keyRecords.isEmpty
      return
    }
    if last.slices?.hasOthers == true { keyRecords.insert(nil) }
    file.maybeDuplicate = !keyRecords.isEmpty
    if keyRecords.isEmpty {
      file.keyRecord = last.keyRecord ?? last.place
    } else if keyRecords.count == 1, let only = keyRecords.first {
      file.keyRecord = only
    }
    if last.slices?.hasOthers == false { file.slices = last.slices }
  }
}
