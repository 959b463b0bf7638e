import FormStreamMultipart
package import FormStreamPlatform

/// A sink that writes a part into a file of a storage directory.
package final class StoredPart: PartSink {
  package private(set) var storedAs: String?

  let directory: StorageDirectory
  private let destination: SafePath
  private let temporaryName: FileName
  private let isStoredAtEnd: Bool
  var file: AtomicFile?

  /// - Parameters:
  ///   - temporaryName: the file's name until it is stored.
  ///   - isStoredAtEnd: true to store the file when its part ends; false to store it together with others, by
  ///     ``store(_:in:ifTaken:)``.
  package init(
    _ part: PartDescription, in directory: StorageDirectory, keepingDirectories: Bool = false,
    temporaryName: FileName = .temporary(), isStoredAtEnd: Bool = false
  ) throws {
    self.directory = directory
    self.temporaryName = temporaryName
    self.isStoredAtEnd = isStoredAtEnd
    destination = SafePath(
      filename: part.filename, field: part.name, keepingDirectories: keepingDirectories)
    // HTML §4.10.21.4: if no file was chosen, a browser sends a part with an empty file name and no bytes. Only bytes
    // make a file of such a part.
    if part.filename != "" { file = try directory.makeFile(temporaryName: temporaryName) }
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    let file = try file ?? directory.makeFile(temporaryName: temporaryName)
    self.file = file
    try directory.write(bytes, to: file)
  }

  package func end() throws {
    if isStoredAtEnd { try Self.store([self], in: directory) }
  }

  /// Releases the descriptor of a part that has ended. If a process is killed before this call, nothing of the part is left
  /// behind.
  package func close() throws(StorageError) {
    if let file { try directory.close(file) }
  }

  /// Stores all the parts, or none of them. If some parts have replaced other files before one part fails, those parts stay
  /// stored.
  package static func store(
    _ parts: [StoredPart], in directory: StorageDirectory,
    ifTaken conflict: StorageDirectory.NameConflict = .addNumber
  ) throws(StorageError) {
    let parts = parts.filter { $0.file != nil }
    let files = parts.compactMap { part in
      part.file.map { (file: $0, destination: part.destination) }
    }
    do throws(StorageError) {
      let paths = try directory.store(files, ifTaken: conflict)
      for (part, path) in zip(parts, paths) { part.wasStored(as: path) }
    } catch {
      for (index, path) in error.kept { parts[index].wasStored(as: path) }
      throw error
    }
  }

  /// Reserves room on the disk, if the file system can.
  ///
  /// - Parameter size: the most bytes that the part can have.
  package func reserve(_ size: Int64) throws(StorageError) {
    if let file { try directory.reserve(size, for: file) }
  }

  /// Throws ``StorageError/Code/nameTaken`` if the destination is taken now.
  package func checkIsNew() throws(StorageError) {
    try directory.checkIsFree(destination)
  }

  private func wasStored(as path: LocalPath) {
    storedAs = path.description
    // The file is released here, because the part lives on until its record is made.
    file = nil
  }
}
