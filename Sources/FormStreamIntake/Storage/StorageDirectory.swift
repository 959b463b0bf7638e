package import FormStreamMultipart
package import FormStreamPlatform

/// A directory that stores received files. No file is ever stored outside of it, incompletely, or over another file
/// without being asked to. Any number of threads may store files at once.
///
/// The directory is opened once, and every operation is relative to that descriptor: replacing the path by another
/// directory or a link has no effect.
package final class StorageDirectory: Sendable {
  private let path: LocalPath
  private let descriptor: DirectoryDescriptor
  private let numbers = LastNumbers()

  /// Opens a directory, and makes its last component first if it does not exist.
  package init(_ path: LocalPath) throws(StorageError) {
    self.path = path
    do throws(SystemError) {
      guard path.isUsable else { throw .notFound }
      descriptor = try DirectoryDescriptor(openingOrMaking: path)
    } catch {
      throw .unusable(path, error)
    }
  }

  /// Makes a file that has no final name yet. It is removed if it is released before it is stored.
  ///
  /// - Parameter temporaryName: its name until then.
  package func makeFile(
    temporaryName: FileName = .temporary()
  ) throws(StorageError) -> AtomicFile {
    try attempting(.made) { () throws(SystemError) in
      try AtomicFile(in: descriptor, temporaryName: temporaryName)
    }
  }

  /// Appends bytes to a file of ``makeFile(temporaryName:)``.
  package func write(
    _ bytes: UnsafeRawBufferPointer, to file: AtomicFile
  ) throws(StorageError) {
    try attempting(.written) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Ends writing a file. It still has only its temporary name.
  package func close(_ file: AtomicFile) throws(StorageError) {
    try attempting(.written) { () throws(SystemError) in try file.close() }
  }

  /// Moves complete files to their destinations; returns their paths, relative to the directory. If one fails, none is
  /// stored, and the directories that were made for them are removed.
  ///
  /// If a destination is taken, the file gets a number: `photo-2.jpg`. With `replacing` it replaces the file or link
  /// there instead (never a link's target); only a directory, or another file of this call, still makes it get a number.
  ///
  /// A replaced file can't be restored: if a later file fails, those that replaced one stay. The files that replace
  /// nothing are therefore stored first.
  package func store(
    _ files: [(file: AtomicFile, destination: SafePath)], replacing: Bool = false
  ) throws(StorageError) -> [LocalPath] {
    for (file, _) in files { try close(file) }
    let transaction = StoreTransaction(in: descriptor, numbers: numbers, replacing: replacing)
    do throws(SystemError) {
      let paths = try transaction.store(
        files.map { .init(file: $0.file, destination: $0.destination) })
      return paths
    } catch {
      transaction.rollBack()
      throw .notNamed(
        files.count, in: path, error, replacedCount: transaction.replaced.count)
    }
  }

  private func attempting<Result>(
    _ operation: StorageError.Operation, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do throws(SystemError) { return try body() } catch { throw .failed(operation, in: path, error) }
  }
}
