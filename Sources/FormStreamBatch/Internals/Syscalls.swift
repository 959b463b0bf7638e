// The only file of this module that calls the C library.

import FormStreamMultipart
import FormStreamPlatform
import Glibc

/// A directory that is open for listing. It is closed when it is released.
final class DirectoryStream {
  /// A name in the directory.
  struct Entry {
    let name: FileName
    /// What kind of file the name belongs to; nil if the file system does not say.
    let kind: FileStatus.Kind?
  }

  private let stream: OpaquePointer
  /// The directory's descriptor.
  let number: CInt

  /// Opens a directory by its path. Links on the path are followed.
  ///
  /// C: `open`
  convenience init(_ path: LocalPath) throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    try self.init(owning: try retryingInterrupts { path.withCString { open($0, Self.flags) } })
  }

  /// Opens a directory in another directory. A link is not followed.
  ///
  /// C: `openat(O_NOFOLLOW)`
  convenience init(_ name: FileName, in parent: DirectoryStream) throws(SystemError) {
    try self.init(
      owning: try retryingInterrupts {
        name.withCString { openat(parent.number, $0, Self.flags | O_NOFOLLOW) }
      })
  }

  /// Opens a directory for reading by a descriptor that stands only for its path (`O_PATH`).
  ///
  /// C: `openat`
  convenience init(found number: CInt) throws(SystemError) {
    try self.init(owning: try retryingInterrupts { openat(number, ".", Self.flags) })
  }

  private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

  /// C: `fdopendir`
  private init(owning number: CInt) throws(SystemError) {
    guard let stream = fdopendir(number) else {
      let error = SystemError(number: errno)
      close(number)
      throw error
    }
    self.stream = stream
    self.number = number
  }

  /// C: `closedir`
  deinit { closedir(stream) }

  /// The next name, in the order in which the system returns the names; nil after the last. `.` and `..` are left out.
  ///
  /// C: `readdir`
  func next() throws(SystemError) -> Entry? {
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(number: errno) }
        return nil
      }
      // An entry ends after its name: a copy of the complete field would read beyond the end of the entry.
      guard let start = entry.pointer(to: \.d_name) else { continue }
      let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      let bytes = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      if bytes == [0x2E] || bytes == [0x2E, 0x2E] { continue }
      return Entry(name: FileName(bytes: bytes), kind: Self.kind(entry.pointee.d_type))
    }
  }

  private static func kind(_ type: UInt8) -> FileStatus.Kind? {
    switch Int(type) {
    case Int(DT_REG): .regular
    case Int(DT_DIR): .directory
    case Int(DT_LNK): .symlink
    case Int(DT_FIFO): .pipe
    case Int(DT_SOCK): .socket
    case Int(DT_CHR), Int(DT_BLK): .device
    default: nil
    }
  }
}

/// A directory below which paths are looked up. It is closed when it is released.
final class FoundDirectory {
  private let number: CInt

  /// Opens a directory even if this process can't list it. Links on the path are followed.
  ///
  /// C: `open(O_PATH)`
  init(_ path: LocalPath) throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    let pathOnly: CInt = 0o10_000_000
    number = try retryingInterrupts {
      path.withCString { open($0, pathOnly | O_DIRECTORY | O_CLOEXEC) }
    }
  }

  deinit { close(number) }

  /// The status of the file that a path below the directory names.
  func status(of path: LocalPath, followsLinks: Bool) throws(SystemError) -> FileStatus {
    try withFound(path, below: number, followsLinks: followsLinks) { _, status in status }
  }
}

/// Finds the file that a path below an open directory names, and calls `use` with its descriptor and status. The descriptor
/// can't be read from, and is closed afterwards.
func withFound<Result>(
  _ path: LocalPath, below directory: CInt, followsLinks: Bool,
  _ use: (CInt, FileStatus) throws(SystemError) -> Result
) throws(SystemError) -> Result {
  let found = try find(path, below: directory, followsLinks: followsLinks)
  defer { close(found) }
  return try use(found, try FileStatus(ofDescriptor: found))
}

/// Throws unless this process may list a directory and reach the files in it.
///
/// C: `faccessat(AT_EACCESS)`
func checkListable(_ directory: LocalPath) throws(SystemError) {
  _ = try retryingInterrupts {
    directory.withCString { faccessat(AT_FDCWD, $0, R_OK | X_OK, AT_EACCESS) }
  }
}

/// The current directory, as an absolute path.
///
/// C: `getcwd`
func currentDirectory() throws(SystemError) -> LocalPath {
  try path { getcwd(nil, 0) }
}

/// The absolute path of a file, without links.
///
/// C: `realpath`
func resolved(_ path: LocalPath) throws(SystemError) -> LocalPath {
  try FormStreamBatch.path { path.withCString { realpath($0, nil) } }
}

/// Copies and frees the path that a C function returns.
private func path(_ body: () -> UnsafeMutablePointer<CChar>?) throws(SystemError) -> LocalPath {
  guard let text = body() else { throw SystemError(number: errno) }
  defer { free(text) }
  return LocalPath(bytes: UnsafeRawBufferPointer(start: text, count: strlen(text)))
}

/// Calls `open`, and tries again a few times if this process or the system has too many files open. Other files may be
/// closed meanwhile.
///
/// C: `usleep`
func waitingForDescriptors<Result>(
  _ open: () throws(SystemError) -> Result
) throws(SystemError) -> Result {
  var wait: useconds_t = 50_000
  while wait < 2_000_000 {
    do throws(SystemError) { return try open() } catch {
      guard error.isOutOfDescriptors else { throw error }
    }
    usleep(wait)
    wait *= 2
  }
  return try open()
}

/// How many minutes have passed since midnight, by the local clock.
///
/// C: `localtime_r`
func minuteOfDay() -> Int {
  var (now, local) = (time(nil), tm())
  localtime_r(&now, &local)
  return Int(local.tm_hour) * 60 + Int(local.tm_min)
}
