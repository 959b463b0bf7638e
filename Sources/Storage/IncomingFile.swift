package import Multipart

/// A file that is being received. It has its name when it is whole, and is gone when it is let go before.
package final class IncomingFile {
  private let file: FileDescriptor
  private let temporaryName: LocalPath
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

  /// Gives the file its place, now that it is whole; returns where it is, relative to the directory. Without
  /// `replacing` that is beside what has the name, with a number: `photo-2.jpg`. With it, a file or a link
  /// that has the name is gone, what the link leads to is not touched, and only a directory makes it a number.
  package func store(
    as place: SafePath, replacing: Bool = false
  ) throws(StorageError) -> LocalPath {
    try close()
    let stored = try directory.move(temporaryName, to: place, replacing: replacing)
    isStored = true
    return stored
  }
}
