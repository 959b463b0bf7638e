package import FormStreamMultipart
package import FormStreamPlatform

/// A listing that is written to a manifest while files are listed, so that a later run knows which files were listed.
///
/// The manifest has another name until it is complete. If the manifest is complete, it is read, and nothing is listed
/// again. If an earlier run ended while it listed files, the files of its manifest come first. Listed files that are not in
/// that manifest follow. Even in the first run, each file is returned as the manifest describes it, so that all runs send
/// the file in the same way.
package final class RecordedListing: BatchInput {
  static let completeName = FileName("manifest.jsonl")
  static let partialName = FileName("manifest.partial.jsonl")

  /// The id of the manifest, and the range of its records.
  package let extent: ManifestExtent
  package let root: LocalPath?
  package let hasOneRoot: Bool
  package private(set) var leftOut = LeftOutEntries()
  private var count = 0
  /// The part of an earlier run's manifest that was not read yet.
  private var earlier: ManifestReader?
  /// Adds files to the manifest; nil if the manifest is complete.
  private var addition: ManifestAddition?

  /// Opens or begins the manifest in the directory of the journals.
  ///
  /// - Parameters:
  ///   - name: the name of the listing.
  ///   - list: begins the listing. This closure is not called if the manifest is complete.
  /// - Throws: `journalMisplaced` if the manifest belongs to another listing; `journalInUse`.
  package init(
    in directory: DirectoryDescriptor, at directoryPath: LocalPath, named name: String,
    followsLinks: Bool, _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) {
    let path = directoryPath.appending(Self.completeName.bytes)
    let isComplete = try ManifestAddition.writing(path) { () throws(SystemError) in
      try directory.identity(of: Self.completeName) != nil
    }
    if isComplete {
      let reader = try ManifestReader(path, followsLinks: followsLinks)
      (extent, root, hasOneRoot) = (reader.extent, reader.root, reader.hasOneRoot)
      earlier = reader
    } else {
      let path = directoryPath.appending(Self.partialName.bytes)
      let (addition, earlier) = try ManifestAddition.begin(
        in: directory, at: path, named: name, followsLinks: followsLinks, list)
      extent = ManifestExtent(id: addition.id, records: nil)
      root = earlier?.root ?? addition.root
      hasOneRoot = earlier?.hasOneRoot ?? addition.hasOneRoot
      (self.addition, self.earlier) = (addition, earlier)
    }
    guard earlier?.listing ?? name == name else {
      let other = isComplete ? ", or send its manifest \(path.description.quoted)" : ""
      throw BatchError(
        .journalMisplaced, on: directoryPath.description,
        "The directory \(directoryPath.description.quoted) has the journals of another listing: its sources or rules are "
          + "not those of this one. Name another directory\(other).")
    }
  }

  /// Leaves room in the manifest for lost records: a journal mentions them, but they were lost when the system crashed. No
  /// other record may get the offset of a lost record.
  package func leaveRoom(upTo offset: Int64) throws(BatchError) {
    try addition?.leaveRoom(upTo: offset)
  }

  /// Removes the manifest if it is complete, so that the next run lists the files again. No journal may refer to the
  /// manifest.
  package static func remove(from directory: DirectoryDescriptor) {
    directory.remove(completeName)
  }

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
    try addition?.complete()
    if let addition { leftOut = addition.leftOut }
    addition = nil
    return nil
  }
}
