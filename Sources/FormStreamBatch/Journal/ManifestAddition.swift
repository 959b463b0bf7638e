import FormStreamMultipart
import FormStreamPlatform

/// The end of a manifest that is still being written: files are added to it as they are listed.
final class ManifestAddition {
  /// The id of the manifest.
  let id: String
  /// What its paths are relative to.
  var root: LocalPath? { listing.root }
  var hasOneRoot: Bool { listing.hasOneRoot }
  private let listing: FileListing
  var leftOut: LeftOutEntries { listing.leftOut }
  private let directory: DirectoryDescriptor
  private let path: LocalPath
  private let file: AppendedFile
  private var encoder: ManifestEncoder
  /// Listed files that the earlier manifest does not have so far: those that are new, or that come later in it.
  private var ahead: [(file: BatchFile, key: [UInt8])] = []
  /// The keys of files that the earlier manifest has and that were not listed so far. If nothing has changed since, there
  /// are none.
  private var known: Set<[UInt8]> = []
  private var keys = FileKeys()
  /// Whether the manifest had records that are lost: a file that is listed now may have had one, and been sent.
  var hasLostRecords = false

  /// More files than this are not listed to find out whether one of the earlier manifest is still there.
  private static let maximumAhead = 100
  /// More than this is not lost if a system ends: it is written to the disk within a minute.
  private static let maximumRoom: Int64 = 1 << 30

  /// Begins a manifest, or goes on with that of an earlier run. Returns the reader of what it has.
  static func begin(
    in directory: DirectoryDescriptor, at path: LocalPath, named name: String, followsLinks: Bool,
    _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) -> (ManifestAddition, ManifestReader?) {
    let listing = try list()
    let (file, isFree) = try writing(path) { () throws(SystemError) -> (AppendedFile, Bool) in
      let file = try AppendedFile(continuing: RecordedListing.partialName, in: directory)
      guard try file.lock() else { return (file, false) }
      // Another run may have completed it, and given it the other name.
      return (file, try file.isNamed(RecordedListing.partialName, in: directory))
    }
    guard isFree else {
      throw BatchError(
        .journalInUse, on: path.description,
        "Another run writes the manifest \(path.description.quoted) at the moment: wait until it has listed all files."
      )
    }
    try checkBeginning(of: file, at: path)
    let size = try writing(path) { () throws(SystemError) in try file.cutTornLine() }
    if size == 0 {
      let encoder = ManifestEncoder(
        root: listing.root, listing: name, hasOneRoot: listing.hasOneRoot)
      // Journals name the id, so it is on the disk before they are.
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

  /// A file of somebody else that has the name is not changed.
  private static func checkBeginning(
    of file: AppendedFile, at path: LocalPath
  ) throws(BatchError) {
    let expected = Array(#"{"schema":"formstream.manifest/"#.utf8)
    let beginning = try writing(path) { () throws(SystemError) in
      try file.beginning(upTo: expected.count)
    }
    // A manifest whose first line is torn has the beginning of that.
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
    (self.file, self.directory, self.path) = (file, directory, path)
    (self.listing, self.encoder) = (listing, encoder)
    id = encoder.id
  }

  /// Goes on at `offset` if the manifest is not there yet, with blanks up to it.
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
      try Self.writing(path) { () throws(SystemError) in try file.append(blanks) }
    }
  }

  /// Skips a file of the earlier manifest in the listing. Usually it is the next one there too.
  func compare(_ earlier: BatchFile) throws(BatchError) {
    // The path may be written in another way.
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

  /// The next listed file that the earlier manifest does not have, which it has from now on; nil after the last.
  func next() throws(BatchError) -> BatchFile? {
    guard var added = try ahead.isEmpty ? nextUnknown()?.file : ahead.removeFirst().file else {
      return nil
    }
    added.offset = encoder.offset
    // As it will be read. What can't be read so has an error anyway.
    if let place = try? EntryPlace(added.manifestPath, below: listing.root) {
      (added.path, added.root, added.relative) = (place.path, place.root, place.relative)
      added.keptPath = place.kept
    }
    if hasLostRecords { added.maybeDuplicate = true }
    let line: [UInt8] = encoder.line(for: added)
    try Self.writing(path) { () throws(SystemError) in try file.append(line) }
    return added
  }

  private func nextUnknown() throws(BatchError) -> (file: BatchFile, key: [UInt8])? {
    while let listed = try listing.next() {
      let key = keys.key(of: listed)
      if known.remove(key) == nil { return (listed, key) }
    }
    return nil
  }

  /// Gives the manifest its name.
  func complete() throws(BatchError) {
    try Self.writing(path) { () throws(SystemError) in
      try file.synchronize()
      // Before it is closed, and other runs may lock it.
      _ = try directory.move(
        RecordedListing.partialName, to: directory, replacing: RecordedListing.completeName)
      try? directory.synchronize()
      try file.close()
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
