import Glibc

/// A lock on a file, by which a process shows to others that it works on what the file describes. It lasts until this object is
/// released, or the process ends.
package final class FileLock: Sendable {
  private let descriptor: WritableDescriptor

  private init(_ descriptor: WritableDescriptor) { self.descriptor = descriptor }

  /// Locks the file that has a name, even if files replace each other under it. On a file system without locks, such as some network
  /// file systems, several processes can have the lock.
  ///
  /// - Parameter waits: whether to wait while another process has the lock.
  /// - Returns: nil if another process has the lock.
  /// - Throws: `ENOENT` if no file has the name, and other errors of opening it.
  ///
  /// C: `openat(O_NOFOLLOW)`, `flock(LOCK_EX)`, `fstatat`
  package static func taken(
    on name: FileName, in directory: DirectoryDescriptor, waits: Bool
  ) throws(SystemError) -> FileLock? {
    // Some network file systems lock only what may be written.
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    while true {
      let descriptor = WritableDescriptor(
        try retryingInterrupts { name.withCString { openat(directory.number, $0, flags) } })
      guard try descriptor.lock(waits: waits) != .refused else { return nil }
      if try directory.identity(of: name) == descriptor.identity() { return FileLock(descriptor) }
    }
  }
}
