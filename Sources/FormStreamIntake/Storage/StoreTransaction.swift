import FormStreamMultipart
import FormStreamPlatform

/// Stores several files together: either each file gets its name, or no file does.
///
/// Steps that leave no trace if they fail come first. If naming a file then fails, ``rollBack()`` removes the names
/// given so far, except those that replaced another file: that file can't be restored. A file that was taken over gets its earlier
/// name back, or keeps the new one, because it may be the only copy of its bytes.
///
/// Other uploads may store files under the same names at any time. So a name counts as added only if the system found it free
/// at the moment of storing, and a roll-back removes only files that still belong to this transaction.
///
/// No directory is kept open for a file, because the files may belong to many directories.
final class StoreTransaction {
  /// How often a destination's directories are opened again if other processes remove them meanwhile.
  private static let maximumAttempts = 100

  /// A complete file without its final name.
  struct File {
    let file: AtomicFile
    let identity: FileKey
    let destination: SafePath
  }

  private let root: DirectoryDescriptor
  private let numbers: LastNumbers<SafePath>
  private let renamedFiles: RenamedFiles
  private let directoryNumbers: LastNumbers<LocalPath>
  private let conflict: StorageDirectory.NameConflict
  /// Held while a file is replaced, and while a roll-back removes a file.
  private let replaceLock: Guarded<Void>
  /// The directories made, from the outermost to the innermost.
  private var made: [(path: LocalPath, identity: FileKey?)] = []
  /// The paths of the files, by their indices.
  private var paths: [Int: LocalPath] = [:]
  /// The files stored under names that were free.
  private var added: [LocalPath: File] = [:]
  /// The files that replaced another.
  private var replaced: Set<LocalPath> = []
  /// The identities of the files in `added` and `replaced`: a file system may treat two spellings as one name.
  private var identities: Set<FileKey> = []

  init(
    in root: DirectoryDescriptor, numbers: LastNumbers<SafePath>,
    directoryNumbers: LastNumbers<LocalPath>,
    renamedFiles: RenamedFiles, ifTaken conflict: StorageDirectory.NameConflict,
    replaceLock: Guarded<Void>
  ) {
    self.root = root
    self.numbers = numbers
    self.directoryNumbers = directoryNumbers
    self.renamedFiles = renamedFiles
    self.conflict = conflict
    self.replaceLock = replaceLock
  }

  /// Moves the files to their destinations; returns their paths, relative to the directory.
  func store(_ files: [File]) throws(SystemError) -> [LocalPath] {
    var replaces: [Bool] = []
    for file in files { replaces.append(try prepare(file)) }
    // Files that replace nothing come first: they can be rolled back.
    let order =
      files.indices.filter { !replaces[$0] } + files.indices.filter { replaces[$0] }
    for index in order { paths[index] = try move(files[index]) }
    return files.indices.compactMap { paths[$0] }
  }

  /// Writes the names of the files, and the names of all directories that contain them, to the disk.
  func synchronizeDirectories() throws(SystemError) {
    var done: Set<LocalPath> = []
    for path in paths.values {
      var path = path
      while !path.bytes.isEmpty {
        guard let (directory, name) = try parent(of: path) else { throw .notFound }
        path = LocalPath(bytes: Array(path.bytes.dropLast(name.bytes.count + 1)))
        guard done.insert(path).inserted else { break }
        try directory.synchronize()
      }
    }
  }

  /// Removes the files and directories that ``store(_:)`` added, unless others have changed them since. Returns the
  /// paths of the files that stay, by their indices.
  func rollBack() -> [Int: LocalPath] {
    var kept = replaced
    for (path, file) in added {
      if !isTakenBack(file, from: path) { kept.insert(path) }
    }
    for (path, identity) in made.reversed() {
      // A directory stays if others have put something into it.
      if let (directory, name) = try? parent(of: path),
        let identity, (try? directory.identity(of: name)) == identity
      {
        directory.removeDirectory(name)
      }
    }
    return paths.filter { kept.contains($0.value) }
  }

  /// Takes its name back from a file. Returns false if the file keeps the name, or may keep it.
  private func isTakenBack(_ file: File, from path: LocalPath) -> Bool {
    do throws(SystemError) {
      // If its directory was moved, the file may be there still, and may be the only copy of its bytes.
      guard let (directory, name) = try parent(of: path) else { return !file.file.keepsName }
      return try replaceLock.withLock { _ throws(SystemError) in
        if file.file.takeBack(from: name, in: directory, ifStill: file.identity) { return true }
        guard file.file.keepsName else { return directory.remove(name, ifStill: file.identity) }
        // It may be the only copy of its bytes, so it keeps its new name if it can't get its earlier one.
        return try directory.identity(of: name) != file.identity
      }
    } catch {
      return false
    }
  }

  /// Checks that the file can get its name; returns whether it replaces another.
  private func prepare(_ file: File) throws(SystemError) -> Bool {
    let isTaken = try withDirectory(of: file.destination) { (directory, _) throws(SystemError) in
      try directory.checkWritable()
      // This also fails if the file system does not accept the name.
      return try directory.identity(of: file.destination.name.numbered(1)) != nil
    }
    return conflict == .replace && file.destination.isAsSent && isTaken
  }

  private func move(_ file: File) throws(SystemError) -> LocalPath {
    let destination = file.destination
    return try withDirectory(of: destination) { (directory, prefix) throws(SystemError) in
      var number = 1
      while true {
        let name = destination.name.numbered(number)
        let path = LocalPath(bytes: prefix + name.bytes)
        let isAsSent = destination.isAsSent && path.bytes == destination.bytes
        // The note is made before the file can be found by its name. Without --overwrite, nothing is replaced.
        if conflict != .addNumber { renamedFiles.note(file.identity, isRenamed: !isAsSent) }
        if try file.file.commit(as: name, in: directory, ifTaken: .refuse) {
          added[path] = file
          identities.insert(file.identity)
          return path
        }
        if conflict == .refuse { throw .alreadyExists }
        // Another upload may have replaced a file of this upload meanwhile. The name of that file still stays taken for the
        // other files of this upload.
        let isOwn = added[path] != nil || replaced.contains(path)
        if conflict == .replace, isAsSent, !isOwn, try replace(name, in: directory, by: file) {
          replaced.insert(path)
          identities.insert(file.identity)
          return path
        }
        number = numbers.next(for: destination, after: number)
      }
    }
  }

  /// Replaces the file of that name. Returns false if that file belongs to this transaction or was sent with another name,
  /// or if the name is a directory's.
  private func replace(
    _ name: LocalPath, in directory: DirectoryDescriptor, by file: File
  ) throws(SystemError) -> Bool {
    if let before = try directory.identity(of: name),
      identities.contains(before) || renamedFiles.contains(before)
    {
      return false
    }
    return try replaceLock.withLock { _ throws(SystemError) in
      try file.file.setPermissions(replacing: name, in: directory)
      return try file.file.commit(as: name, in: directory)
    }
  }
}

extension StoreTransaction {
  /// Calls `body` with the open directory of a destination and that directory's path, which ends in a slash. Missing
  /// directories are made.
  private func withDirectory<Result>(
    of destination: SafePath,
    _ body: (DirectoryDescriptor, _ prefix: [UInt8]) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    for _ in 1..<Self.maximumAttempts {
      do throws(SystemError) {
        let (directory, prefix) = try openDirectory(of: destination)
        return try body(directory, prefix)
      } catch  where error == .notFound {
        // Another process has removed one of the directories: make it again.
      }
    }
    let (directory, prefix) = try openDirectory(of: destination)
    return try body(directory, prefix)
  }

  private func openDirectory(
    of destination: SafePath
  ) throws(SystemError) -> (directory: DirectoryDescriptor, prefix: [UInt8]) {
    var directory = root
    var prefix: [UInt8] = []
    for name in destination.directories {
      let next = try openSubdirectory(name, of: directory, at: prefix)
      directory = next.descriptor
      prefix += next.name.bytes + [UInt8(ascii: "/")]
    }
    return (directory, prefix)
  }

  /// Opens or makes a directory. If a file or a link has the name, the directory gets a number, so that an earlier file
  /// can't block a later upload.
  private func openSubdirectory(
    _ name: SafeName, of parent: DirectoryDescriptor, at prefix: [UInt8]
  ) throws(SystemError) -> (descriptor: DirectoryDescriptor, name: LocalPath) {
    let path = LocalPath(bytes: prefix + name.numbered(1).bytes)
    var number = 1
    while true {
      let name = name.numbered(number)
      let found: DirectoryDescriptor?
      do throws(SystemError) {
        found = try DirectoryDescriptor(opening: name, in: parent)
      } catch  where error == .notFound {
        if try parent.makeDirectory(name) {
          made.append((LocalPath(bytes: prefix + name.bytes), try parent.identity(of: name)))
        }
        found = try DirectoryDescriptor(opening: name, in: parent)
      }
      if let found {
        if number > 1 { directoryNumbers.remember(number, for: path) }
        return (found, name)
      }
      number = number == 1 ? directoryNumbers.last(for: path) ?? 2 : number + 1
    }
  }

  /// Opens the directory that contains a path; nil if it is gone. No link is followed.
  ///
  /// - Throws: if it can't be known now whether the directory is gone.
  private func parent(
    of path: LocalPath
  ) throws(SystemError) -> (directory: DirectoryDescriptor, name: LocalPath)? {
    var names = path.bytes.split(separator: UInt8(ascii: "/")).map(LocalPath.init(bytes:))
    guard let last = names.popLast() else { return nil }
    var directory = root
    for name in names {
      do throws(SystemError) {
        guard let next = try DirectoryDescriptor(opening: name, in: directory) else { return nil }
        directory = next
      } catch  where error == .notFound {
        return nil
      }
    }
    return (directory, last)
  }
}
