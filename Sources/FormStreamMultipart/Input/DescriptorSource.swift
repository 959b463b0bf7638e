/// Reads a pipe, a device or standard input.
package final class DescriptorSource: ByteSource {
  private var descriptor: Descriptor?

  /// Opens a FIFO or device. Opening a FIFO waits for its writer.
  package init(opening path: LocalPath) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: true, mayBlock: true)
  }

  /// Reads from an open descriptor through a duplicate, so that its owner may close it.
  package init(duplicating number: Int32) throws(SystemError) {
    descriptor = try Descriptor(duplicating: number)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard descriptor != nil else { return 0 }
    return try descriptor?.read(into: buffer) ?? 0
  }

  package func close() {
    descriptor = nil
  }
}
