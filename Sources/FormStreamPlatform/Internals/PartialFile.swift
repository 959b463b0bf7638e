import Glibc

/// A file that grows over several runs of a program, under a name of its own until it is complete.
///
/// Only one `PartialFile` at a time can open the file: the file is locked until it is closed, this object is released, or the
/// process ends.
package final class PartialFile: Sendable {
  /// The name in the directory.
  package let name: FileName
  private let directory: DirectoryDescriptor
  private let descriptor: WritableDescriptor

  /// Creates an empty file that only its owner can read and write; nil if the name is taken.
  ///
  /// - Parameters:
  ///   - mustLock: whether to fail if the file system has no locks. Otherwise, no process takes over a file there that another process
  ///     has left, and the file is made all the same.
  ///   - describe: records the identity of the new file. If the file system allows it, the file gets its name
  ///     only after this call, so a process that is killed leaves no file without a record.
  ///
  /// C: `openat(O_TMPFILE)`, `flock`, `linkat`; or `openat(O_EXCL)`, `flock`
  package init?(
    creating name: FileName, in directory: DirectoryDescriptor, mustLock: Bool = false,
    describing describe: (Identity) throws -> Void
  ) throws {
    (self.name, self.directory) = (name, directory)
    let access = O_RDWR | O_APPEND
    let unnamed = try directory.makeUnnamedFile(
      access: access, permissions: 0o600, testName: .temporary())
    if let unnamed {
      descriptor = unnamed
    } else {
      do throws(SystemError) {
        descriptor = try directory.makeFile(name, access: access, permissions: 0o600)
      } catch  where error == .alreadyExists {
        return nil
      }
    }
    switch try descriptor.lock() {
    // If the file already has a name, another process may have found and locked it before this process could.
    case .refused: return nil
    case .unsupported(let error) where mustLock:
      if unnamed == nil { remove() }
      throw error
    case .granted, .unsupported: break
    }
    do {
      try describe(identity)
    } catch {
      if unnamed == nil { remove() }
      throw error
    }
    if let unnamed { guard try unnamed.link(as: name, in: directory) else { return nil } }
  }

  /// Opens a file that was left incomplete. Returns nil if the file is in use or can't be trusted. A trusted file is a
  /// regular file of this user. It has no other names, and no other user can write to it.
  ///
  /// C: `openat(O_NOFOLLOW)`, `fstat`, `flock`
  package convenience init?(
    leftAs name: FileName, in directory: DirectoryDescriptor
  ) throws(SystemError) {
    var isInUse = false
    try self.init(leftAs: name, in: directory, isInUse: &isInUse)
  }

  /// Opens a file that was left incomplete, like ``init(leftAs:in:)``.
  ///
  /// - Parameters:
  ///   - isPrivatelyKept: whether no other user can reach the directory. Then the file is trusted even if others could write to it: this
  ///     program gives a complete file its last mode before it moves the file there. The file gets its private mode back, but only
  ///     when it is known that nobody uses it: whoever is moving it to its name would store it with the wrong mode.
  ///   - isInUse: is set to true if the file is in use, whatever its mode is.
  /// - Throws: if the file can't be opened for another reason than that it isn't there or isn't this user's: no descriptor is left, a
  ///   program runs from the file, or the disk fails. If it is privately kept, also if it can't be locked.
  ///
  /// C: `openat(O_NOFOLLOW)`, `fstat`, `flock`, `fchmod`
  package init?(
    leftAs name: FileName, in directory: DirectoryDescriptor, isPrivatelyKept: Bool = false,
    isInUse: inout Bool
  ) throws(SystemError) {
    // O_NONBLOCK: if the name belongs to a pipe, opening it must not block.
    let flags = O_RDWR | O_NOFOLLOW | O_APPEND | O_NONBLOCK | O_CLOEXEC
    do throws(SystemError) {
      descriptor = WritableDescriptor(
        try retryingInterrupts { name.withCString { openat(directory.number, $0, flags) } })
    } catch  where error.isAboutNoOwnFile {
      return nil
    }
    (self.name, self.directory) = (name, directory)
    var status = try status
    guard status.isOwn, status.st_nlink == 1 else { return nil }
    let lock = try descriptor.lock()
    isInUse = lock == .refused
    if isPrivatelyKept, case .unsupported(let error) = lock { throw error }
    guard lock == .granted, try hasName else { return nil }
    // Only now nobody changes the mode.
    status = try self.status
    guard isPrivatelyKept || status.isWrittenByOwnerOnly else { return nil }
    if isPrivatelyKept, !status.isPrivate { try descriptor.setPermissions(0o600) }
  }

  /// C: `fstat`
  private var status: stat {
    get throws(SystemError) {
      try descriptor.withNumber { number throws(SystemError) in
        var status = stat()
        _ = try retryingInterrupts { fstat(number, &status) }
        return status
      }
    }
  }

  /// Makes the file one that only its owner can read and write.
  ///
  /// C: `fchmod`
  package func makePrivate() throws(SystemError) { try descriptor.setPermissions(0o600) }

  /// Whether the file still has its name: another process may have moved or removed it.
  ///
  /// C: `fstatat`
  package var hasName: Bool {
    get throws(SystemError) { try directory.identity(of: name) == descriptor.identity() }
  }

  /// The number of bytes in the file.
  package var size: Int64 { get throws(SystemError) { Int64(try status.st_size) } }

  /// A time of the file system.
  package struct Time: Equatable, Sendable {
    package let seconds: Int64
    package let nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64) {
      (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }
  }

  /// Values that no other file of the file system has, not even a file that is made after this one was removed.
  package struct Identity: Equatable, Sendable {
    package let inode: UInt64
    /// When the file was made; nil if the file system doesn't say. Without this time, it is not known whether another file has
    /// reused the inode.
    package let birth: Time?

    package init(inode: UInt64, birth: Time?) {
      (self.inode, self.birth) = (inode, birth)
    }
  }

  /// Values that differ after any change of the file.
  package struct Condition: Equatable, Sendable {
    package let size: Int64
    /// When the contents or the attributes were changed. A program can set the time of the contents, but not this time.
    package let changed: Time

    package init(size: Int64, changed: Time) {
      (self.size, self.changed) = (size, changed)
    }
  }

  /// C: `fstat`, `statx`
  package var identity: Identity {
    get throws(SystemError) {
      Identity(inode: UInt64(try status.st_ino), birth: try birth)
    }
  }

  /// C: `fstat`
  package var condition: Condition {
    get throws(SystemError) {
      let status = try status
      return Condition(
        size: Int64(status.st_size),
        changed: Time(
          seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int64(status.st_ctim.tv_nsec)))
    }
  }

  private var birth: Time? {
    get throws(SystemError) {
      guard let statx else { return nil }
      return try descriptor.withNumber { number throws(SystemError) in
        var status = [UInt8](repeating: 0, count: birthOfFile.size)
        return status.withUnsafeMutableBytes { status -> Time? in
          guard let base = status.baseAddress,
            statx(number, "", aboutDescriptor, birthOfFile.mask, base) == 0,
            base.loadUnaligned(fromByteOffset: birthOfFile.foundOffset, as: UInt32.self)
              & birthOfFile.mask != 0
          else { return nil }
          let start = birthOfFile.timeOffset
          return Time(
            seconds: base.loadUnaligned(fromByteOffset: start, as: Int64.self),
            nanoseconds: Int64(base.loadUnaligned(fromByteOffset: start + 8, as: UInt32.self)))
        }
      }
    }
  }

  /// Appends the bytes.
  ///
  /// C: `write`
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try descriptor.write(bytes)
  }

  /// Reads bytes, beginning at an offset. Returns the number of bytes, which is 0 at the end of the file.
  ///
  /// C: `pread`
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try descriptor.withNumber { number throws(SystemError) in
      try retryingInterrupts { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
    }
  }

  /// Cuts off all bytes but the first `size`.
  ///
  /// C: `ftruncate`
  package func truncate(to size: Int64) throws(SystemError) {
    try descriptor.releaseRoom(after: size)
  }

  /// Reserves room on the disk for a file of `size` bytes, if the file system can. The file keeps its size. ``truncate(to:)``
  /// gives the room back.
  ///
  /// - Throws: `ENOSPC` and the like if there is not that much room.
  ///
  /// C: `fallocate(FALLOC_FL_KEEP_SIZE)`
  package func reserve(_ size: Int64) throws(SystemError) {
    _ = try descriptor.reserve(size)
  }

  /// Makes an atomic file of this file, whose name is the atomic file's temporary name. If the atomic file is not committed,
  /// the file keeps its name.
  package func makeAtomic() throws(SystemError) -> AtomicFile {
    AtomicFile(descriptor, named: name, in: directory, size: try size)
  }

  /// Gives back the room that was reserved after the last byte, and keeps the time of the contents. Does nothing if the file has
  /// no such room.
  ///
  /// C: `fstat`, `ftruncate`, `futimens`
  package func releaseUnusedRoom() throws(SystemError) {
    let status = try status
    let block = max(Int64(status.st_blksize), 512)
    // `st_blocks` counts units of 512 bytes.
    guard Int64(status.st_blocks) > (Int64(status.st_size) + block) / 512 else { return }
    try descriptor.releaseRoom(after: Int64(status.st_size))
    try descriptor.withNumber { number throws(SystemError) in
      _ = try retryingInterrupts { futimens(number, [status.st_atim, status.st_mtim]) }
    }
  }

  /// Whether the file is on the same file system as a directory, so that it can be moved there.
  ///
  /// C: `fstat`, `fstatat`
  package func isOnFileSystem(of directory: DirectoryDescriptor) throws(SystemError) -> Bool {
    let itself = FileName(bytes: [UInt8(ascii: ".")])
    return try directory.identity(of: itself)?.isOnDevice(of: descriptor.identity()) ?? false
  }

  /// Writes the contents to the disk.
  ///
  /// C: `fsync`
  package func synchronize() throws(SystemError) { try descriptor.synchronize() }

  /// Throws the errors that some file systems report only when a file is closed. The file stays open.
  ///
  /// C: `dup`, `close`
  package func flush() throws(SystemError) { try descriptor.flush() }

  /// Gives the file the mode of the file that it replaces. If it replaces no file, it gets the mode that the umask
  /// allows for new files. The file stays private if the umask is not known.
  ///
  /// - Parameter name: the name that is replaced; nil for none.
  ///
  /// C: `fchmod`
  package func setPermissions(replacing name: FileName?) throws(SystemError) {
    if let name, let permissions = directory.permissions(of: name) {
      return try descriptor.setPermissions(permissions)
    }
    guard let mask = fileModeMask else { return }
    try descriptor.setPermissions(0o666 & ~mask)
  }

  /// Gives the file its final name in the same directory. Returns false, and does nothing, if the name is taken and
  /// can't be replaced. A directory is never replaced.
  package func move(
    to name: FileName, ifTaken conflict: AtomicFile.NameConflict
  ) throws(SystemError) -> Bool {
    // A file that another process has put under this name is not moved.
    guard try hasName else { throw .notFound }
    return switch conflict {
    case .replace: try directory.move(self.name, to: directory, replacing: name)
    case .refuse: try directory.move(self.name, to: directory, ifFree: name)
    }
  }

  /// Removes the file, if it still has its name.
  package func remove() {
    if (try? hasName) == true { directory.remove(name) }
  }

  /// Closes the file, and so releases the lock. Throws the errors that some file systems report only here.
  ///
  /// C: `close`
  package func close() throws(SystemError) { try descriptor.close() }
}

extension DirectoryDescriptor {
  /// Whether a file may take a name: yes if the name is free, or if a regular file or a link has it; no if a directory,
  /// a device or a pipe has it.
  ///
  /// C: `fstatat`
  package func mayReplace(_ name: FileName) throws(SystemError) -> Bool {
    var status = stat()
    do throws(SystemError) {
      _ = try retryingInterrupts {
        name.withCString { fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }
      }
    } catch  where error == .notFound {
      return true
    }
    return [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT)
  }

  /// The permissions of a regular file: who may read, write and run it. Nil if there is no regular file with this name.
  ///
  /// C: `fstatat`
  func permissions(of name: some PathBytes) -> UInt32? {
    var status = stat()
    guard name.withCString({ fstatat(number, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    return UInt32(status.st_mode) & 0o777
  }

  /// Sets the mode of a file of this directory. The umask does not apply, and no link is followed.
  ///
  /// C: `openat(O_NOFOLLOW)`, `fchmod`
  package func setPermissions(_ permissions: UInt32, of name: FileName) throws(SystemError) {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let file = WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(number, $0, flags) } })
    try file.setPermissions(permissions)
  }

  /// The contents of a regular file of this user's that no other user can write; nil if there is none, or if it has
  /// more than `limit` bytes.
  ///
  /// - Throws: if the file can't be read now, because no descriptor is left or the disk fails. Then it is not known what is in it.
  ///
  /// C: `openat(O_NOFOLLOW)`, `fstat`, `read`
  package func ownContents(of name: FileName, upTo limit: Int) throws(SystemError) -> [UInt8]? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let number: CInt
    do throws(SystemError) {
      number = try retryingInterrupts { name.withCString { openat(self.number, $0, flags) } }
    } catch  where error.isAboutNoOwnFile {
      return nil
    }
    defer { close(number) }
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    guard status.isOwn, status.isWrittenByOwnerOnly else { return nil }
    return try contents(of: number, upTo: limit)
  }
}

extension stat {
  /// Whether it is a regular file of this user's.
  fileprivate var isOwn: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() }

  /// Whether only its owner may do anything with it.
  fileprivate var isPrivate: Bool { st_mode & 0o777 == 0o600 }

  fileprivate var isWrittenByOwnerOnly: Bool { st_mode & (S_IWGRP | S_IWOTH) == 0 }
}

/// A text that is different after each start of the system; nil if the system has none.
///
/// C: `open`, `read`
package func bootID() -> String? {
  systemFile("/proc/sys/kernel/random/boot_id").map { text in
    String(text.prefix { $0 != "\n" })
  }
}

/// The umask: the bits that this process takes away from the modes of new files; nil if they are not known. The call
/// `umask` can't return them without changing them, and other threads would see the change.
private var fileModeMask: UInt32? {
  guard let text = systemFile("/proc/self/status") else { return nil }
  for line in text.split(separator: "\n") where line.hasPrefix("Umask:") {
    return UInt32(line.dropFirst("Umask:".count).drop { $0 == "\t" || $0 == " " }, radix: 8)
  }
  return nil
}

private func systemFile(_ path: String) -> String? {
  let number = open(path, O_RDONLY | O_CLOEXEC)
  guard number >= 0 else { return nil }
  defer { close(number) }
  return (try? contents(of: number, upTo: 64 * 1024)).map { String(decoding: $0, as: UTF8.self) }
}

/// All bytes of a file; nil if it has more than `limit`.
private func contents(of number: CInt, upTo limit: Int) throws(SystemError) -> [UInt8]? {
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 16 * 1024)
  while true {
    let count = read(number, &piece, piece.count)
    if count < 0 {
      if errno == EINTR { continue }
      throw SystemError(number: errno)
    }
    guard bytes.count + count <= limit else { return nil }
    if count == 0 { return bytes }
    bytes += piece[..<count]
  }
}
