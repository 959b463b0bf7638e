// What several modules ask of the C library. Everything above it sees Swift errors, Swift integers and owned
// descriptors; nothing above it sees `errno`, `EINTR` or a struct from C.

import Glibc

/// Calls `body` again each time a signal interrupts it. Any other failure becomes an error here, once.
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

/// Calls `body`, and waits for the descriptor each time it is not ready. Another program may have made a shared
/// terminal or pipe non-blocking: then `EAGAIN` is no failure.
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

/// Writes all the bytes, waiting for a slow reader.
///
/// C: `write`
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: CInt
) throws(SystemError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = UnsafeRawBufferPointer(rebasing: rest)
    let count = try waitingUntilReady(for: POLLOUT, on: descriptor) {
      Glibc.write(descriptor, piece.baseAddress, piece.count)
    }
    rest = rest.dropFirst(count)
  }
}

/// The C library's sentence for an error number.
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
  /// Something on the path is not a directory.
  package static let notADirectory = SystemError(number: ENOTDIR)
  /// A directory is where a file was wanted.
  package static let isADirectory = SystemError(number: EISDIR)
  /// The descriptor is closed.
  package static let notOpen = SystemError(number: EBADF)

  /// Nothing is at the path, or a directory on the way is none.
  package var isPathMissing: Bool { number == ENOENT || number == ENOTDIR }
  /// The path is a link where none is followed.
  package var isSymlinkRefused: Bool { number == ELOOP }
  /// The disk is full, or a quota or a limit of this process is reached.
  package var isOutOfSpace: Bool { [ENOSPC, EDQUOT, EFBIG].contains(number) }
  /// This process, or the system, has as many files open as it may.
  package var isOutOfDescriptors: Bool { [EMFILE, ENFILE].contains(number) }
  /// This process may not do it.
  package var isPermissionDenied: Bool { [EACCES, EPERM].contains(number) }
  /// The reader is gone.
  package var isBrokenPipe: Bool { number == EPIPE }
}
