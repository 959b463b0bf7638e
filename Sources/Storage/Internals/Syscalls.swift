// The only file of this module that talks to the C library.

import Glibc
import Multipart

extension SystemError {
  static let notFound = SystemError(number: ENOENT)
  fileprivate static let notOpen = SystemError(number: EBADF)
  static let noDirectory = SystemError(number: ENOTDIR)

  /// The disk is full, or a quota or a limit of this process reached.
  var isNoRoom: Bool { [ENOSPC, EDQUOT, EFBIG].contains(number) }

  /// This process, or the system, has as many files open as it may.
  var isTooManyOpen: Bool { [EMFILE, ENFILE].contains(number) }

  /// Something else stands where a directory was to be opened: for a link it is one or the other.
  fileprivate var isNoDirectory: Bool { [ENOTDIR, ELOOP].contains(number) }
}

/// Which file something is, whatever its name, for as long as it is there.
struct FileKey: Hashable {
  let device: UInt64
  let inode: UInt64
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

  /// Opens the directory of that name in this one; nil where something else has the name. A link is something
  /// else, wherever it leads.
  ///
  /// C: `openat(O_NOFOLLOW)`
  init?(opening name: LocalPath, in parent: DirectoryDescriptor) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    do throws(SystemError) {
      number = try retryingInterrupts { name.withCString { openat(parent.number, $0, flags) } }
    } catch  where error.isNoDirectory {
      return nil
    }
  }

  deinit { close(number) }

  /// Makes a directory in this one; false where something has the name.
  ///
  /// C: `mkdirat`
  func makeDirectory(_ name: LocalPath) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts { name.withCString { mkdirat(number, $0, 0o777) } }
      return true
    } catch  where error.number == EEXIST {
      return false
    }
  }

  /// Whether names can be made and removed in it, as far as the system tells beforehand.
  ///
  /// C: `faccessat(AT_EACCESS)`
  func checkWritable() throws(SystemError) {
    _ = try retryingInterrupts { faccessat(number, ".", W_OK | X_OK, AT_EACCESS) }
  }

  /// What has the name here, also where it is a link; nil where nothing has.
  ///
  /// C: `fstatat`
  func identity(of name: LocalPath) throws(SystemError) -> FileKey? {
    var status = stat()
    do throws(SystemError) {
      _ = try retryingInterrupts {
        name.withCString { fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }
      }
    } catch  where error.number == ENOENT {
      return nil
    }
    return FileKey(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Makes a file for writing. Who may read it is the umask's and the directory's business.
  ///
  /// C: `openat(O_EXCL)`
  func makeFile(_ name: LocalPath) throws(SystemError) -> FileDescriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return FileDescriptor(
      try retryingInterrupts { name.withCString { openat(number, $0, flags, 0o666) } })
  }

  /// Gives a file of this directory a name in that one, unless something has it: then nothing is done, and
  /// false returned.
  ///
  /// C: `linkat`, `unlinkat`
  func move(
    _ old: LocalPath, to directory: DirectoryDescriptor, asFree new: LocalPath
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts {
        old.withCString { old in
          new.withCString { linkat(number, old, directory.number, $0, 0) }
        }
      }
      remove(old)
      return true
    } catch  where error.number == EEXIST {
      return false
    } catch  where [EPERM, EOPNOTSUPP, ENOSYS].contains(error.number) {
      return try claim(new, in: directory, for: old)
    }
  }

  /// The same where a file can't have two names, as on FAT or behind FUSE: an empty file takes the name,
  /// and is then written over. A process that is killed in between leaves the empty one.
  private func claim(
    _ new: LocalPath, in directory: DirectoryDescriptor, for old: LocalPath
  ) throws(SystemError) -> Bool {
    do throws(SystemError) { _ = try directory.makeFile(new) } catch  where error.number == EEXIST {
      return false
    }
    do throws(SystemError) {
      if try move(old, to: directory, replacing: new) { return true }
    } catch {
      directory.remove(new)
      throw error
    }
    // What was claimed has become a directory.
    return false
  }

  /// Gives a file of this directory a name in that one, and takes it from the file or the link that had
  /// it; false, and nothing done, where that is a directory.
  ///
  /// C: `renameat`
  func move(
    _ old: LocalPath, to directory: DirectoryDescriptor, replacing new: LocalPath
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts {
        old.withCString { old in
          new.withCString { renameat(number, old, directory.number, $0) }
        }
      }
      return true
    } catch  where error.number == EISDIR {
      return false
    }
  }

  /// C: `unlinkat`
  func remove(_ name: LocalPath) {
    _ = name.withCString { unlinkat(number, $0, 0) }
  }

  /// Removes a directory that is empty.
  ///
  /// C: `unlinkat(AT_REMOVEDIR)`
  func removeDirectory(_ name: LocalPath) {
    _ = name.withCString { unlinkat(number, $0, AT_REMOVEDIR) }
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
  /// no room. It is closed also where this fails, so it is not tried again:
  /// its number is another file's by then. A second time does nothing.
  ///
  /// C: `close`
  func close() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    guard Glibc.close(number) < 0, errno != EINTR else { return }
    throw SystemError(number: errno)
  }

  /// C: `write`
  func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    guard isOpen else { throw .notOpen }
    try writeAll(bytes, to: number)
  }
}
