import Glibc

/// A file that is open for writing. It is closed when it is released.
final class WritableDescriptor: Sendable {
  /// The number of the descriptor; nil after closing.
  private let number: Guarded<CInt?>

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

  /// Closes the file; a second call does nothing.
  ///
  /// Some file systems report only here that there was no room: those on a network, and those with
  /// quotas. The descriptor is closed even if this throws, so it is never closed again: its number
  /// may be another file's by then.
  ///
  /// C: `close`
  func close() throws(SystemError) {
    let number = number.withLock { $0.take() }
    guard let number, Glibc.close(number) < 0, errno != EINTR else { return }
    throw SystemError(number: errno)
  }

  private var open: CInt {
    get throws(SystemError) {
      guard let number = number.withLock({ $0 }) else { throw .notOpen }
      return number
    }
  }
}
