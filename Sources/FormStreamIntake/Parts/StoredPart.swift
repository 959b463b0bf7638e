import FormStreamMultipart
package import FormStreamPlatform

/// A part that goes into a file, which has its name when it is stored.
package final class StoredPart: PartSink {
  package private(set) var storedAs: String?

  private let directory: StorageDirectory
  private let place: SafePath
  private let temporaryName: FileName
  private let isStoredAtEnd: Bool
  private var file: IncomingFile?

  /// - Parameters:
  ///   - temporaryName: what the file is called until it is stored.
  ///   - isStoredAtEnd: whether it is stored as soon as it is whole; with others, by
  ///     ``store(_:in:replacing:)``, otherwise.
  package init(
    _ part: PartDescription, in directory: StorageDirectory, keepingDirectories: Bool = false,
    temporaryName: FileName = .temporary(), isStoredAtEnd: Bool = false
  ) throws {
    self.directory = directory
    self.temporaryName = temporaryName
    self.isStoredAtEnd = isStoredAtEnd
    place = SafePath(
      filename: part.filename, field: part.name, keepingDirectories: keepingDirectories)
    // A browser sends a file without a name and without bytes where no file was chosen.
    if part.filename != "" { file = try directory.makeFile(temporaryName: temporaryName) }
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    if file == nil { file = try directory.makeFile(temporaryName: temporaryName) }
    try file?.write(bytes)
  }

  package func end() throws {
    try file?.close()
    if isStoredAtEnd { try Self.store([self], in: directory) }
  }

  /// Stores parts that came together: all of them, or none.
  package static func store(
    _ parts: [StoredPart], in directory: StorageDirectory, replacing: Bool = false
  ) throws {
    let parts = parts.filter { $0.file != nil }
    let files = parts.compactMap { part in part.file.map { (file: $0, place: part.place) } }
    let paths = try directory.store(files, replacing: replacing)
    for (part, path) in zip(parts, paths) {
      part.storedAs = path.description
      // Its record is kept for longer.
      part.file = nil
    }
  }
}
