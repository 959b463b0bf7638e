// System calls that several modules share. Their callers see Swift errors, Swift integers and
// descriptors with an owner, never `errno`, `EINTR` or a C struct.

import Glibc

/// Calls `body`, and calls it again if a signal interrupts it. Every other failure becomes an error
/// here.
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

/// Calls `body`, and waits for the descriptor if it is not ready. Another program may have made a
/// shared terminal or pipe non-blocking, so `EAGAIN` is not a failure.
///
/// C: `poll`
package func waitingUntilReady<Result: SignedInteger>(
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

/// Writes all the bytes, waiting for the reader if it is slow.
///
/// C: `write`
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt
) throws(SystemError) {
  var written = 0
  try writeAll(bytes, to: descriptor, written: &written)
}

/// Like ``writeAll(_:to:)``.
///
/// - Parameter written: the number of bytes that were written, even if this throws.
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt, written: inout Int
) throws(SystemError) {
  written = 0
  while written < bytes.count {
    let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
    written += try waitingUntilReady(for: POLLOUT, on: descriptor) {
      Glibc.write(descriptor, rest.baseAddress, rest.count)
    }
  }
}

/// The C library's message for an error number.
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

extension SystemError {
  /// Nothing is at the path.
  package static let notFound = SystemError(number: ENOENT)
  /// The name is taken.
  package static let alreadyExists = SystemError(number: EEXIST)
  /// Something on the path is not a directory.
  package static let notADirectory = SystemError(number: ENOTDIR)
  /// The path is a directory, but a file was expected.
  package static let isADirectory = SystemError(number: EISDIR)
  /// The path leads out of the directory that it must stay in.
  package static let leadingOut = SystemError(number: EXDEV)
  /// A file has fewer bytes than were written to it.
  package static let cutShort = SystemError(number: EIO)
  /// The descriptor is closed.
  package static let notOpen = SystemError(number: EBADF)

  /// Nothing is at the path, or a component before the last is not a directory.
  package var isPathMissing: Bool { number == ENOENT || number == ENOTDIR }
  /// The path is a symbolic link, and the call does not follow links.
  package var isSymlinkRefused: Bool { number == ELOOP }
  /// The path, or a link on it, leads out of the directory that it must stay in.
  package var leadsOut: Bool { number == EXDEV }
  /// The path names a socket, or a device that has no driver.
  package var isNotOpenable: Bool { number == ENXIO || number == ENODEV }
  /// The disk is full, or a quota or the file size limit of this process is reached.
  package var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(number) }
  /// This process or the system has too many open files.
  package var isOutOfDescriptors: Bool { [EMFILE, ENFILE].contains(number) }

  /// Whether a file could not be opened because no file of this process's user has the name. After any other error, it is not known
  /// whether there is such a file.
  var isAboutNoOwnFile: Bool {
    [ENOENT, ENOTDIR, EISDIR, ELOOP, ENXIO, EACCES, EPERM].contains(number)
  }
  /// This process lacks the permission.
  package var isPermissionDenied: Bool { [EACCES, EPERM].contains(number) }
  /// The reader has closed the pipe or connection.
  package var isBrokenPipe: Bool { number == EPIPE }
}
