package import FormStreamMultipart
package import FormStreamPlatform

/// A directory that stores received files. No file is ever stored outside of the directory, incompletely, or over another file
/// unless the caller asks for that. Any number of threads may store files at once.
///
/// The directory is opened once, and every operation is relative to that descriptor: replacing the path by another
/// directory or a link has no effect. If the directory is removed, and nothing else has its path, it is made again.
package final class StorageDirectory: Sendable {
  /// What happens to a file if its destination is taken.
  package enum NameConflict {
    /// The file gets a number: `photo-2.jpg`.
    case addNumber
    /// The file replaces the file or link at its destination (never a link's target), if its name is the one that was sent,
    /// byte for byte. The file still gets a number if the destination is taken by a directory, by another file of the same
    /// call, or by a file that was sent with another name.
    case replace
    /// The call stores no file, and throws `nameTaken`.
    case refuse
  }

  private let path: LocalPath
  private let synchronizes: Bool
  private let opened: Guarded<DirectoryDescriptor>
  /// Marks the directory as in use by this process; nil if the file system does not support that.
  private let use: Guarded<DirectoryUse?>
  private let numbers = LastNumbers<SafePath>()
  private let directoryNumbers = LastNumbers<LocalPath>()
  private let renamedFiles = RenamedFiles()
  private let replaceLock = Guarded(())

  /// Opens a directory, and makes its last component first if it does not exist. Removes the files that killed processes
  /// left in the directory, if no other process stores files there.
  ///
  /// - Parameter synchronizes: whether ``store(_:ifTaken:)`` returns only when files and names are on the disk.
  package init(_ path: LocalPath, synchronizes: Bool = false) throws(StorageError) {
    self.path = path
    self.synchronizes = synchronizes
    do throws(SystemError) {
      guard path.isUsable else { throw .notFound }
      let descriptor = try DirectoryDescriptor(openingOrMaking: path)
      if synchronizes { try Self.synchronize(descriptor, at: path) }
      opened = Guarded(descriptor)
      use = Guarded(try? DirectoryUse(of: descriptor))
    } catch {
      throw .unusable(path, error)
    }
  }

  /// Writes a directory and its name to the disk.
  private static func synchronize(
    _ descriptor: DirectoryDescriptor, at path: LocalPath
  ) throws(SystemError) {
    try descriptor.synchronize()
    try DirectoryDescriptor(path.directory).synchronize()
  }

  /// The directory, which is made again if somebody has removed it. If it can't be made, what is done with the removed one fails.
  private var descriptor: DirectoryDescriptor {
    opened.withLock { opened in
      guard opened.isRemoved, let other = try? DirectoryDescriptor.remade(at: path) else { return opened }
      if synchronizes, (try? Self.synchronize(other, at: path)) == nil { return opened }
      opened = other
      use.withLock { $0 = try? DirectoryUse(of: other) }
      return other
    }
  }

  /// Makes a file that has no final name yet. The file is removed if it is released before it is stored.
  ///
  /// - Parameter temporaryName: the name of the file until it is stored.
  package func makeFile(
    temporaryName: FileName = .temporary()
  ) throws(StorageError) -> AtomicFile {
    try attempting(.made) { () throws(SystemError) in
      try AtomicFile(in: descriptor, temporaryName: temporaryName)
    }
  }

  /// Takes over a complete file, which then gets the mode of a new file. Returns nil, and does nothing, if the file is on
  /// another file system.
  func adopt(_ file: PartialFile) throws(StorageError) -> AtomicFile? {
    try attempting(.made) { () throws(SystemError) in
      guard try file.isOnFileSystem(of: descriptor) else { return nil }
      try file.setPermissions(replacing: nil)
      return try file.makeAtomic()
    }
  }

  /// Reserves room for a file of at most `size` bytes, if the file system can.
  package func reserve(_ size: Int64, for file: AtomicFile) throws(StorageError) {
    try attempting(.written) { () throws(SystemError) in try file.reserve(size) }
  }

  /// Appends bytes to a file of ``makeFile(temporaryName:)``.
  package func write(
    _ bytes: UnsafeRawBufferPointer, to file: AtomicFile
  ) throws(StorageError) {
    try attempting(.written) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Ends writing a file, so that the file needs no descriptor. The file keeps a temporary name until it is stored.
  package func close(_ file: AtomicFile) throws(StorageError) {
    try attempting(.written) { () throws(SystemError) in
      if synchronizes { try file.synchronize() }
      try file.close()
    }
  }

  /// Moves complete files to their destinations; returns their paths, relative to the directory. If one file fails, no file
  /// is stored, and the directories that were made for the files are removed.
  ///
  /// A replaced file can't be restored. So if a later file fails, the files that have already replaced another file stay
  /// stored, and the error has their paths. Therefore the files that replace nothing are stored first.
  package func store(
    _ files: [(file: AtomicFile, destination: SafePath)],
    ifTaken conflict: NameConflict = .addNumber
  ) throws(StorageError) -> [LocalPath] {
    var complete: [StoreTransaction.File] = []
    for (file, destination) in files {
      let identity = try attempting(.written) { () throws(SystemError) in
        if synchronizes { try file.synchronize() }
        return try file.check()
      }
      complete.append(.init(file: file, identity: identity, destination: destination))
    }
    let transaction = StoreTransaction(
      in: descriptor, numbers: numbers, directoryNumbers: directoryNumbers,
      renamedFiles: renamedFiles, ifTaken: conflict, replaceLock: replaceLock)
    do throws(SystemError) {
      let paths = try transaction.store(complete)
      if synchronizes { try transaction.synchronizeDirectories() }
      return paths
    } catch {
      let kept = transaction.rollBack()
      if error == .alreadyExists, kept.isEmpty { throw .nameTaken(in: path) }
      throw .notNamed(files.count, in: path, error, kept: kept)
    }
  }

  /// Throws ``StorageError/Code/nameTaken`` if a file, a directory or a link is at a destination now.
  package func checkIsFree(_ destination: SafePath) throws(StorageError) {
    if try isTaken(destination) { throw .nameTaken(in: path) }
  }

  private func isTaken(_ destination: SafePath) throws(StorageError) -> Bool {
    do throws(SystemError) {
      var directory = descriptor
      for name in destination.directories {
        // A file or a link in the way is no obstacle: the directory gets a number.
        guard let next = try DirectoryDescriptor(opening: name.numbered(1), in: directory) else {
          return false
        }
        directory = next
      }
      return try directory.identity(of: destination.name.numbered(1)) != nil
    } catch  where error == .notFound {
      return false
    } catch {
      throw .failed(.made, in: path, error)
    }
  }

  private func attempting<Result>(
    _ operation: StorageError.Operation, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do throws(SystemError) {
      return try body()
    } catch {
      throw .failed(operation, in: path, error, isReplaced: isReplaced)
    }
  }

  /// Whether another directory is at the path by now.
  private var isReplaced: Bool {
    let itself = FileName(bytes: [UInt8(ascii: ".")])
    guard let key = try? DirectoryDescriptor(path).identity(of: itself) else { return false }
    return (try? descriptor.identity(of: itself)) != key
  }
}
