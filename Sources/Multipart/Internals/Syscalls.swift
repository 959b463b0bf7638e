// The only file of this module that talks to the C library, but for the lock in `Guarded`. Everything above
// it speaks Swift errors, Swift integers and `Descriptor`; nothing above it sees `errno`, `EINTR` or a
// struct from C.

import Glibc

/// Calls `body` again for as long as a signal interrupts it; any other failure becomes an error, once.
package func retryingInterrupts<Result: SignedInteger>(
  _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    let result = body()
    if result >= 0 { return result }
    let number = errno
    if number != EINTR { throw SystemError(number: number) }
  }
}

/// Does what `body` does, waiting for the descriptor where it is not ready: one that another program
/// has set to non-blocking (terminals and pipes are shared) gives `EAGAIN`, which is no failure.
///
/// C: `poll`
package func waitingWhenBusy<Result: SignedInteger>(
  for events: Int32, on descriptor: CInt, _ body: () -> Result
) throws(SystemError) -> Result {
  while true {
    do throws(SystemError) {
      return try retryingInterrupts(body)
    } catch  where error.number == EAGAIN {
      var waited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      _ = try retryingInterrupts { poll(&waited, 1, -1) }
    }
  }
}

/// Writes all of it, waiting for a slow reader.
///
/// C: `write`
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt
) throws(SystemError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = UnsafeRawBufferPointer(rebasing: rest)
    let count = try waitingWhenBusy(for: POLLOUT, on: descriptor) {
      Glibc.write(descriptor, piece.baseAddress, piece.count)
    }
    rest = rest.dropFirst(count)
  }
}

/// The sentence that the C library has for an error number.
///
/// C: `strerror_r`
func systemMessage(for number: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    buffer.initialize(repeating: 0)
    guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
      return "error \(number)"
    }
    return String(cString: start)
  }
}

/// An open file descriptor with one owner: it is closed when that owner goes, on every way out.
struct Descriptor: ~Copyable {
  private let number: CInt

  /// Opens a path for reading.
  ///
  /// Without `mayBlock` a FIFO that took a file's place cannot hold the caller up; with it, opening
  /// a FIFO waits for its writer.
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

  /// A second descriptor for an open one, so that its owner may close it while the first lives on.
  ///
  /// C: `fcntl(F_DUPFD_CLOEXEC)`
  init(duplicating original: CInt) throws(SystemError) {
    number = try retryingInterrupts { fcntl(original, F_DUPFD_CLOEXEC, 0) }
  }

  deinit { Glibc.close(number) }

  /// C: `read`
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try waitingWhenBusy(for: POLLIN, on: number) {
      Glibc.read(number, buffer.baseAddress, buffer.count)
    }
  }

  /// C: `pread`
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try retryingInterrupts { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// C: `fstat`
  func status() throws(SystemError) -> FileStatus {
    try FileStatus(ofDescriptor: number)
  }
}

extension FileStatus {
  /// Looks at a path without opening it.
  ///
  /// C: `stat`, `lstat`
  init(of path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    var status = stat()
    _ = try retryingInterrupts {
      path.withCString { followsSymlinks ? stat($0, &status) : lstat($0, &status) }
    }
    self.init(status)
  }

  /// Looks at what is open under a descriptor.
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

/// Asks whether this process may read a path, without opening it.
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

  /// The clock that the kernel stamps files with: it moves in ticks of up to 10 ms.
  ///
  /// C: `clock_gettime(CLOCK_REALTIME_COARSE)`
  static var fileClock: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    return Timestamp(now)
  }
}

/// Rests for a millisecond.
///
/// C: `nanosleep`
func restOneMillisecond() {
  var duration = timespec(tv_sec: 0, tv_nsec: 1_000_000)
  nanosleep(&duration, nil)
}

/// Starts a thread that nobody joins; false where the system has none to give.
///
/// C: `pthread_create`
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Start {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }
  let start = Unmanaged.passRetained(Start(body))
  let isStarted = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) {
    attributes in
    guard let attributes = attributes.baseAddress, pthread_attr_init(attributes) == 0 else {
      return false
    }
    defer { pthread_attr_destroy(attributes) }
    pthread_attr_setstacksize(attributes, 1024 * 1024)
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    return pthread_create(
      &thread, attributes,
      { context in
        if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, start.toOpaque()) == 0
  }
  if !isStarted { start.release() }
  return isStarted
}

/// So many turns, for which others wait.
package final class Turns: Sendable {
  nonisolated(unsafe) private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// C: `sem_init`
  package init(_ count: Int) {
    sem_init(semaphore, 0, UInt32(count))
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// C: `sem_wait`
  package func take() {
    while sem_wait(semaphore) < 0, errno == EINTR {}
  }

  /// C: `sem_post`
  package func giveBack() {
    sem_post(semaphore)
  }
}

extension UnsafeRawBufferPointer {
  /// The first place of `byte` at or behind `start`.
  ///
  /// C: `memchr`
  func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard let base = baseAddress, start < count else { return nil }
    guard let found = memchr(base + start, CInt(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Whether `other` stands in these bytes at `start`.
  ///
  /// C: `memcmp`
  func has(_ other: UnsafeRawBufferPointer, at start: Int) -> Bool {
    guard let base = baseAddress, let wanted = other.baseAddress, other.count <= count - start
    else {
      return false
    }
    return memcmp(base + start, wanted, other.count) == 0
  }
}

extension SystemError {
  /// The path leads nowhere.
  package var isNotFound: Bool { number == ENOENT || number == ENOTDIR }
  /// The path is a link where none is followed.
  var isLinkRefused: Bool { number == ELOOP }
}
