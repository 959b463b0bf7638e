package import FormStreamMultipart
package import FormStreamPlatform

/// A listing that is written to a manifest while it is read, so that a later run knows which files there were.
///
/// The manifest has another name until it is complete. A complete one is read, and nothing is listed again. If an earlier
/// run was ended while it listed, the files of its manifest come first, and then those that are listed and not in it.
package final class RecordedListing: BatchInput {
  static let completeName = FileName("manifest.jsonl")
  static let partialName = FileName("manifest.partial.jsonl")

  /// The id of the manifest.
  package let id: String
  package let root: LocalPath?
  private let directory: DirectoryDescriptor
  private let path: LocalPath
  private var count = 0
  /// The manifest of an earlier run, as far as it was not read yet.
  private var earlier: ManifestReader?
  /// What is added to the manifest; nil if it is complete.
  private var addition: Addition?

  private struct Addition {
    let listing: any BatchInput
    let file: AppendedFile
    var encoder: ManifestEncoder
    /// The first listed file that is not the next one of the earlier manifest.
    var held: BatchFile?
    /// The paths of the earlier manifest from there on. If nothing has changed since, there are none.
    var known: Set<LocalPath> = []
  }

  /// Opens or begins the manifest in the directory of the journals.
  ///
  /// - Parameter list: begins the listing. It is not called if the manifest is complete.
  package init(
    in directory: DirectoryDescriptor, at directoryPath: LocalPath,
    _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) {
    self.directory = directory
    path = directoryPath.appending(Self.partialName.bytes)
    let (isComplete, isBegun) = try Self.writing(path) { () throws(SystemError) in
      (
        try directory.identity(of: Self.completeName) != nil,
        try directory.identity(of: Self.partialName) != nil
      )
    }
    if isComplete {
      let reader = try ManifestReader(
        directoryPath.appending(Self.completeName.bytes))
      (id, root, earlier) = (reader.id, reader.root, reader)
      return
    }
    let listing = try list()
    guard isBegun else {
      let encoder = ManifestEncoder(root: listing.root)
      (id, root) = (encoder.id, listing.root)
      let file = try Self.writing(path) { () throws(SystemError) in
        let file = try AppendedFile(Self.partialName, in: directory)
        try file.append(encoder.header)
        return file
      }
      addition = Addition(listing: listing, file: file, encoder: encoder)
      return
    }
    let (file, size) = try Self.writing(path) { () throws(SystemError) in
      try AppendedFile.continuing(Self.partialName, in: directory)
    }
    let reader = try ManifestReader(path, shard: nil)
    (id, root, earlier) = (reader.id, reader.root, reader)
    addition = Addition(
      listing: listing, file: file, encoder: ManifestEncoder(id: reader.id, goingOnAt: size))
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
      try compare(file)
      return file
    }
    earlier = nil
    while let file = try nextListed() {
      // A file that the earlier manifest has, at another place.
      if addition?.known.isEmpty == false, addition?.known.remove(file.manifestPath) != nil {
        continue
      }
      return try add(file)
    }
    try complete()
    return nil
  }

  /// Skips the file in the listing. Usually it is the next one there too.
  private func compare(_ file: BatchFile) throws(BatchError) {
    guard var addition else { return }
    if addition.held == nil, let listed = try addition.listing.next() {
      if listed.manifestPath == file.manifestPath { return }
      addition.held = listed
    }
    addition.known.insert(file.manifestPath)
    self.addition = addition
  }

  private func nextListed() throws(BatchError) -> BatchFile? {
    guard let addition else { return nil }
    if let held = addition.held {
      self.addition?.held = nil
      return held
    }
    return try addition.listing.next()
  }

  private func add(_ file: BatchFile) throws(BatchError) -> BatchFile {
    guard var addition else { return file }
    var file = file
    file.offset = addition.encoder.offset
    let line = addition.encoder.line(for: file)
    try Self.writing(path) { () throws(SystemError) in try addition.file.append(line) }
    self.addition = addition
    return file
  }

  /// Gives the manifest its name.
  private func complete() throws(BatchError) {
    guard let addition else { return }
    self.addition = nil
    try Self.writing(path) { () throws(SystemError) in
      try addition.file.synchronize()
      try addition.file.close()
      _ = try directory.move(Self.partialName, to: directory, replacing: Self.completeName)
    }
  }

  private static func writing<Result>(
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
