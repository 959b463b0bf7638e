package import FormStreamMultipart
package import FormStreamPlatform

/// A listing that is written to a manifest while it is read, so that a later run knows which files there were.
///
/// The manifest has another name until it is complete. A complete one is read, and nothing is listed again. If an earlier
/// run was ended while it listed, the files of its manifest come first, and then those that are listed and not in it.
/// Files are as the manifest has them, in the first run too, so that all runs send the same of them.
package final class RecordedListing: BatchInput {
  static let completeName = FileName("manifest.jsonl")
  static let partialName = FileName("manifest.partial.jsonl")

  /// The id of the manifest, and where its records are.
  package let extent: ManifestExtent
  package let root: LocalPath?
  package let hasOneRoot: Bool
  package private(set) var leftOut = LeftOutEntries()
  private var count = 0
  /// The manifest of an earlier run, as far as it was not read yet.
  private var earlier: ManifestReader?
  /// What is added to the manifest; nil if it is complete.
  private var addition: ManifestAddition?

  /// Opens or begins the manifest in the directory of the journals.
  ///
  /// - Parameters:
  ///   - name: that of the listing.
  ///   - list: begins the listing. It is not called if the manifest is complete.
  /// - Throws: `journalMisplaced` if the manifest is that of another listing; `journalInUse`.
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

  /// Leaves room in the manifest for records that a journal mentions, and that were lost with the system: no other may get
  /// their places.
  package func leaveRoom(upTo offset: Int64) throws(BatchError) {
    try addition?.leaveRoom(upTo: offset)
  }

  /// Removes the manifest if it is complete, so that the next run lists again. No journal may be about it.
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
