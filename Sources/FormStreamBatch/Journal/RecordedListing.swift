package import FormStreamMultipart
package import FormStreamPlatform

/// A listing that is written to a manifest while files are listed, so that a later run knows which files were listed.
///
/// The manifest has another name until it is complete and a journal is begun: so if a manifest has its final name and no
/// journal, the journal is lost. If the manifest is complete, it is read, and nothing is listed again. If an earlier run ended
/// while it listed files and sent them, the files of its manifest come first. Listed files that are not in that manifest
/// follow. Even in the first run, each file is returned as the manifest describes it, so that all runs send the file in the
/// same way.
package final class RecordedListing: BatchInput {
  static let completeName = RecordedRounds.name(of: 1)
  static let partialName = RecordedRounds.name(of: 1, isPartial: true)

  /// What the run of the listing does.
  package enum Kind: Sendable {
    /// It sends what is left of a round, or of a listing that it goes on with.
    case round
    /// It sends a round that it has begun, because the round before was finished.
    case newRound
    /// It sends nothing: the round before was finished, and nothing is new.
    case nothingNew
  }

  /// The id of the manifest, and the range of its records.
  package let extent: ManifestExtent
  package let root: LocalPath?
  /// Where the manifest was when the listing began.
  let path: LocalPath
  package let hasOneRoot: Bool
  package private(set) var leftOut = LeftOutEntries()
  package let kind: Kind
  /// The round that is sent. If there is nothing new, it is the round that would be sent.
  package let round: Round
  /// How many unchanged files were compared by size and time although the contents were to be compared, because no earlier
  /// run has computed their digests.
  package let uncompared: Int
  /// The files of a new round that earlier rounds have delivered; nil unless the batch wants their results.
  private(set) var accepted: AcceptedFiles?
  private var count = 0
  /// The part of an earlier run's manifest that was not read yet.
  private var earlier: ManifestReader?
  /// Adds files to the manifest; nil if the manifest is complete.
  private var addition: ManifestAddition?
  /// Gives the manifest that this run has written its final name, and keeps other runs from it; nil if the manifest has that
  /// name, or if files are still listed.
  private var unnamed: UnnamedManifest?
  private var hasJournal = false

  /// Opens or begins the manifest in the directory of the journals.
  ///
  /// - Parameters:
  ///   - name: the name of the listing.
  ///   - hasJournals: whether a manifest has journals. The listing of one that has none is begun again: nothing was sent, and
  ///     files may have changed since.
  ///   - list: begins the listing. This closure is not called if the manifest is complete.
  /// - Throws: `journalMisplaced` if the manifest belongs to another listing; `journalInUse`.
  package init(
    in directory: DirectoryDescriptor, at directoryPath: LocalPath, named name: String,
    followsLinks: Bool, hasJournals: (_ manifest: String) throws(BatchError) -> Bool,
    _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) {
    (kind, uncompared) = (.round, 0)
    if let path = try RecordedRounds(in: directoryPath).manifests.last {
      self.path = path
      let reader = try ManifestReader(path, followsLinks: followsLinks)
      (extent, root, hasOneRoot) = (reader.extent, reader.root, reader.hasOneRoot)
      round = reader.round ?? Round(number: 1)
      earlier = reader
    } else {
      round = Round(number: 1)
      let (addition, earlier) = try ManifestAddition.begin(
        in: directory, at: directoryPath, named: name, followsLinks: followsLinks, hasJournals: hasJournals, list)
      path = addition.manifest.path
      extent = ManifestExtent(id: addition.id, records: nil)
      root = earlier?.root ?? addition.root
      hasOneRoot = earlier?.hasOneRoot ?? addition.hasOneRoot
      (self.addition, self.earlier) = (addition, earlier)
    }
    if let earlier { try Self.check(earlier, isListing: name, directoryPath) }
  }

  /// Sends a new round, or nothing.
  ///
  /// - Parameters:
  ///   - manifest: the manifest of the new round. If there is nothing new, it is the manifest of the round before.
  ///   - leftOut: the entries that the new listing has left out.
  ///   - unnamed: gives the manifest its final name; nil if it has that name.
  init(
    _ kind: Kind, _ entries: RoundEntries, _ manifest: ManifestReader, leftOut: LeftOutEntries, accepted: AcceptedFiles?,
    unnamed: UnnamedManifest? = nil
  ) {
    (self.kind, self.leftOut, self.accepted, self.unnamed) = (kind, leftOut, accepted, unnamed)
    (round, uncompared) = (entries.round, entries.uncompared)
    (extent, root, hasOneRoot) = (manifest.extent, manifest.root, manifest.hasOneRoot)
    path = manifest.path
    earlier = kind == .nothingNew ? nil : manifest
  }

  /// Checks that a manifest belongs to a listing.
  static func check(
    _ manifest: ManifestReader, isListing name: String, _ directory: LocalPath
  ) throws(BatchError) {
    guard manifest.listing ?? name == name else {
      let other =
        RecordedRounds.isPartial(manifest.path)
        ? "" : ", or send its manifest \(manifest.path.description.quoted)"
      throw BatchError(
        .journalMisplaced, on: directory.description,
        "The directory \(directory.description.quoted) has the journals of another listing: its sources or rules are "
          + "not those of this one. Name another directory\(other).")
    }
  }

  /// Leaves room in the manifest for lost records: a journal mentions them, but they were lost when the system crashed. No
  /// other record may get the offset of a lost record.
  package func leaveRoom(upTo offset: Int64) throws(BatchError) {
    try addition?.leaveRoom(upTo: offset)
  }

  /// The id of the manifest and the range of its records, after the last file was listed.
  package func completedExtent() throws(BatchError) -> ManifestExtent {
    guard extent.records == nil else { return extent }
    return try ManifestReader(path).extent
  }

  /// Notes that a journal is begun, so that the manifest gets its final name as soon as it is complete.
  package func noteJournal() throws(BatchError) {
    hasJournal = true
    try unnamed?.giveName()
    unnamed = nil
  }

  /// Closes the manifest, on any thread; nil if the manifest is complete.
  var release: (@Sendable () -> Void)? { addition?.manifest.release }

  package func next() throws(BatchError) -> BatchFile? {
    guard let file = try nextFile() else { return nil }
    defer { count += 1 }
    var numbered = file
    numbered.index = count
    return numbered
  }

  private func nextFile() throws(BatchError) -> BatchFile? {
    if let file = try earlier?.next() {
      try addition?.compare(file)
      return file
    }
    // An earlier run left room for records that were lost.
    if earlier?.hasGaps ?? false { addition?.hasLostRecords = true }
    earlier = nil
    if let file = try addition?.next() { return file }
    if let addition { (leftOut, unnamed) = (addition.leftOut, addition.manifest) }
    addition = nil
    if hasJournal { try noteJournal() }
    return nil
  }
}
