import Glibc

/// Which file something is, whatever its name, for as long as it exists.
package struct FileKey: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64

  fileprivate init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// An open directory, and what can be done in it. Names are relative to it, and a link that stands in a name's
/// place is never followed.
package final class DirectoryDescriptor: Sendable {
  /// `O_PATH`, which Swift's Glibc lacks: a directory can be opened so even if it can't be listed.
  private static let pathOnly: CInt = 0o10_000_000

  private let number: CInt

  /// Opens a directory.
  ///
  /// C: `open(O_PATH)`
  package init(_ path: some PathBytes) throws(SystemError) {
    let flags = Self.pathOnly | O_DIRECTORY | O_CLOEXEC
    number = try retryingInterrupts { path.withCString { open($0, flags) } }
  }

  /// Opens a directory, and makes its last component first if it does not exist.
  ///
  /// C: `mkdir`, `open(O_PATH)`
  package convenience init(openingOrMaking path: some PathBytes) throws(SystemError) {
    do throws(SystemError) {
      try self.init(path)
    } catch  where error == .notFound {
      do throws(SystemError) {
        _ = try retryingInterrupts { path.withCString { mkdir($0, 0o777) } }
      } catch  where error.number == EEXIST {
        // Another process has made it in between; or a link leads nowhere, which opening reports again.
      }
      try self.init(path)
    }
  }

  /// Opens the directory of that name in this one; nil if something else has the name. A link is something else,
  /// wherever it leads.
  ///
  /// C: `openat(O_NOFOLLOW)`
  package init?(
    opening name: some PathBytes, in parent: DirectoryDescriptor
  ) throws(SystemError) {
    let flags = Self.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    do throws(SystemError) {
      number = try retryingInterrupts { name.withCString { openat(parent.number, $0, flags) } }
    } catch  where [ENOTDIR, ELOOP].contains(error.number) {
      return nil
    }
  }

  deinit { close(number) }

  /// Makes a directory in this one; returns false if something has the name.
  ///
  /// C: `mkdirat`
  package func makeDirectory(_ name: some PathBytes) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts { name.withCString { mkdirat(number, $0, 0o777) } }
      return true
    } catch  where error.number == EEXIST {
      return false
    }
  }

  /// Throws if names can't be made and removed in it, as far as the system tells beforehand.
  ///
  /// C: `faccessat(AT_EACCESS)`
  package func checkWritable() throws(SystemError) {
    _ = try retryingInterrupts { faccessat(number, ".", W_OK | X_OK, AT_EACCESS) }
  }

  /// What has the name here, even if that is a link; nil if nothing has.
  ///
  /// C: `fstatat`
  package func identity(of name: some PathBytes) throws(SystemError) -> FileKey? {
    var status = stat()
    do throws(SystemError) {
      _ = try retryingInterrupts {
        name.withCString { fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }
      }
    } catch  where error == .notFound {
      return nil
    }
    return FileKey(status)
  }

  /// Makes a file for writing.
  ///
  /// - Parameter permissions: what the file allows, less what the umask takes away.
  ///
  /// C: `openat(O_EXCL)`
  func makeFile(
    _ name: some PathBytes, permissions: UInt32
  ) throws(SystemError) -> WritableDescriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(number, $0, flags, permissions) } })
  }

  /// Gives a file of this directory a name in that one, unless something has it: then it does nothing, and
  /// returns false.
  ///
  /// C: `linkat`, `unlinkat`
  func move(
    _ old: some PathBytes, to directory: DirectoryDescriptor, asFree new: some PathBytes
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

  /// The same if a file can't have two names, as on FAT or behind FUSE: an empty file takes the name, and is then
  /// replaced. A process that is killed in between leaves the empty one.
  private func claim(
    _ new: some PathBytes, in directory: DirectoryDescriptor, for old: some PathBytes
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try directory.makeFile(new, permissions: 0o666)
    } catch  where error.number == EEXIST {
      return false
    }
    do throws(SystemError) {
      if try move(old, to: directory, replacing: new) { return true }
    } catch {
      directory.remove(new)
      throw error
    }
    // The claimed name has become a directory's.
    return false
  }

  /// Gives a file of this directory a name in that one, and takes it from the file or link that had it. If that
  /// is a directory, it does nothing, and returns false.
  ///
  /// C: `renameat`
  func move(
    _ old: some PathBytes, to directory: DirectoryDescriptor, replacing new: some PathBytes
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts {
        old.withCString { old in
          new.withCString { renameat(number, old, directory.number, $0) }
        }
      }
      return true
    } catch  where error == .isADirectory {
      return false
    }
  }

  /// Has the names in it written to the disk.
  ///
  /// C: `fsync`
  package func synchronize() throws(SystemError) {
    let readable = try retryingInterrupts {
      openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { close(readable) }
    _ = try retryingInterrupts { fsync(readable) }
  }

  /// C: `unlinkat`
  package func remove(_ name: some PathBytes) {
    _ = name.withCString { unlinkat(number, $0, 0) }
  }

  /// Removes a directory if it is empty.
  ///
  /// C: `unlinkat(AT_REMOVEDIR)`
  package func removeDirectory(_ name: some PathBytes) {
    _ = name.withCString { unlinkat(number, $0, AT_REMOVEDIR) }
  }
}
