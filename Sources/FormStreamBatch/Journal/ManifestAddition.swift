import FormStreamMultipart
import FormStreamPlatform

/// Adds files to a manifest while the files are listed.
final class ManifestAddition {
  /// The id of the manifest.
  let id: String
  /// The directory that the manifest's paths are relative to.
  var root: LocalPath? { listing.root }
  var hasOneRoot: Bool { listing.hasOneRoot }
  private let listing: FileListing
  var leftOut: LeftOutEntries { listing.leftOut }
  let manifest: UnnamedManifest
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
    in directory: DirectoryDescriptor, at directoryPath: LocalPath, named name: String, followsLinks: Bool,
    hasJournals: (_ manifest: String) throws(BatchError) -> Bool, _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) -> (ManifestAddition, ManifestReader?) {
    let listing = try list()
    let manifest = try UnnamedManifest(ofRound: 1, in: directory, at: directoryPath, isContinued: true)
    try checkBeginning(of: manifest)
    var size = try manifest.withFile { file throws(SystemError) in try file.cutTornLine() }
    if size > 0 {
      // Nothing was sent, so the listing may be another one: its user may have corrected what was wrong.
      if try !hasJournals(ManifestReader.header(of: manifest.path).id) {
        try manifest.withFile { file throws(SystemError) in try file.removeContents() }
        size = 0
      }
    }
    if size == 0 {
      let encoder = ManifestEncoder(
        root: listing.root, listing: name, hasOneRoot: listing.hasOneRoot)
      // Journals refer to the id of the manifest, so the id must be on the disk before a journal is written.
      try manifest.append(encoder.header)
      try manifest.synchronize()
      return (ManifestAddition(to: manifest, listing, encoder), nil)
    }
    let reader = try ManifestReader(manifest.path, followsLinks: followsLinks)
    let encoder = ManifestEncoder(id: reader.id, goingOnAt: size)
    return (ManifestAddition(to: manifest, listing, encoder), reader)
  }

  /// Checks that the file is a manifest. A foreign file that happens to have the manifest's name must not be changed.
  private static func checkBeginning(of manifest: UnnamedManifest) throws(BatchError) {
    let expected = Array(#"{"schema":"formstream.manifest/"#.utf8)
    let beginning = try manifest.withFile { file throws(SystemError) in
      try file.beginning(upTo: expected.count)
    }
    // If the first line of a manifest is torn, the file may have only some of these bytes.
    guard expected.starts(with: beginning) else {
      let path = manifest.path.description
      throw BatchError(
        .manifestMalformed, on: path,
        "The file \(path.quoted) is no manifest, and the run would write its own there: move it, or name another directory.")
    }
  }

  private init(to manifest: UnnamedManifest, _ listing: FileListing, _ encoder: ManifestEncoder) {
    (self.manifest, self.listing, self.encoder) = (manifest, listing, encoder)
    id = encoder.id
  }

  /// Fills the manifest with blanks up to `offset`, if the manifest is shorter.
  func leaveRoom(upTo offset: Int64) throws(BatchError) {
    guard offset - encoder.offset <= Self.maximumRoom else {
      let path = manifest.path.description
      throw BatchError(
        .manifestMalformed, on: path,
        "The manifest \(path.quoted) ends at byte \(encoder.offset), and journals beside it mention byte "
          + "\(offset): too much of it is lost. Name another directory.")
    }
    while true {
      let blanks = encoder.blanks(upTo: offset)
      if blanks.isEmpty { return }
      hasLostRecords = true
      try manifest.append(blanks)
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
    try manifest.append(line)
    return added
  }

  private func nextUnknown() throws(BatchError) -> (file: BatchFile, key: [UInt8])? {
    while let listed = try listing.next() {
      let key = keys.key(of: listed)
      if known.remove(key) == nil { return (listed, key) }
    }
    return nil
  }
}
