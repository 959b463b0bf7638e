import Glibc

/// The directories that this process has made in place of removed ones.
private let remadeDirectories = Guarded<Set<FileKey>>([])

extension DirectoryDescriptor {
  /// Whether the directory has been removed, so that no file can be made in it. A directory that was moved is still there.
  ///
  /// C: `fstat`, `readlink`
  package var isRemoved: Bool {
    var status = stat()
    guard fstat(number, &status) == 0 else { return false }
    if status.st_nlink == 0 { return true }
    // Some file systems don't count the names of directories. The name that the system remembers ends in these words.
    let mark = Array(" (deleted)".utf8)
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + mark.count)
    let length = readlink("/proc/self/fd/\(number)", &path, path.count)
    guard length > mark.count else { return false }
    return path.prefix(length).suffix(mark.count).map { UInt8(bitPattern: $0) } == mark
  }

  /// Makes a removed directory again at its path, and opens it. If something else has the path by now, nobody knows who put it there
  /// and why, so this throws, unless this process has made it.
  ///
  /// C: `mkdir`, `open(O_NOFOLLOW)`
  package static func remade(at path: some PathBytes) throws(SystemError) -> DirectoryDescriptor {
    guard path.isUsable else { throw .notFound }
    var isMade = true
    do throws(SystemError) {
      _ = try retryingInterrupts { path.withCString { mkdir($0, 0o777) } }
    } catch  where error.number == EEXIST {
      isMade = false
    }
    let directory = try DirectoryDescriptor(path, followsLink: false)
    guard let key = try directory.identity(of: FileName(bytes: [UInt8(ascii: ".")])) else {
      throw .notFound
    }
    let isOwn = remadeDirectories.withLock { $0.contains(key) || isMade && $0.insert(key).inserted }
    guard isOwn else { throw .alreadyExists }
    return directory
  }
}
