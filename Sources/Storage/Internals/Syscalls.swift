// The only file of this module that talks to the C library.

import Glibc
import Multipart

extension SystemError {
  static let notFound = SystemError(number: ENOENT)
}

/// An open directory, and what can be done in it. Names are taken relative to it, and no link that stands
/// in a name's place is followed.
final class DirectoryDescriptor: Sendable {
  private let number: CInt

  /// C: `open`, `mkdir`
  init(openingOrMaking path: LocalPath) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
    do throws(SystemError) {
      number = try retryingInterrupts { path.withCString { open($0, flags) } }
    } catch  where error.number == ENOENT {
      do throws(SystemError) {
        _ = try retryingInterrupts { path.withCString { mkdir($0, 0o777) } }
      } catch  where error.number == EEXIST {
        // Another has made it in between; or a link leads nowhere, which opening says again.
      }
      number = try retryingInterrupts { path.withCString { open($0, flags) } }
    }
  }

  deinit { close(number) }

  /// Makes a file for writing. Who may read it is the umask's and the directory's business.
  ///
  /// C: `openat(O_EXCL)`
  func makeFile(_ name: LocalPath) throws(SystemError) -> FileDescriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return FileDescriptor(
      try retryingInterrupts { name.withCString { openat(number, $0, flags, 0o666) } })
  }

  /// Gives a file another name, unless something has it: then nothing is done, and false returned.
  ///
  /// C: `linkat`, `unlinkat`
  func rename(_ old: LocalPath, toFree new: LocalPath) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts {
        old.withCString { old in new.withCString { linkat(number, old, number, $0, 0) } }
      }
      remove(old)
      return true
    } catch  where error.number == EEXIST {
      return false
    } catch  where [EPERM, EOPNOTSUPP, ENOSYS].contains(error.number) {
      return try claim(new, for: old)
    }
  }

  /// The same where a file can't have two names, as on FAT or behind FUSE: an empty file takes the name,
  /// and is then written over. A process that is killed in between leaves the empty one.
  ///
  /// C: `openat(O_EXCL)`, `renameat`
  private func claim(_ new: LocalPath, for old: LocalPath) throws(SystemError) -> Bool {
    do throws(SystemError) { _ = try makeFile(new) } catch  where error.number == EEXIST {
      return false
    }
    do throws(SystemError) {
      _ = try retryingInterrupts {
        old.withCString { old in new.withCString { renameat(number, old, number, $0) } }
      }
    } catch {
      remove(new)
      throw error
    }
    return true
  }

  /// C: `unlinkat`
  func remove(_ name: LocalPath) {
    _ = name.withCString { unlinkat(number, $0, 0) }
  }
}

/// A file that is written to.
final class FileDescriptor {
  private let number: CInt
  private var isOpen = true

  init(_ number: CInt) {
    self.number = number
  }

  deinit { if isOpen { Glibc.close(number) } }

  /// Nothing is written to it any more. Network file systems and quotas may say only here that there was
  /// no room. It is closed also where this fails, so it is not tried again.
  ///
  /// C: `close`
  func close() throws(SystemError) {
    isOpen = false
    guard Glibc.close(number) < 0, errno != EINTR else { return }
    throw SystemError(number: errno)
  }

  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try writeAll(bytes, to: number)
  }
}
