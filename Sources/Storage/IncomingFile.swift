package import Multipart

/// A file that is being received. It has its name when it is whole, and is gone when it is let go before.
package final class IncomingFile {
  private let file: FileDescriptor
  let temporaryName: LocalPath
  private let directory: StorageDirectory
  private var isStored = false

  init(
    _ file: FileDescriptor, named temporaryName: LocalPath, in directory: StorageDirectory
  ) {
    self.file = file
    self.temporaryName = temporaryName
    self.directory = directory
  }

  deinit { if !isStored { directory.remove(temporaryName) } }

  /// Writes the next bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try directory.attempting(.written) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Nothing more is written to it; it still has no name.
  package func close() throws(StorageError) {
    try directory.attempting(.written) { () throws(SystemError) in try file.close() }
  }

  /// Gives the file its place, alone; see ``StorageDirectory/store(_:replacing:)``.
  package func store(
    as place: SafePath, replacing: Bool = false
  ) throws(StorageError) -> LocalPath {
    // There are as many paths as files.
    try directory.store([(self, place)], replacing: replacing)[0]
  }

  /// It has its name.
  func noteStored() {
    isStored = true
  }
}
