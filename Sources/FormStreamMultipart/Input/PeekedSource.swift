/// A source whose first bytes were read ahead. Reading returns them again, and then the rest.
///
/// It passes from the code that lays out the form to one reader, guarded by a `SingleUse`: two
/// threads never use it at the same time.
final class PeekedSource: ByteSource, @unchecked Sendable {
  private let source: any ByteSource
  private var head: ArraySlice<UInt8> = []
  private var isClosed = false

  init(_ source: any ByteSource) {
    self.source = source
  }

  /// A form that is laid out may never be read.
  deinit { close() }

  /// Reads the first bytes: at least `count`, unless the stream ends before, and at most `limit`.
  func peek(
    _ count: Int, upTo limit: Int, of part: String
  ) throws(MultipartError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
    defer { buffer.deallocate() }
    var seen = 0
    while seen < min(count, limit) {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[seen...])
      let more = try StreamReader.read(source, into: room, of: part, at: Int64(seen))
      if more == 0 { break }
      seen += more
    }
    head = Array(buffer[..<seen])[...]
    return Array(head)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard !head.isEmpty else { return try source.read(into: buffer) }
    let piece = head.prefix(buffer.count)
    buffer.copyBytes(from: piece)
    head = head.dropFirst(piece.count)
    return piece.count
  }

  func interrupt() { source.interrupt() }

  func close() {
    if !isClosed { source.close() }
    isClosed = true
  }
}
