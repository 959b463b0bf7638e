import FormStreamPlatform
package import FormStreamMultipart

/// A file that is being received. It has its name once it is stored, and is removed if it never is.
package final class IncomingFile {
  let file: AtomicFile
  private let directory: StorageDirectory

  init(_ file: AtomicFile, in directory: StorageDirectory) {
    self.file = file
    self.directory = directory
  }

  /// Writes the next bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try directory.attempting(.written) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Ends writing; the file still has no name.
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
}
