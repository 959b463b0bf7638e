import Glibc

/// A file of lines, which is written to only at its end. The file is closed when this object is released.
///
/// Each call of `append(_:)` is one `write`. If the process ends during the call, the file may end with a part of the
/// line.
package final class AppendedFile: Sendable {
  private let descriptor: WritableDescriptor

  /// Creates a file that only its owner can read. Throws if the name is taken, even by a dangling link.
  ///
  /// C: `openat(O_EXCL|O_APPEND)`
  package init(_ name: FileName, in directory: DirectoryDescriptor) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC
    descriptor = WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(directory.number, $0, flags, 0o600) } })
  }

  /// Opens a file that an earlier process may have begun, or creates one that only its owner can read.
  ///
  /// C: `openat(O_APPEND)`
  package init(continuing name: FileName, in directory: DirectoryDescriptor) throws(SystemError) {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_APPEND | O_CLOEXEC
    descriptor = WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(directory.number, $0, flags, 0o600) } })
  }

  /// Opens a file that is there.
  ///
  /// C: `openat(O_APPEND)`
  package init(existing name: FileName, in directory: DirectoryDescriptor) throws(SystemError) {
    let flags = O_RDWR | O_NOFOLLOW | O_APPEND | O_CLOEXEC
    descriptor = WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(directory.number, $0, flags) } })
  }

  /// Opens the file that a path leads to, or creates it with the permissions that the umask leaves. Links are followed, and
  /// other processes may write to the file, too.
  ///
  /// C: `open(O_APPEND)`
  package init(at path: some PathBytes) throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY
    descriptor = WritableDescriptor(
      try retryingInterrupts { path.withCString { open($0, flags, 0o666) } })
  }

  /// Whether a path leads to the file.
  ///
  /// C: `fstat`, `stat`
  package func isAt(_ path: some PathBytes) throws(SystemError) -> Bool {
    var status = stat()
    do throws(SystemError) {
      _ = try retryingInterrupts { path.withCString { stat($0, &status) } }
    } catch  where error == .notFound {
      return false
    }
    return try FileKey(status) == descriptor.identity()
  }

  /// Whether the last line of the file at a path has no line feed. False if the file can't be read.
  ///
  /// C: `open`, `lseek`, `pread`
  package static func endsWithinLine(at path: some PathBytes) -> Bool {
    let number = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard number >= 0 else { return false }
    defer { Glibc.close(number) }
    var last: UInt8 = 0
    let end = lseek(number, 0, SEEK_END)
    return end > 0 && pread(number, &last, 1, end - 1) == 1 && last != UInt8(ascii: "\n")
  }

  /// Locks the file until it is closed. Returns false if another process has locked it.
  ///
  /// On a file system without locks, such as some network file systems, this returns true, and other processes can
  /// still use the file.
  ///
  /// C: `flock(LOCK_EX|LOCK_NB)`
  package func lock() throws(SystemError) -> Bool {
    try descriptor.lock() != .refused
  }

  /// Locks the file like ``lock()``. Returns true only if no other process can have locked it, and so false on a file system
  /// without locks.
  ///
  /// C: `flock(LOCK_EX|LOCK_NB)`
  package func lockSurely() throws(SystemError) -> Bool {
    try descriptor.lock() == .granted
  }

  /// Who can change the file.
  package enum Ownership: Sendable {
    /// The user of this process.
    case own
    /// Another user.
    case foreign
    /// The user of this process and, by the file's mode, others.
    case open
    /// It is no regular file: a device, or a pipe.
    case special

    /// C: `geteuid`
    package init(isRegular: Bool, owner: UInt32, mode: UInt32) {
      self = !isRegular ? .special : owner != geteuid() ? .foreign : mode & (S_IWGRP | S_IWOTH) == 0 ? .own : .open
    }
  }

  /// C: `fstat`, `geteuid`
  package func ownership() throws(SystemError) -> Ownership {
    try descriptor.withNumber { number throws(SystemError) in
      var status = stat()
      _ = try retryingInterrupts { fstat(number, &status) }
      return Ownership(isRegular: status.st_mode & S_IFMT == S_IFREG, owner: status.st_uid, mode: status.st_mode)
    }
  }

  /// Keeps all but the owner from reading the file.
  ///
  /// C: `fchmod`
  package func makePrivate() throws(SystemError) {
    try descriptor.withNumber { number throws(SystemError) in
      _ = try retryingInterrupts { fchmod(number, 0o600) }
    }
  }

  /// Whether the file has this name.
  ///
  /// C: `fstat`, `fstatat`
  package func isNamed(
    _ name: FileName, in directory: DirectoryDescriptor
  ) throws(SystemError) -> Bool {
    try directory.identity(of: name) == descriptor.identity()
  }

  /// The first `count` bytes of the file, or all its bytes if it has fewer.
  ///
  /// C: `pread`
  package func beginning(upTo count: Int) throws(SystemError) -> [UInt8] {
    try descriptor.withNumber { number throws(SystemError) in
      var bytes = [UInt8](repeating: 0, count: count)
      let read = try retryingInterrupts { pread(number, &bytes, count, 0) }
      return Array(bytes.prefix(read))
    }
  }

  /// Cuts off the last line if it is torn, that is, if it has no line feed. Returns the file's new size.
  ///
  /// C: `fstat`, `pread`, `ftruncate`
  package func cutTornLine() throws(SystemError) -> Int64 {
    try descriptor.withNumber { number throws(SystemError) in try Self.cutTornLine(of: number) }
  }

  private static func cutTornLine(of number: CInt) throws(SystemError) -> Int64 {
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    var end = status.st_size
    var piece = [UInt8](repeating: 0, count: 4096)
    while end > 0 {
      let start = max(0, end - piece.count)
      let count = try retryingInterrupts { pread(number, &piece, end - start, start) }
      if let feed = piece[..<count].lastIndex(of: UInt8(ascii: "\n")) {
        end = start + feed + 1
        break
      }
      end = start
    }
    if end < status.st_size { _ = try retryingInterrupts { ftruncate(number, end) } }
    return Int64(end)
  }

  /// Removes all bytes of the file.
  ///
  /// C: `ftruncate`
  package func removeContents() throws(SystemError) {
    try descriptor.withNumber { number throws(SystemError) in
      _ = try retryingInterrupts { ftruncate(number, 0) }
    }
  }

  /// C: `write`
  package func append(_ bytes: [UInt8]) throws(SystemError) {
    // The closure throws nothing: a typed error there crashes the compiler.
    var failure: SystemError?
    bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { try descriptor.write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Appends all bytes or none: if the disk has room for a part of them only, the part is taken back, unless another process has
  /// appended to the file since.
  ///
  /// C: `write`, `lseek`, `fstat`, `ftruncate`
  package func appendWhole(_ bytes: [UInt8]) throws(SystemError) {
    try descriptor.withNumber { number throws(SystemError) in
      var written = 0
      // The closure throws nothing: a typed error there crashes the compiler.
      var failure: SystemError?
      bytes.withUnsafeBytes { bytes in
        do throws(SystemError) { try writeAll(bytes, to: number, written: &written) } catch { failure = error }
      }
      guard let failure else { return }
      var status = stat()
      if written > 0, fstat(number, &status) == 0, lseek(number, 0, SEEK_CUR) == status.st_size {
        _ = ftruncate(number, status.st_size - off_t(written))
      }
      throw failure
    }
  }

  /// C: `fsync`
  package func synchronize() throws(SystemError) { try descriptor.synchronize() }

  /// C: `close`
  package func close() throws(SystemError) { try descriptor.close() }
}
