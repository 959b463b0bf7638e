/// Reads a pipe, a device or standard input.
package final class DescriptorSource: ByteSource {
  private var descriptor: Descriptor?

  /// Opens a FIFO or device. Opening a FIFO waits for its writer.
  package init(opening path: LocalPath) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: true, mayBlock: true)
  }

  /// Reads from an open descriptor through a duplicate, so that the owner may close the original.
  package init(duplicating number: Int32) throws(SystemError) {
    descriptor = try Descriptor(duplicating: number)
  }

  /// The status of what is read; nil after its end.
  package func status() throws(SystemError) -> FileStatus? {
    let number = descriptor?.withNumber { $0 }
    guard let number else { return nil }
    return try FileStatus(ofDescriptor: number)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard descriptor != nil else { return 0 }
    let count = try descriptor?.read(into: buffer) ?? 0
    // A terminal reports Ctrl-D as the end only once: the next read would wait for the keyboard again.
    if count == 0, buffer.count > 0 { close() }
    return count
  }

  package func close() {
    descriptor = nil
  }
}
