// The only file of this module that calls the C library. The others see Swift errors, Swift
// integers and `Descriptor`, never `errno`, `EINTR` or a C struct.

import CFormStreamSystem
import FormStreamPlatform
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

  /// Duplicates an open descriptor, so that its owner may close it.
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

  /// Reads what is in the system's cache; returns nil if there is nothing, or if the file system
  /// can't tell.
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

  /// C: `fstat`
  func status() throws(SystemError) -> FileStatus {
    try FileStatus(ofDescriptor: number)
  }
}

extension FileStatus {
  /// Reads the status of a path.
  ///
  /// C: `stat`, `lstat`
  init(of path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts {
      path.withCString { followsSymlinks ? stat($0, &status) : lstat($0, &status) }
    }
    self.init(status)
  }

  /// Reads the status of an open descriptor.
  ///
  /// C: `fstat`
  init(ofDescriptor number: CInt) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    self.init(status)
  }

  private init(_ status: stat) {
    identity = FileIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      modified: Timestamp(status.st_mtim), changed: Timestamp(status.st_ctim))
    links = UInt64(status.st_nlink)
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
  /// Where the files of a path's file system are.
  ///
  /// C: `statfs`
  init(of path: LocalPath) {
    switch path.withCString({ formstream_file_system_type($0) }) {
    case Int(TMPFS_MAGIC), Int(RAMFS_MAGIC): self = .memory
    case Int(EXT4_SUPER_MAGIC), Int(XFS_SUPER_MAGIC), Int(BTRFS_SUPER_MAGIC),
      Int(F2FS_SUPER_MAGIC):
      self = .disk
    default: self = .unknown
    }
  }
}

/// The device of a file that can be looked up without waiting, and when the file was last changed.
///
/// Nil if something on its path is not in the system's cache, if it is no regular file, or if the kernel can't tell.
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
  // The number as `stat` reports it.
  let (major, minor) = (UInt64(status.device_major), UInt64(status.device_minor))
  let device = (major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12
  let changed = Timestamp(
    seconds: status.changed.seconds, nanoseconds: Int64(status.changed.nanoseconds))
  return (device, changed)
}

/// Throws if this process may not read a path. Does not open it.
///
/// C: `faccessat(AT_EACCESS)`
func checkReadable(_ path: LocalPath) throws(SystemError) {
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

/// Random numbers that can't be guessed, all by one system call: Swift's generator makes one for each.
///
/// C: `getentropy`
func randomNumbers(_ count: Int) -> [UInt64] {
  var numbers = [UInt64](repeating: 0, count: count)
  let isFilled = numbers.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
  if !isFilled {
    // The system has no such call: Swift's generator has other ways, and ends the process if there is none.
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
  func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard let base = baseAddress, start < count else { return nil }
    guard let found = memchr(base + start, CInt(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
