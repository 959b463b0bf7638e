// The only file of this module that calls the C library.

import Glibc
import FormStreamMultipart

/// A file that is mapped into memory. The mapping is private, because libmagic may write to it.
final class MappedFile: Sendable {
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

  /// C: `open`, `fstat`, `mmap`
  init(_ path: LocalPath, limit: Int) throws(SystemError) {
    guard path.isUsable else { throw SystemError(number: ENOENT) }
    let number = try retryingInterrupts {
      path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    }
    defer { close(number) }
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError(number: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
    }
    guard status.st_size > 0, status.st_size <= limit else { throw SystemError(number: EINVAL) }
    let size = Int(status.st_size)
    guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, number, 0),
      start != MAP_FAILED
    else { throw SystemError(number: errno) }
    bytes = UnsafeRawBufferPointer(start: start, count: size)
  }

  /// C: `munmap`
  deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}

/// Whether a name matches a shell pattern.
///
/// C: `fnmatch`
func isMatch(_ name: LocalPath, glob: LocalPath) -> Bool {
  glob.withCString { glob in name.withCString { fnmatch(glob, $0, 0) } } == 0
}

/// Whether this process may read a file.
///
/// C: `access`
func isReadable(_ path: LocalPath) -> Bool {
  path.isUsable && path.withCString { access($0, R_OK) } == 0
}

extension SystemError {
  /// Whether `head(of:limit:)` failed because the file is neither regular nor a directory.
  var isOfOtherFile: Bool { number == EINVAL }
}

/// The first bytes of a regular file. FIFOs and devices are refused.
///
/// C: `open`, `fstat`, `pread`
func head(of path: LocalPath, limit: Int) throws(SystemError) -> [UInt8] {
  guard path.isUsable else { throw SystemError(number: ENOENT) }
  let number = try retryingInterrupts {
    path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
  }
  defer { close(number) }
  var status = stat()
  _ = try retryingInterrupts { fstat(number, &status) }
  guard status.st_mode & S_IFMT == S_IFREG else {
    throw SystemError(number: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
  }
  return try head(ofDescriptor: number, limit: limit)
}

/// The first bytes of an open file. Its file offset does not change.
///
/// C: `pread`
func head(ofDescriptor number: CInt, limit: Int) throws(SystemError) -> [UInt8] {
  var failure: SystemError?
  let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
    do throws(SystemError) {
      while count < limit {
        let more = try retryingInterrupts {
          pread(number, buffer.baseAddress.map { $0 + count }, limit - count, off_t(count))
        }
        if more == 0 { break }
        count += more
      }
    } catch {
      failure = error
    }
  }
  if let failure { throw failure }
  return bytes
}
