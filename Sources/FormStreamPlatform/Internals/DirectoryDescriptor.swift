import Glibc

/// Identifies an existing file, whatever its name: device and inode.
package struct FileKey: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Whether both files are on one device.
  package func isOnDevice(of other: FileKey) -> Bool { device == other.device }
}

/// An open directory. Names are relative to it, and a name that is a symbolic link is never
/// followed.
package final class DirectoryDescriptor: Sendable {
  /// `O_PATH`, which Swift's Glibc lacks. It opens a directory even if this process can't list it.
  private static let pathOnly: CInt = 0o10_000_000

  let number: CInt
  /// Whether files without names can be made; nil before the first attempt.
  private let hasUnnamedFiles = Guarded<Bool?>(nil)

  /// Opens a directory.
  ///
  /// - Parameter followsLink: whether the path may be that of a link.
  ///
  /// C: `open(O_PATH)`
  package init(_ path: some PathBytes, followsLink: Bool = true) throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    let flags = Self.pathOnly | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
    number = try retryingInterrupts { path.withCString { open($0, flags) } }
  }

  /// Opens a directory, and creates it first if only its last component is missing.
  ///
  /// C: `mkdir`, `open(O_PATH)`
  package convenience init(openingOrMaking path: some PathBytes) throws(SystemError) {
    do throws(SystemError) {
      try self.init(path)
    } catch  where error == .notFound {
      do throws(SystemError) {
        _ = try retryingInterrupts { path.withCString { mkdir($0, 0o777) } }
      } catch  where error.number == EEXIST {
        // Another process has just created it, or the name is a dangling link. Opening it shows
        // which.
      }
      try self.init(path)
    }
  }

  /// Opens a directory inside another directory; nil if the name belongs to something else. A link to a directory does
  /// not count as a directory.
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

  /// Opens a directory inside another directory, and creates it first, for this user alone, if it is missing. Returns nil if
  /// the name belongs to something else, such as a link, or if the directory belongs to another user, or other users can write
  /// to it. If other users can read it, they no longer can.
  ///
  /// C: `mkdirat`, `openat(O_NOFOLLOW)`, `fstat`, `fchmodat`
  package convenience init?(
    openingOrMakingPrivate name: some PathBytes, in parent: DirectoryDescriptor
  ) throws(SystemError) {
    _ = try parent.makeDirectory(name, permissions: 0o700)
    try self.init(opening: name, in: parent)
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { return nil }
    guard status.st_mode & 0o777 != 0o700 else { return }
    _ = try retryingInterrupts { fchmodat(number, ".", 0o700, 0) }
  }

  /// Creates a directory in this one. Returns false if the name is taken.
  ///
  /// C: `mkdirat`
  package func makeDirectory(
    _ name: some PathBytes, permissions: UInt32 = 0o777
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try retryingInterrupts { name.withCString { mkdirat(number, $0, permissions) } }
      return true
    } catch  where error.number == EEXIST {
      return false
    }
  }

  /// Throws if this process may not create and remove names in the directory.
  ///
  /// C: `faccessat(AT_EACCESS)`
  package func checkWritable() throws(SystemError) {
    _ = try retryingInterrupts { faccessat(number, ".", W_OK | X_OK, AT_EACCESS) }
  }

  /// The identity of the file, directory or link with this name; nil if the name is free.
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

  /// Whether this directory is the one with that name. It no longer is after it was removed or moved.
  ///
  /// C: `fstatat`
  package func isStill(_ name: some PathBytes, in parent: DirectoryDescriptor) -> Bool {
    let itself = FileName(bytes: [UInt8(ascii: ".")])
    guard let own = try? identity(of: itself) else { return false }
    return (try? parent.identity(of: name)) == own
  }

  /// Creates a file for writing. Throws if the name is taken, even by a dangling link.
  ///
  /// - Parameters:
  ///   - access: the access mode of `open`, such as `O_WRONLY`.
  ///   - permissions: the mode of the file; the umask applies.
  ///
  /// C: `openat(O_EXCL)`
  func makeFile(
    _ name: some PathBytes, access: CInt = O_WRONLY, permissions: UInt32
  ) throws(SystemError) -> WritableDescriptor {
    let flags = access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(number, $0, flags, permissions) } })
  }

  /// Creates a file for writing that has no name and is removed when it is closed. Returns nil if
  /// the file system has no such files, or can't give them a name later.
  ///
  /// - Parameters:
  ///   - access: the access mode of `open`, such as `O_WRONLY`.
  ///   - permissions: the mode of the file; the umask applies.
  ///   - testName: the name of a test file, which shows whether a file without a name can get one. The test file exists
  ///     for a moment. If the caller removes files when a signal ends the process, it must also remove this file.
  func makeUnnamedFile(
    access: CInt = O_WRONLY, permissions: UInt32, testName: FileName
  ) throws(SystemError) -> WritableDescriptor? {
    let isPossible = try hasUnnamedFiles.withLock { known throws(SystemError) in
      if let known { return known }
      let isPossible = try canNameFiles(testName)
      known = isPossible
      return isPossible
    }
    return isPossible ? try openUnnamedFile(access, permissions: permissions) : nil
  }

  /// Whether a file without a name can get a name. It can't if the file system has no hard links. Without `/proc`, only
  /// a privileged process can give the file a name. Only an attempt shows whether it is possible.
  private func canNameFiles(_ name: FileName) throws(SystemError) -> Bool {
    guard let file = try openUnnamedFile(O_WRONLY, permissions: 0o600) else { return false }
    guard (try? file.link(as: name, in: self)) == true else { return false }
    remove(name)
    return true
  }

  /// C: `openat(O_TMPFILE)`
  private func openUnnamedFile(
    _ access: CInt, permissions: UInt32
  ) throws(SystemError) -> WritableDescriptor? {
    do throws(SystemError) {
      let flags = access | openUnnamed | O_CLOEXEC
      return WritableDescriptor(try retryingInterrupts { openat(number, ".", flags, permissions) })
    } catch  where [EOPNOTSUPP, EISDIR, EINVAL].contains(error.number) {
      return nil
    }
  }

  /// Moves a file of this directory to a name in another directory. Returns false, and does nothing, if the name is
  /// taken.
  ///
  /// C: `renameat2(RENAME_NOREPLACE)`
  func move(
    _ old: some PathBytes, to directory: DirectoryDescriptor, ifFree new: some PathBytes
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      guard let renameAt2 else { throw SystemError(number: ENOSYS) }
      _ = try retryingInterrupts {
        old.withCString { old in
          new.withCString { renameAt2(number, old, directory.number, $0, renameWithoutReplacing) }
        }
      }
      return true
    } catch  where error.number == EEXIST {
      return false
    } catch  where [EINVAL, ENOSYS].contains(error.number) {
      return try link(old, to: directory, ifFree: new)
    }
  }

  /// Like ``move(_:to:ifFree:)``, for file systems without `RENAME_NOREPLACE`, such as NFS. For a moment, the file has
  /// both names.
  ///
  /// C: `linkat`, `unlinkat`
  private func link(
    _ old: some PathBytes, to directory: DirectoryDescriptor, ifFree new: some PathBytes
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

  /// Like ``move(_:to:ifFree:)``, for file systems that have no hard links either, such as some FUSE file systems.
  /// Creates an empty file with the new name, then replaces it. If the process is killed in between, the empty file
  /// stays.
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
    // In the meantime, a directory has replaced the empty file.
    return false
  }

  /// Moves a file of this directory to a name in another directory, replacing a file or a link with that name. Returns
  /// false, and does nothing, if a directory has the name.
  ///
  /// C: `renameat`
  package func move(
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

  /// Writes the names in the directory to the disk. The directory must be readable.
  ///
  /// C: `fsync`
  package func synchronize() throws(SystemError) {
    let readable = try openForReading()
    defer { close(readable) }
    _ = try retryingInterrupts { fsync(readable) }
  }

  /// Opens the directory once more, so that it can be listed, locked and synchronized. The caller
  /// closes the descriptor.
  ///
  /// C: `openat`
  func openForReading() throws(SystemError) -> CInt {
    try retryingInterrupts { openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  /// Whether the name belongs to a regular file of this user that was not written to in the last `seconds`.
  ///
  /// C: `fstatat`, `time`, `geteuid`
  func isOwnFile(_ name: some PathBytes, olderThan seconds: Int) -> Bool {
    var status = stat()
    return name.withCString { fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
      && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
      && status.st_mtim.tv_sec < time(nil) - seconds
  }

  /// When a file's contents were changed, in seconds since 1970; nil if there is no file with that name.
  ///
  /// C: `fstatat`
  package func lastChange(of name: some PathBytes) -> Int64? {
    var status = stat()
    guard name.withCString({ fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      return nil
    }
    return Int64(status.st_mtim.tv_sec)
  }

  /// The number of bytes in a file; nil if there is no file with that name.
  ///
  /// C: `fstatat`
  package func size(of name: some PathBytes) -> Int64? {
    var status = stat()
    guard name.withCString({ fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
      return nil
    }
    return Int64(status.st_size)
  }

  /// Removes a file or a link, if there is one.
  ///
  /// C: `unlinkat`
  package func remove(_ name: some PathBytes) {
    _ = name.withCString { unlinkat(number, $0, 0) }
  }

  /// Removes the file with this name, if it has this identity. Returns false if it has the identity and could not be
  /// removed.
  ///
  /// Another process may replace the file at any time, and no system call checks a file's identity and removes the file
  /// in one step. So the file is first moved to a temporary name. If it turns out to be another file, it gets its name
  /// back, unless a newer file has taken that name.
  package func remove(_ name: some PathBytes, ifStill identity: FileKey) -> Bool {
    guard (try? self.identity(of: name)) == identity else { return true }
    let aside = FileName.temporary()
    guard (try? move(name, to: self, ifFree: aside)) == true else {
      return (try? self.identity(of: name)) != identity
    }
    if (try? self.identity(of: aside)) == identity {
      remove(aside)
    } else {
      _ = try? move(aside, to: self, ifFree: name)
    }
    return true
  }

  /// Removes a directory, if it is empty.
  ///
  /// C: `unlinkat(AT_REMOVEDIR)`
  package func removeDirectory(_ name: some PathBytes) {
    _ = name.withCString { unlinkat(number, $0, AT_REMOVEDIR) }
  }
}
