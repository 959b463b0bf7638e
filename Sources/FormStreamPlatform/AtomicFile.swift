/// A file that others see under its name only when it is complete.
///
/// Until ``commit(as:in:ifTaken:isSynchronized:)`` it has a private temporary name, and it is removed if it never
/// gets that far. One thread writes; ``discard()`` may be called from any.
package final class AtomicFile: Sendable {
  /// What happens if something has the wanted name already.
  package enum NameConflict: Sendable {
    /// A file or a link loses the name. A directory keeps it.
    case replace
    /// It keeps the name, and the new file gets none.
    case refuse
  }

  package let temporaryName: FileName
  private let directory: DirectoryDescriptor
  private let descriptor: WritableDescriptor
  /// Whether it has its name, or is removed.
  private let isSettled = Guarded(false)

  /// Makes the file under its temporary name.
  ///
  /// - Parameters:
  ///   - temporaryName: a ``FileName/temporary()`` one, for callers who must know it beforehand.
  ///   - permissions: what the file allows, less what the umask takes away.
  package init(
    in directory: DirectoryDescriptor, temporaryName: FileName = .temporary(),
    permissions: UInt32 = 0o666
  ) throws(SystemError) {
    self.directory = directory
    self.temporaryName = temporaryName
    descriptor = try directory.makeFile(temporaryName, permissions: permissions)
  }

  deinit { discard() }

  /// Makes a file that will get the last component of a path as its name.
  package convenience init(
    for path: some PathBytes, permissions: UInt32 = 0o666
  ) throws(SystemError) {
    guard path.isUsable, !path.bytes.isEmpty else { throw .notFound }
    guard !path.name.bytes.isEmpty else { throw .isADirectory }
    try self.init(in: try DirectoryDescriptor(path.directory), permissions: permissions)
  }

  /// Writes all the bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    try descriptor.write(bytes)
  }

  /// Sets what the file allows, whatever the umask.
  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try descriptor.setPermissions(permissions)
  }

  /// Has the contents written to the disk.
  package func synchronize() throws(SystemError) {
    try descriptor.synchronize()
  }

  /// Ends writing. The file still has only its temporary name.
  package func close() throws(SystemError) {
    try descriptor.close()
  }

  /// Gives the file its name; returns false if something keeps the name.
  ///
  /// - Parameters:
  ///   - directory: the directory that the name is in; the one that the file was made in if nil.
  ///   - isSynchronized: whether contents and name are on the disk when this returns.
  package func commit(
    as name: some PathBytes, in directory: DirectoryDescriptor? = nil,
    ifTaken conflict: NameConflict = .replace, isSynchronized: Bool = false
  ) throws(SystemError) -> Bool {
    let target = directory ?? self.directory
    if isSynchronized { try descriptor.synchronize() }
    try descriptor.close()
    let isNamed =
      switch conflict {
      case .replace: try self.directory.move(temporaryName, to: target, replacing: name)
      case .refuse: try self.directory.move(temporaryName, to: target, asFree: name)
      }
    guard isNamed else { return false }
    isSettled.withLock { $0 = true }
    if isSynchronized { try target.synchronize() }
    return true
  }

  /// Gives the file a name in its directory, and takes the name from the file or link that had it.
  package func replace(_ name: FileName) throws(SystemError) {
    guard try commit(as: name) else { throw .isADirectory }
  }

  /// Removes the file, unless it has its name.
  package func discard() {
    let wasSettled = isSettled.withLock { isSettled in
      defer { isSettled = true }
      return isSettled
    }
    if !wasSettled { directory.remove(temporaryName) }
  }
}
