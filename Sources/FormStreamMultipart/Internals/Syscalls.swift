// The only file of this module that calls the C library. The others see Swift errors, Swift
// integers and `Descriptor`, never `errno`, `EINTR` or a C struct.

import CFormStreamSystem
package import FormStreamPlatform
import Glibc

/// An open file descriptor with one owner. It is closed when it is released.
struct Descriptor: ~Copyable {
  private let number: CInt

  /// Opens a path for reading.
  ///
  /// With `mayBlock`, opening a FIFO waits for its writer. Without it, a FIFO that has replaced a
  /// file can't block the caller.
  ///
  /// C: `open`
  init(
    reading path: LocalPath, followsSymlinks: Bool, mayBlock: Bool
  ) throws(SystemError) {
    var flags = O_RDONLY | O_CLOEXEC | O_NOCTTY
    if !followsSymlinks { flags |= O_NOFOLLOW }
    if !mayBlock { flags |= O_NONBLOCK }
    number = try retryingInterrupts { path.withCString { open($0, flags) } }
  }

  /// Becomes the owner of an open descriptor.
  init(adopting number: CInt) {
    self.number = number
  }

  /// Calls `use` with the number.
  func withNumber<Result, Failure: Error>(
    _ use: (CInt) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try use(number)
  }

  /// Duplicates an open descriptor, so that the owner may close the original.
  ///
  /// C: `fcntl(F_DUPFD_CLOEXEC)`
  init(duplicating original: CInt) throws(SystemError) {
    number = try retryingInterrupts { fcntl(original, F_DUPFD_CLOEXEC, 0) }
  }

  deinit { Glibc.close(number) }

  /// C: `read`
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try waitingUntilReady(for: POLLIN, on: number) {
      Glibc.read(number, buffer.baseAddress, buffer.count)
    }
  }

  /// C: `pread`
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try retryingInterrupts { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Lets the system read further ahead than usual, because the file is read from one end to the other.
  ///
  /// C: `posix_fadvise(POSIX_FADV_SEQUENTIAL)`
  func expectSequentialReads() {
    // This only makes reading faster.
    _ = posix_fadvise(number, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  /// Reads bytes that are in the system's cache; returns nil if there are none, or if the file system doesn't support
  /// this.
  ///
  /// C: `preadv2(RWF_NOWAIT)`
  func readCached(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int? {
    do throws(SystemError) {
      return try retryingInterrupts {
        formstream_read_cached(number, buffer.baseAddress, UInt(buffer.count), offset)
      }
    } catch  where [EAGAIN, EOPNOTSUPP, EINVAL, ENOSYS].contains(error.number) {
      return nil
    }
  }

  /// Writes all the bytes, after the bytes that were written before.
  ///
  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try writeAll(bytes, to: number)
  }

  /// C: `fstat`
  func status() throws(SystemError) -> FileStatus {
    try FileStatus(ofDescriptor: number)
  }
}

/// Opens a file for reading without waiting for anything. The caller owns the descriptor.
///
/// - Parameters:
///   - root: the directory that the path is relative to, and that the file is in. A path that leads out of the
///     directory, even by a link, is an error.
///   - followsLinks: whether the path may name a link if there is no root. Links in the directories of the path are
///     followed.
///
/// C: `open`, `openat2(RESOLVE_BENEATH)`
package func openForSending(
  _ path: LocalPath, below root: LocalPath?, followsLinks: Bool
) throws(SystemError) -> Int32 {
  guard path.isUsable, root?.isUsable ?? true else { throw .notFound }
  let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
  guard let root else {
    let linkFlag = followsLinks ? 0 : O_NOFOLLOW
    return try retryingInterrupts { path.withCString { open($0, flags | linkFlag) } }
  }
  let directory = try retryingInterrupts {
    root.withCString { open($0, pathOnly | O_DIRECTORY | O_CLOEXEC) }
  }
  defer { close(directory) }
  return try openBelow(directory, path, flags: flags, followsLinks: true)
}

/// Finds the file at a path below an open directory, but does not open it for reading: the writer of a FIFO does not
/// notice. The caller owns the descriptor. A path that leads out of the directory is an error.
///
/// C: `openat2(O_PATH, RESOLVE_BENEATH)`
package func find(
  _ path: LocalPath, below directory: Int32, followsLinks: Bool
) throws(SystemError) -> Int32 {
  guard path.isUsable else { throw .notFound }
  return try openBelow(
    directory, path, flags: pathOnly | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW),
    followsLinks: followsLinks)
}

/// `O_PATH`, which Swift's Glibc lacks.
private let pathOnly: CInt = 0o10_000_000

/// openat2(2): "EAGAIN … the kernel could not ensure that a ".." component didn't escape (due to a race condition or
/// potential attack). The caller may choose to retry the openat2() call." A single file that is renamed meanwhile
/// causes this error, so several errors in a row are usual. But a program that renames files all the time must not
/// delay this program forever.
private let maximumRaces = 1000

/// C: `openat2(RESOLVE_BENEATH)`
private func openBelow(
  _ directory: CInt, _ path: LocalPath, flags: CInt, followsLinks: Bool
) throws(SystemError) -> CInt {
  var races = 0
  while true {
    do throws(SystemError) {
      return try retryingInterrupts {
        path.withCString {
          CInt(formstream_open_beneath(directory, $0, UInt64(flags), followsLinks ? 1 : 0))
        }
      }
    } catch  where error.number == EAGAIN && races < maximumRaces {
      races += 1
    } catch  where error.number == ENOSYS {
      return try openWithoutLinks(path, in: directory, flags: flags)
    }
  }
}

/// Opens a path below an open directory, for kernels before 5.6: a link anywhere on the path is an error.
///
/// C: `openat(O_NOFOLLOW)`
private func openWithoutLinks(
  _ path: LocalPath, in root: CInt, flags: CInt
) throws(SystemError) -> Int32 {
  let names = path.bytes.split(separator: UInt8(ascii: "/")).map { FileName(bytes: Array($0)) }
  guard let last = names.last, !path.bytes.starts(with: [UInt8(ascii: "/")]),
    !names.contains(FileName(".."))
  else { throw SystemError(number: EXDEV) }
  var directory = root
  defer { if directory != root { close(directory) } }
  for name in names.dropLast() {
    let next = try retryingInterrupts {
      name.withCString { openat(directory, $0, pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }
    if directory != root { close(directory) }
    directory = next
  }
  return try retryingInterrupts { last.withCString { openat(directory, $0, flags | O_NOFOLLOW) } }
}

extension FileStatus {
  /// Reads the status of a path.
  ///
  /// C: `stat`, `lstat`
  package init(of path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts {
      path.withCString { followsSymlinks ? stat($0, &status) : lstat($0, &status) }
    }
    self.init(status)
  }

  /// Reads the status of an entry of an open directory. If the entry is a link, reads the status of the link itself.
  ///
  /// C: `fstatat(AT_SYMLINK_NOFOLLOW)`
  package init(of name: FileName, in directory: Int32) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts {
      name.withCString { fstatat(directory, $0, &status, AT_SYMLINK_NOFOLLOW) }
    }
    self.init(status)
  }

  /// Reads the status of an open descriptor.
  ///
  /// C: `fstat`
  package init(ofDescriptor number: CInt) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    self.init(status)
  }

  private init(_ status: stat) {
    identity = FileIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Timestamp(status.st_mtim), changed: Timestamp(status.st_ctim))
    links = UInt64(status.st_nlink)
    (owner, mode) = (status.st_uid, status.st_mode)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symlink
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      default: .device
      }
  }
}

extension FileStorage {
  /// The kind of storage of the path's file system.
  ///
  /// C: `statfs`
  init(of path: LocalPath) {
    self.init(fileSystemType: path.withCString { formstream_file_system_type($0) })
  }

  /// The kind of storage of the file system of the descriptor's file.
  ///
  /// C: `fstatfs`
  init(ofDescriptor number: CInt) {
    self.init(fileSystemType: formstream_file_system_type_of(number))
  }

  private init(fileSystemType: Int) {
    switch fileSystemType {
    case Int(TMPFS_MAGIC), Int(RAMFS_MAGIC): self = .memory
    case Int(EXT4_SUPER_MAGIC), Int(XFS_SUPER_MAGIC), Int(BTRFS_SUPER_MAGIC),
      Int(F2FS_SUPER_MAGIC):
      self = .disk
    default: self = .unknown
    }
  }
}

/// The device of a file, and when the file was last changed, looked up without waiting.
///
/// Nil if something on the file's path is not in the system's cache, if the file is not a regular file, or if the
/// kernel doesn't support this.
///
/// C: `openat2(RESOLVE_CACHED)`, `statx(AT_STATX_DONT_SYNC)`
func cachedFile(_ path: LocalPath, followsSymlinks: Bool) -> (device: UInt64, changed: Timestamp)? {
  let flags = O_CLOEXEC | (followsSymlinks ? 0 : O_NOFOLLOW)
  let number = CInt(path.withCString { formstream_open_cached($0, flags) })
  guard number >= 0 else { return nil }
  defer { close(number) }
  var status = formstream_cached_status()
  guard formstream_read_cached_status(number, &status) == 0,
    mode_t(status.mode) & S_IFMT == S_IFREG
  else { return nil }
  // The device number, encoded as in `stat`.
  let (major, minor) = (UInt64(status.device_major), UInt64(status.device_minor))
  let device = (major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12
  let changed = Timestamp(
    seconds: status.changed.seconds, nanoseconds: Int64(status.changed.nanoseconds))
  return (device, changed)
}

/// Throws if this process may not read a path. Does not open it.
///
/// C: `faccessat(AT_EACCESS)`
package func checkReadable(_ path: LocalPath) throws(SystemError) {
  _ = try retryingInterrupts {
    path.withCString { faccessat(AT_FDCWD, $0, R_OK, AT_EACCESS) }
  }
}

extension Timestamp {
  fileprivate init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
  }

  /// The clock that the kernel takes file times from. It advances in ticks of up to 10 ms.
  ///
  /// C: `clock_gettime(CLOCK_REALTIME_COARSE)`
  static var fileClock: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    return Timestamp(now)
  }
}

/// Random numbers that can't be guessed, from a single system call. Swift's generator makes a call for each number.
///
/// C: `getentropy`
func randomNumbers(_ count: Int) -> [UInt64] {
  var numbers = [UInt64](repeating: 0, count: count)
  let isFilled = numbers.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
  if !isFilled {
    // The system call is missing. Swift's generator tries other sources, and ends the process if there are none.
    var generator = SystemRandomNumberGenerator()
    for index in numbers.indices { numbers[index] = generator.next() }
  }
  return numbers
}

/// Sleeps for a millisecond.
///
/// C: `nanosleep`
func sleepOneMillisecond() {
  var duration = timespec(tv_sec: 0, tv_nsec: 1_000_000)
  nanosleep(&duration, nil)
}

extension UnsafeRawBufferPointer {
  /// The index of the first `byte` at or after `start`.
  ///
  /// C: `memchr`
  package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard let base = baseAddress, start < count else { return nil }
    guard let found = memchr(base + start, CInt(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
