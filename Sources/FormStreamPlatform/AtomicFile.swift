/// A file that appears under its name only when it is complete.
///
/// Until ``commit(as:in:ifTaken:isSynchronized:)`` succeeds, the file has no name. On file systems without nameless
/// files, such as network file systems, it has a temporary name. If this object is released before the commit, the file
/// is removed. A file without a name is removed even if the process is killed. One thread writes and commits; any
/// thread may call ``discard()``.
package final class AtomicFile: Sendable {
  /// What ``commit(as:in:ifTaken:isSynchronized:)`` does if the name is taken.
  package enum NameConflict: Sendable {
    /// Replaces a file or a link. A directory keeps the name.
    case replace
    /// Changes nothing.
    case refuse
  }

  private enum State {
    case unnamed
    case temporarilyNamed
    /// The file was committed or discarded: the temporary name is no longer ours.
    case settled
  }

  private struct Contents {
    var size: Int64 = 0
    /// The number of bytes for which room is reserved.
    var reserved: Int64 = 0
    /// Whether everything written so far is on the disk.
    var isOnDisk = false
  }

  /// The name that the file may have until it is committed.
  package let temporaryName: FileName
  private let directory: DirectoryDescriptor
  private let descriptor: WritableDescriptor
  private let state: Guarded<State>
  /// Whether a file was taken over that had a name before. It keeps that name if it is not committed.
  package let keepsName: Bool
  private let contents = Guarded(Contents())

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - temporaryName: for callers that must know the name beforehand. Use
  ///     ``FileName/temporary()``.
  ///   - permissions: the mode of the file; the umask applies.
  ///   - isNamed: whether the file has the temporary name from the beginning.
  package init(
    in directory: DirectoryDescriptor, temporaryName: FileName = .temporary(),
    permissions: UInt32 = 0o666, isNamed: Bool = false
  ) throws(SystemError) {
    self.directory = directory
    self.temporaryName = temporaryName
    keepsName = false
    if !isNamed,
      let file = try directory.makeUnnamedFile(permissions: permissions, testName: temporaryName)
    {
      descriptor = file
      state = Guarded(.unnamed)
    } else {
      descriptor = try directory.makeFile(temporaryName, permissions: permissions)
      state = Guarded(.temporarilyNamed)
    }
  }

  /// Takes over a file that has a name, such as a ``PartialFile``. If it is released or discarded before the commit, the file
  /// keeps that name: its owner decides what becomes of it.
  ///
  /// - Parameters:
  ///   - descriptor: the file, open for writing at its end.
  ///   - size: the number of bytes in the file.
  init(
    _ descriptor: WritableDescriptor, named name: FileName, in directory: DirectoryDescriptor,
    size: Int64
  ) {
    (self.descriptor, self.directory, temporaryName) = (descriptor, directory, name)
    state = Guarded(.temporarilyNamed)
    keepsName = true
    contents.withLock { contents in
      contents.size = size
      contents.reserved = size
    }
  }

  deinit { discard() }

  /// Creates the file in the directory of a path. Commit it as the last component of that path.
  ///
  /// - Throws: `ENOENT` if the path is empty or contains a NUL, `EISDIR` if it ends in a slash, and
  ///   the errors of opening the directory and of creating the file.
  package convenience init(
    for path: some PathBytes, permissions: UInt32 = 0o666
  ) throws(SystemError) {
    guard path.isUsable, !path.bytes.isEmpty else { throw .notFound }
    guard !path.name.bytes.isEmpty else { throw .isADirectory }
    try self.init(in: try DirectoryDescriptor(path.directory), permissions: permissions)
  }

  /// Appends the bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try descriptor.write(bytes)
    contents.withLock { contents in
      contents.size += Int64(bytes.count)
      contents.isOnDisk = false
    }
  }

  /// Reserves room on the disk for a file of `size` bytes, if the file system can. The file may stay smaller.
  ///
  /// - Throws: `ENOSPC` and the like if there is not that much room.
  package func reserve(_ size: Int64) throws(SystemError) {
    guard try descriptor.reserve(size) else { return }
    contents.withLock { $0.reserved = size }
  }

  private func releaseRoom() throws(SystemError) {
    let (size, reserved) = contents.withLock { ($0.size, $0.reserved) }
    guard size < reserved else { return }
    try descriptor.releaseRoom(after: size)
    contents.withLock { $0.reserved = size }
  }

  /// Sets the mode of the file. The umask does not apply.
  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try descriptor.setPermissions(permissions)
  }

  /// Gives this file the mode of the file that it will replace. Does nothing if there is no such file. Works after
  /// ``close()`` too.
  ///
  /// - Parameter target: the directory of the name; nil means the directory that the file was created in.
  package func setPermissions(
    replacing name: some PathBytes, in target: DirectoryDescriptor? = nil
  ) throws(SystemError) {
    guard let permissions = (target ?? directory).permissions(of: name) else { return }
    if state.withLock({ $0 == .temporarilyNamed }) {
      try directory.setPermissions(permissions, of: temporaryName)
    } else {
      try setPermissions(permissions)
    }
  }

  /// Writes the contents to the disk, if they are not there yet.
  package func synchronize() throws(SystemError) {
    guard !contents.withLock(\.isOnDisk) else { return }
    try releaseRoom()
    try descriptor.synchronize()
    contents.withLock { $0.isOnDisk = true }
  }

  /// Ends writing, and releases the descriptor. A file that had no name gets its temporary name.
  package func close() throws(SystemError) {
    try releaseRoom()
    try state.withLock { state throws(SystemError) in
      if state == .unnamed { try giveTemporaryName(&state) }
    }
    try descriptor.close()
  }

  /// Throws the errors that a file system reports only when a file is closed, and the errors that would prevent the
  /// file from getting a name. Returns the file's identity.
  package func check() throws(SystemError) -> FileKey {
    try releaseRoom()
    if state.withLock({ $0 == .unnamed }) {
      try descriptor.flush()
      return try descriptor.identity()
    }
    try endWriting()
    guard let identity = try directory.identity(of: temporaryName) else { throw .notFound }
    return identity
  }

  /// Gives the file its name. Returns false if the name is taken and can't be replaced. The caller may then try another
  /// name.
  ///
  /// If synchronizing the directory fails, this throws although the file has its name.
  ///
  /// - Parameters:
  ///   - directory: the directory of the name; nil means the directory that the file was created in.
  ///   - isSynchronized: whether contents and name must be on the disk when this returns.
  package func commit(
    as name: some PathBytes, in directory: DirectoryDescriptor? = nil,
    ifTaken conflict: NameConflict = .replace, isSynchronized: Bool = false
  ) throws(SystemError) -> Bool {
    // C would cut the name at a NUL, and the file would get another name.
    guard name.isUsable else { throw .notFound }
    let target = directory ?? self.directory
    // If an earlier attempt found its name taken, the next two calls do nothing. The file may be closed by then.
    if isSynchronized { try synchronize() }
    try releaseRoom()
    let isNamed = try state.withLock { state throws(SystemError) in
      let isNamed = try give(name, in: target, ifTaken: conflict, &state)
      if isNamed { state = .settled }
      return isNamed
    }
    guard isNamed else { return false }
    if isSynchronized { try target.synchronize() }
    return true
  }

  private func give(
    _ name: some PathBytes, in target: DirectoryDescriptor, ifTaken conflict: NameConflict,
    _ state: inout State
  ) throws(SystemError) -> Bool {
    if state == .unnamed {
      try descriptor.flush()
      // A file without a name can only be given a free name.
      if conflict == .refuse {
        guard try descriptor.link(as: name, in: target) else { return false }
        // `flush` has already thrown any error that closing would report.
        try? descriptor.close()
        return true
      }
      try giveTemporaryName(&state)
    }
    guard state == .temporarilyNamed else { throw .notFound }
    try endWriting()
    return switch conflict {
    case .replace: try directory.move(temporaryName, to: target, replacing: name)
    case .refuse: try directory.move(temporaryName, to: target, ifFree: name)
    }
  }

  /// Closes the file. A file that was taken over stays open, because its owner has locked it: if it were closed before it has its
  /// name, another process would take it for a file that was left.
  private func endWriting() throws(SystemError) {
    if keepsName { try descriptor.flush() } else { try descriptor.close() }
  }

  private func giveTemporaryName(_ state: inout State) throws(SystemError) {
    guard try descriptor.link(as: temporaryName, in: directory) else { throw .alreadyExists }
    state = .temporarilyNamed
  }

  /// Gives the file a name in its directory, replacing a file or a link with that name.
  ///
  /// - Throws: `EISDIR` if a directory has the name.
  package func replace(_ name: FileName) throws(SystemError) {
    guard try commit(as: name) else { throw .isADirectory }
  }

  /// Undoes the commit of a file that was taken over: the file gets its earlier name back. Returns false, and does nothing, if the
  /// file has had no other name, if that name is taken, or if another file has the name of the commit by now.
  ///
  /// - Parameters:
  ///   - name: the name of the commit.
  ///   - identity: the file's identity.
  package func takeBack(
    from name: some PathBytes, in target: DirectoryDescriptor, ifStill identity: FileKey
  ) -> Bool {
    guard keepsName, (try? target.identity(of: name)) == identity,
      (try? target.move(name, to: directory, ifFree: temporaryName)) == true
    else { return false }
    guard (try? directory.identity(of: temporaryName)) == identity else {
      // Another process has just replaced the file. Its file gets its name back.
      _ = try? directory.move(temporaryName, to: target, ifFree: name)
      return false
    }
    state.withLock { $0 = .temporarilyNamed }
    return true
  }

  /// Removes the file, unless it was committed or keeps an earlier name. A file without a name takes room until this object is released.
  package func discard() {
    let before = state.withLock { state in
      defer { state = .settled }
      return state
    }
    if before == .temporarilyNamed, !keepsName { directory.remove(temporaryName) }
  }
}
