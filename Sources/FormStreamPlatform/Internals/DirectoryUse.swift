import Glibc

/// A mark that shows other processes that this process stores files in a directory. The mark lasts until this object is
/// released or the process ends. Network file systems may not support it.
package final class DirectoryUse: Sendable {
  /// A temporary file that was not written to for this many seconds is no longer in use. The age is needed because
  /// programs that don't mark the directory, such as `post -o`, give no other sign that they use a file.
  private static let maximumAge = 3600

  private let number: CInt

  /// Marks the directory. If no other process uses it, first removes old files with temporary
  /// names, which killed processes have left.
  ///
  /// C: `open`, `flock`
  package init(of directory: DirectoryDescriptor) throws(SystemError) {
    number = try directory.openForReading()
    if flock(number, LOCK_EX | LOCK_NB) == 0 { removeLeftovers(in: directory) }
    // While another process removes leftovers, this waits.
    _ = try retryingInterrupts { flock(number, LOCK_SH) }
  }

  /// C: `flock(LOCK_UN)`, `close`
  deinit {
    // Closing alone may not end the lock: a program that another thread is just starting has the directory open, too.
    flock(number, LOCK_UN)
    close(number)
  }

  private func removeLeftovers(in directory: DirectoryDescriptor) {
    try? directory.forEachName { name in
      if name.isTemporary, directory.isOwnFile(name, olderThan: Self.maximumAge) {
        directory.remove(name)
      }
    }
  }
}

extension DirectoryDescriptor {
  /// Calls `body` with the name of each file, directory and link in the directory, in no order, and with `.` and `..`.
  ///
  /// C: `fdopendir`, `readdir`
  package func forEachName(_ body: (FileName) -> Void) throws(SystemError) {
    let readable = try openForReading()
    guard let stream = fdopendir(readable) else {
      let error = SystemError(number: errno)
      close(readable)
      throw error
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      // An entry is only as long as its name: a copy of the complete field would read past the end of the entry.
      guard let start = entry.pointer(to: \.d_name) else { continue }
      let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      body(FileName(bytes: Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))))
    }
  }
}
