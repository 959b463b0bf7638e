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

  /// Closes the source, because a form that is laid out may never be read.
  deinit { close() }

  /// Reads the first bytes: at least `count`, unless the stream ends earlier, and at most `limit`.
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

  /// Reads all bytes, if there are at most `limit`; nil if there are more.
  ///
  /// - Parameter noteRead: is called after each read, with the number of bytes that were read.
  func readAhead(
    upTo limit: Int, of part: String, _ noteRead: (Int) -> Void
  ) throws(MultipartError) -> [UInt8]? {
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { piece.deallocate() }
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      // Reads up to one byte over the limit: only this byte, or the end of the stream, shows
      // whether the limit suffices.
      let wanted = min(limit - bytes.count, piece.count - 1) + 1
      let count = try StreamReader.read(
        source, into: UnsafeMutableRawBufferPointer(rebasing: piece[..<wanted]), of: part,
        at: Int64(bytes.count))
      if count == 0 { return bytes }
      bytes.append(contentsOf: piece[..<count])
      noteRead(count)
    }
    head = bytes[...]
    return nil
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
