/// A source whose first bytes have been looked at, and come again when it is read.
///
/// It goes once from who looked to who reads, by a singleUse: never are there two at a time.
final class PeekedSource: ByteSource, @unchecked Sendable {
  private let source: any ByteSource
  private var head: ArraySlice<UInt8> = []
  private var isClosed = false

  init(_ source: any ByteSource) {
    self.source = source
  }

  /// A form that is laid out and never read lets it go.
  deinit { close() }

  /// Looks at the first bytes, of which there are to be so many, but for the stream's end.
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

  func close() {
    if !isClosed { source.close() }
    isClosed = true
  }
}
