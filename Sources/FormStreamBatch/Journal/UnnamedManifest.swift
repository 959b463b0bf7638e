import FormStreamMultipart
import FormStreamPlatform

/// A manifest that does not have its final name yet. Other runs are kept from it until it is released.
final class UnnamedManifest {
  let path: LocalPath
  private let partial: FileName
  private let name: FileName
  private let directory: DirectoryDescriptor
  /// The file; nil after `release` was called, on any thread.
  private let file: Guarded<AppendedFile?>
  /// Whether the file is removed, unless it gets the name.
  private var isRemoved = false

  /// Opens the file, or makes it.
  ///
  /// - Parameters:
  ///   - isContinued: whether a later run goes on with what this run has written. If not, the manifest is written anew.
  /// - Throws: `journalInUse` if another run writes the manifest, or has just given it its name; `writeFailed`.
  init(
    ofRound number: Int, in directory: DirectoryDescriptor, at directoryPath: LocalPath, isContinued: Bool
  ) throws(BatchError) {
    let (partial, name) = (RecordedRounds.name(of: number, isPartial: true), RecordedRounds.name(of: number))
    let path = directoryPath.appending(partial.bytes)
    let (file, refusal) = try Self.accessing(path) { () throws(SystemError) -> (AppendedFile, BatchError?) in
      let file = try AppendedFile(continuing: partial, in: directory)
      guard try file.lock(), try file.isNamed(partial, in: directory) else { return (file, Self.inUse(path)) }
      // Another run may have completed the manifest meanwhile, and given it its final name.
      guard try directory.identity(of: name) == nil else {
        directory.remove(partial)
        return (file, Self.justCompleted(directoryPath.appending(name.bytes)))
      }
      if !isContinued { try file.removeContents() }
      return (file, nil)
    }
    (self.path, self.partial, self.name, self.directory, self.file) = (path, partial, name, directory, Guarded(file))
    if let refusal { throw refusal }
    isRemoved = !isContinued
  }

  deinit {
    if isRemoved { directory.remove(partial) }
  }

  /// Closes the file, so that another run can go on with the manifest. The thread that lists files may still wait for a source;
  /// what it finds then is not added.
  var release: @Sendable () -> Void { { [file] in file.withLock { $0 = nil } } }

  /// Reads or changes the file.
  func withFile<Result>(_ body: (AppendedFile) throws(SystemError) -> Result) throws(BatchError) -> Result {
    try Self.accessing(path) { () throws(SystemError) in
      try file.withLock { file throws(SystemError) in
        guard let file else { throw .notOpen }
        return try body(file)
      }
    }
  }

  func append(_ bytes: [UInt8]) throws(BatchError) {
    try withFile { file throws(SystemError) in try file.append(bytes) }
  }

  /// Writes the file and its name to the disk.
  func synchronize() throws(BatchError) {
    try withFile { file throws(SystemError) in
      try file.synchronize()
      // Some file systems can't synchronize a directory.
      try? directory.synchronize()
    }
  }

  /// Gives the manifest its final name.
  func giveName() throws(BatchError) {
    try withFile { file throws(SystemError) in
      try file.synchronize()
      _ = try directory.move(partial, to: directory, replacing: name)
      isRemoved = false
      try? directory.synchronize()
    }
  }

  private static func inUse(_ path: LocalPath) -> BatchError {
    BatchError(
      .journalInUse, on: path.description,
      "Another run writes the manifest \(path.description.quoted) at the moment: wait until it has listed all files.")
  }

  private static func justCompleted(_ path: LocalPath) -> BatchError {
    BatchError(
      .journalInUse, on: path.description,
      "Another run has just completed the manifest \(path.description.quoted): start this run again, and it goes on with "
        + "that manifest.")
  }

  private static func accessing<Result>(
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
