import Glibc

/// A file that is open for writing. It is closed when it is released.
final class WritableDescriptor: Sendable {
  /// The number of the descriptor; nil after closing.
  private let number: Guarded<CInt?>
  private let isLocked = Guarded(false)

  init(_ number: CInt) {
    self.number = Guarded(number)
  }

  deinit { try? close() }

  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    let number = try open
    try writeAll(bytes, to: number)
  }

  /// C: `fchmod`
  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    let number = try open
    _ = try retryingInterrupts { fchmod(number, permissions) }
  }

  /// C: `fsync`
  func synchronize() throws(SystemError) {
    let number = try open
    _ = try retryingInterrupts { fsync(number) }
  }

  /// Reserves room on the disk for the first `size` bytes. Returns false if the file system can't.
  ///
  /// C: `fallocate(FALLOC_FL_KEEP_SIZE)`
  func reserve(_ size: Int64) throws(SystemError) -> Bool {
    let number = try open
    guard let fileAllocate else { return false }
    do throws(SystemError) {
      _ = try retryingInterrupts { fileAllocate(number, allocateBehindTheEnd, 0, off_t(size)) }
      return true
    } catch  where error.isOutOfSpace {
      throw error
    } catch {
      return false
    }
  }

  /// Releases the room after the first `size` bytes. Bytes after them are cut off.
  ///
  /// C: `ftruncate`
  func releaseRoom(after size: Int64) throws(SystemError) {
    let number = try open
    _ = try retryingInterrupts { ftruncate(number, off_t(size)) }
  }

  /// The file's identity.
  ///
  /// C: `fstat`
  func identity() throws(SystemError) -> FileKey {
    let number = try open
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    return FileKey(status)
  }

  /// Gives a name to a file that has none. Returns false if the name is taken.
  ///
  /// C: `linkat(AT_SYMLINK_FOLLOW)`
  func link(as name: some PathBytes, in directory: DirectoryDescriptor) throws(SystemError) -> Bool {
    let number = try open
    do throws(SystemError) {
      _ = try retryingInterrupts {
        name.withCString {
          linkat(AT_FDCWD, "/proc/self/fd/\(number)", directory.number, $0, AT_SYMLINK_FOLLOW)
        }
      }
      return true
    } catch  where error == .alreadyExists {
      return false
    }
  }

  /// Throws the errors that some file systems report only when a file is closed. The file stays open.
  ///
  /// C: `dup`, `close`
  func flush() throws(SystemError) {
    let number = try open
    let duplicate = try retryingInterrupts { fcntl(number, F_DUPFD_CLOEXEC, 0) }
    if Glibc.close(duplicate) < 0, errno != EINTR { throw SystemError(number: errno) }
  }

  enum Lock: Equatable {
    case granted, refused
    /// The file can't be locked, because of this error. On a file system without locks, no file can.
    case unsupported(SystemError)
  }

  /// Locks the file until it is closed, or the process ends.
  ///
  /// - Parameter waits: whether to wait while another process has the lock.
  ///
  /// C: `flock(LOCK_EX)`
  func lock(waits: Bool = false) throws(SystemError) -> Lock {
    let number = try open
    do throws(SystemError) {
      _ = try retryingInterrupts { flock(number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
    } catch {
      return error.number == EWOULDBLOCK ? .refused : .unsupported(error)
    }
    isLocked.withLock { $0 = true }
    return .granted
  }

  /// Closes the file; a second call does nothing.
  ///
  /// Closing alone may not end the lock: a program that another thread is just starting has the file open, too.
  ///
  /// Network file systems and file systems with quotas may report only here that there was no room. The descriptor is
  /// closed even if this method throws. It must not be closed again, because its number may belong to another file by
  /// then.
  ///
  /// C: `flock(LOCK_UN)`, `close`
  func close() throws(SystemError) {
    guard let number = number.withLock({ $0.take() }) else { return }
    if isLocked.withLock({ $0 }) { _ = flock(number, LOCK_UN) }
    guard Glibc.close(number) < 0, errno != EINTR else { return }
    throw SystemError(number: errno)
  }

  /// Calls `use` with the number of the descriptor.
  func withNumber<Result>(
    _ use: (CInt) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try use(try open)
  }

  private var open: CInt {
    get throws(SystemError) {
      guard let number = number.withLock({ $0 }) else { throw .notOpen }
      return number
    }
  }
}
