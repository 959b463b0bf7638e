import FormStreamMultipart
import FormStreamPlatform

/// A manifest that is complete and does not have its final name yet. Other runs are kept from it.
protocol UnnamedManifest {
  /// Gives the manifest its final name.
  func giveName() throws(BatchError)
}

/// Adds files to a manifest while the files are listed.
final class ManifestAddition: UnnamedManifest {
  /// The id of the manifest.
  let id: String
  /// The directory that the manifest's paths are relative to.
  var root: LocalPath? { listing.root }
  var hasOneRoot: Bool { listing.hasOneRoot }
  private let listing: FileListing
  var leftOut: LeftOutEntries { listing.leftOut }
  private let directory: DirectoryDescriptor
  private let path: LocalPath
  /// The file of the manifest; nil after `release` was called, on any thread.
  private let file: Guarded<AppendedFile?>
  private var encoder: ManifestEncoder
  /// Listed files that were not found in the earlier manifest so far: they are new, or come later in the earlier manifest.
  private var ahead: [(file: BatchFile, key: [UInt8])] = []
  /// The keys of files that are in the earlier manifest but were not listed so far. The set is empty if no file has changed
  /// since the earlier run.
  private var known: Set<[UInt8]> = []
  private var keys = FileKeys()
  /// Whether records of the manifest are lost. A file that is listed now may have had a lost record, and may have been
  /// sent.
  var hasLostRecords = false

  /// How many files are listed in advance at most, to find out whether a file of the earlier manifest is still there.
  private static let maximumAhead = 100
  /// How many bytes of the manifest can be lost at most if the system crashes: the system writes them to the disk within a
  /// minute.
  private static let maximumRoom: Int64 = 1 << 30

  /// Begins a manifest, or goes on with the manifest of an earlier run. Also returns a reader of the existing records; nil
  /// if the manifest is new.
  static func begin(
    in directory: DirectoryDescriptor, at path: LocalPath, named name: String, followsLinks: Bool,
    hasJournals: (_ manifest: String) throws(BatchError) -> Bool, _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) -> (ManifestAddition, ManifestReader?) {
    let listing = try list()
    let (file, isFree) = try writing(path) { () throws(SystemError) -> (AppendedFile, Bool) in
      let file = try AppendedFile(continuing: RecordedListing.partialName, in: directory)
      guard try file.lock() else { return (file, false) }
      // Another run may have completed the manifest meanwhile, and given it its final name.
      return (file, try file.isNamed(RecordedListing.partialName, in: directory))
    }
    guard isFree else {
      throw .manifestInUse(path)
    }
    try checkBeginning(of: file, at: path)
    var size = try writing(path) { () throws(SystemError) in try file.cutTornLine() }
    if size > 0 {
      // Nothing was sent, so the listing may be another one: its user may have corrected what was wrong.
      if try !hasJournals(ManifestReader.header(of: path).id) {
        try writing(path) { () throws(SystemError) in try file.removeContents() }
        size = 0
      }
    }
    if size == 0 {
      let encoder = ManifestEncoder(
        root: listing.root, listing: name, hasOneRoot: listing.hasOneRoot)
      // Journals refer to the id of the manifest, so the id must be on the disk before a journal is written.
      try writing(path) { () throws(SystemError) in
        try file.append(encoder.header)
        try file.synchronize()
        // Some file systems can't synchronize a directory.
        try? directory.synchronize()
      }
      return (ManifestAddition(to: file, in: directory, at: path, listing, encoder), nil)
    }
    let reader = try ManifestReader(path, followsLinks: followsLinks)
    let encoder = ManifestEncoder(id: reader.id, goingOnAt: size)
    return (ManifestAddition(to: file, in: directory, at: path, listing, encoder), reader)
  }

  /// Checks that the file is a manifest. A foreign file that happens to have the manifest's name must not be changed.
  private static func checkBeginning(
    of file: AppendedFile, at path: LocalPath
  ) throws(BatchError) {
    let expected = Array(#"{"schema":"formstream.manifest/"#.utf8)
    let beginning = try writing(path) { () throws(SystemError) in
      try file.beginning(upTo: expected.count)
    }
    // If the first line of a manifest is torn, the file may have only some of these bytes.
    guard expected.starts(with: beginning) else {
      throw BatchError(
        .manifestMalformed, on: path.description,
        "The file \(path.description.quoted) is no manifest, and the run would write its own there: move it, or name "
          + "another directory.")
    }
  }

  private init(
    to file: AppendedFile, in directory: DirectoryDescriptor, at path: LocalPath,
    _ listing: FileListing, _ encoder: ManifestEncoder
  ) {
    (self.file, self.directory, self.path) = (Guarded(file), directory, path)
    (self.listing, self.encoder) = (listing, encoder)
    id = encoder.id
  }

  /// Fills the manifest with blanks up to `offset`, if the manifest is shorter.
  func leaveRoom(upTo offset: Int64) throws(BatchError) {
    guard offset - encoder.offset <= Self.maximumRoom else {
      throw BatchError(
        .manifestMalformed, on: path.description,
        "The manifest \(path.description.quoted) ends at byte \(encoder.offset), and journals beside it mention byte "
          + "\(offset): too much of it is lost. Name another directory.")
    }
    while true {
      let blanks = encoder.blanks(upTo: offset)
      if blanks.isEmpty { return }
      hasLostRecords = true
      try write { file throws(SystemError) in try file.append(blanks) }
    }
  }

  /// Skips a file of the earlier manifest in the listing. Usually the file is also the next file in the listing.
  func compare(_ earlier: BatchFile) throws(BatchError) {
    // Keys are compared instead of paths, because the listing may spell the path of the same file in another way.
    let key = keys.key(of: earlier)
    if let place = ahead.firstIndex(where: { $0.key == key }) {
      ahead.remove(at: place)
      return
    }
    while ahead.count < Self.maximumAhead, let listed = try nextUnknown() {
      if listed.key == key { return }
      ahead.append(listed)
    }
    known.insert(key)
  }

  /// Adds the next listed file that is not in the earlier manifest, and returns it; nil after the last file.
  func next() throws(BatchError) -> BatchFile? {
    guard var added = try ahead.isEmpty ? nextUnknown()?.file : ahead.removeFirst().file else {
      return nil
    }
    added.offset = encoder.offset
    // The paths are replaced with the paths that a reader of the manifest will find. A reader can't use a path that leads out
    // of the root, but the listing has already found this problem, so the file is not sent.
    if let place = try? EntryPlace(added.manifestPath, below: listing.root) {
      (added.path, added.root, added.relative) = (place.path, place.root, place.relative)
      if added.isNamedLink { added.followNamedLink() }
      added.keptPath = place.kept
    }
    if hasLostRecords { added.maybeDuplicate = true }
    let line: [UInt8] = encoder.line(for: added)
    try write { file throws(SystemError) in try file.append(line) }
    return added
  }

  private func nextUnknown() throws(BatchError) -> (file: BatchFile, key: [UInt8])? {
    while let listed = try listing.next() {
      let key = keys.key(of: listed)
      if known.remove(key) == nil { return (listed, key) }
    }
    return nil
  }

  func giveName() throws(BatchError) {
    try write { file throws(SystemError) in
      try file.synchronize()
      _ = try directory.move(
        RecordedListing.partialName, to: directory, replacing: RecordedListing.completeName)
      try? directory.synchronize()
    }
  }

  /// Closes the file, so that another run can go on with the manifest. The thread that lists files may still wait for a source;
  /// what it finds then is not added.
  var release: @Sendable () -> Void { { [file] in file.withLock { $0 = nil } } }

  private func write(_ body: (AppendedFile) throws(SystemError) -> Void) throws(BatchError) {
    try Self.writing(path) { () throws(SystemError) in
      try file.withLock { file throws(SystemError) in
        guard let file else { throw .notOpen }
        try body(file)
      }
    }
  }

  static func writing<Result>(
    _ path: LocalPath, _ body: () throws(SystemError) -> Result
  ) throws(BatchError) -> Result {
    do throws(SystemError) { return try body() } catch {
      throw BatchError(
        .writeFailed, on: path.description,
        "The manifest \(path.description.quoted) can't be written: \(error). Check the directory and its disk.",
        underlying: error)
    }
  }
}

extension BatchError {
  /// The error for a manifest that another run writes.
  static func manifestInUse(_ path: LocalPath) -> BatchError {
    BatchError(
      .journalInUse, on: path.description,
      "Another run writes the manifest \(path.description.quoted) at the moment: wait until it has listed all files.")
  }
}
