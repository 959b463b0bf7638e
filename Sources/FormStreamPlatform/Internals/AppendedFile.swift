import Glibc

/// A new file that only this process writes to, at its end: a journal. It is closed when it is released.
///
/// What one call appends is one `write`: if the process ends in between, the file ends with a part of the line at most.
package final class AppendedFile: Sendable {
  private let descriptor: WritableDescriptor

  /// Creates a file that only its owner can read. Throws if the name is taken, even by a dangling link.
  ///
  /// C: `openat(O_EXCL|O_APPEND)`
  package init(_ name: FileName, in directory: DirectoryDescriptor) throws(SystemError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC
    descriptor = WritableDescriptor(
      try retryingInterrupts { name.withCString { openat(directory.number, $0, flags, 0o600) } })
  }

  private init(_ descriptor: WritableDescriptor) {
    self.descriptor = descriptor
  }

  /// Opens a file of lines that an earlier process began, and cuts off a last line that is torn. Returns the size that is
  /// left.
  ///
  /// C: `openat(O_APPEND)`, `fstat`, `pread`, `ftruncate`
  package static func continuing(
    _ name: FileName, in directory: DirectoryDescriptor
  ) throws(SystemError) -> (AppendedFile, size: Int64) {
    let flags = O_RDWR | O_NOFOLLOW | O_APPEND | O_CLOEXEC
    let number = try retryingInterrupts { name.withCString { openat(directory.number, $0, flags) } }
    let file = AppendedFile(WritableDescriptor(number))
    var status = stat()
    _ = try retryingInterrupts { fstat(number, &status) }
    var end = status.st_size
    var piece = [UInt8](repeating: 0, count: 4096)
    while end > 0 {
      let start = max(0, end - piece.count)
      let count = try retryingInterrupts { pread(number, &piece, end - start, start) }
      if let feed = piece[..<count].lastIndex(of: UInt8(ascii: "\n")) {
        end = start + feed + 1
        break
      }
      end = start
    }
    if end < status.st_size { _ = try retryingInterrupts { ftruncate(number, end) } }
    return (file, Int64(end))
  }

  /// C: `write`
  package func append(_ bytes: [UInt8]) throws(SystemError) {
    // The closure throws nothing: a typed error there crashes the compiler.
    var failure: SystemError?
    bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { try descriptor.write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// C: `fsync`
  package func synchronize() throws(SystemError) { try descriptor.synchronize() }

  /// C: `close`
  package func close() throws(SystemError) { try descriptor.close() }
}

extension DirectoryDescriptor {
  /// The names in the directory, in no order, without `.` and `..`.
  ///
  /// C: `fdopendir`, `readdir`
  package func names() throws(SystemError) -> [FileName] {
    let number = try openForReading()
    guard let stream = fdopendir(number) else {
      let error = SystemError(number: errno)
      Glibc.close(number)
      throw error
    }
    defer { closedir(stream) }
    var names: [FileName] = []
    while let entry = readdir(stream) {
      // An entry is only as long as its name: a copy of the complete field would read after its end.
      guard let start = entry.pointer(to: \.d_name) else { continue }
      let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
      let bytes = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      if bytes != [0x2E], bytes != [0x2E, 0x2E] { names.append(FileName(bytes: bytes)) }
    }
    return names
  }
}
