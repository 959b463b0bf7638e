/// A file that appears under its name only when it is complete.
///
/// Until ``commit(as:in:ifTaken:isSynchronized:)`` succeeds the file has a temporary name, and it
/// is removed if it is released before that. One thread writes and commits; any thread may call
/// ``discard()``.
package final class AtomicFile: Sendable {
  /// What ``commit(as:in:ifTaken:isSynchronized:)`` does if the name is taken.
  package enum NameConflict: Sendable {
    /// Replaces a file or a link. A directory keeps the name.
    case replace
    /// Changes nothing.
    case refuse
  }

  /// The name of the file until it is committed.
  package let temporaryName: FileName
  private let directory: DirectoryDescriptor
  private let descriptor: WritableDescriptor
  /// Whether the file was committed or discarded: then the temporary name is no longer ours.
  private let isSettled = Guarded(false)
  /// Whether everything written so far is on the disk.
  private let isOnDisk = Guarded(false)

  /// Creates the file under its temporary name.
  ///
  /// - Parameters:
  ///   - temporaryName: for callers that must know the name beforehand. Use
  ///     ``FileName/temporary()``.
  ///   - permissions: the mode of the file; the umask applies.
  package init(
    in directory: DirectoryDescriptor, temporaryName: FileName = .temporary(),
    permissions: UInt32 = 0o666
  ) throws(SystemError) {
    self.directory = directory
    self.temporaryName = temporaryName
    descriptor = try directory.makeFile(temporaryName, permissions: permissions)
  }

  deinit { discard() }

  /// Creates the file in the directory of a path. Commit it as the last component of that path.
  ///
  /// - Throws: `ENOENT` if the path is empty or contains a NUL, `EISDIR` if it ends in a slash, and
  ///   what opening the directory and creating the file throw.
  package convenience init(
    for path: some PathBytes, permissions: UInt32 = 0o666
  ) throws(SystemError) {
    guard path.isUsable, !path.bytes.isEmpty else { throw .notFound }
    guard !path.name.bytes.isEmpty else { throw .isADirectory }
    try self.init(in: try DirectoryDescriptor(path.directory), permissions: permissions)
  }

  /// Appends the bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    isOnDisk.withLock { $0 = false }
    try descriptor.write(bytes)
  }

  /// Sets the mode of the file. The umask does not apply.
  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try descriptor.setPermissions(permissions)
  }

  /// Writes the contents to the disk.
  package func synchronize() throws(SystemError) {
    try descriptor.synchronize()
    isOnDisk.withLock { $0 = true }
  }

  /// Ends writing. The file keeps its temporary name.
  package func close() throws(SystemError) {
    try descriptor.close()
  }

  /// Gives the file its name. Returns false if the name is taken and stays taken; then the caller
  /// may try another.
  ///
  /// If synchronizing the directory fails, this throws although the file has its name.
  ///
  /// - Parameters:
  ///   - directory: the directory of the name; nil means the one that the file was created in.
  ///   - isSynchronized: whether contents and name must be on the disk when this returns.
  package func commit(
    as name: some PathBytes, in directory: DirectoryDescriptor? = nil,
    ifTaken conflict: NameConflict = .replace, isSynchronized: Bool = false
  ) throws(SystemError) -> Bool {
    // C would cut the name there, and the file would get another one.
    guard name.isUsable else { throw .notFound }
    let target = directory ?? self.directory
    // An earlier attempt with a name that was taken has synchronized and closed the file already.
    if isSynchronized, !isOnDisk.withLock({ $0 }) { try synchronize() }
    try descriptor.close()
    let isNamed =
      switch conflict {
      case .replace: try self.directory.move(temporaryName, to: target, replacing: name)
      case .refuse: try self.directory.move(temporaryName, to: target, ifFree: name)
      }
    guard isNamed else { return false }
    isSettled.withLock { $0 = true }
    if isSynchronized { try target.synchronize() }
    return true
  }

  /// Gives the file a name in its directory, replacing a file or a link with that name.
  ///
  /// - Throws: `EISDIR` if a directory has the name.
  package func replace(_ name: FileName) throws(SystemError) {
    guard try commit(as: name) else { throw .isADirectory }
  }

  /// Removes the file, unless it was committed.
  package func discard() {
    let wasSettled = isSettled.withLock { isSettled in
      defer { isSettled = true }
      return isSettled
    }
    if !wasSettled { directory.remove(temporaryName) }
  }
}
