/// A pipe, a device, or standard input, read as it comes.
final class DescriptorSource: ByteSource {
  private var descriptor: Descriptor?

  /// Opens a FIFO or device; a FIFO waits for its writer.
  init(opening path: LocalPath) throws(SystemError) {
    descriptor = try Descriptor(reading: path, followsSymlinks: true, mayBlock: true)
  }

  /// Reads what an open descriptor gives, through a second one: the first stays its owner's.
  init(duplicating number: Int32) throws(SystemError) {
    descriptor = try Descriptor(duplicating: number)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard descriptor != nil else { return 0 }
    return try descriptor?.read(into: buffer) ?? 0
  }

  func close() {
    descriptor = nil
  }
}
