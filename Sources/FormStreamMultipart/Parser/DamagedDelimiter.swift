/// Searches a preamble, which arrives in pieces, for a delimiter that is not alone on its line.
struct DamagedDelimiter {
  /// Finds the two hyphens and the boundary.
  private let scanner: BoundaryScanner
  /// The last bytes of the pieces so far. They are at most as long as a last delimiter: two hyphens, the boundary, two
  /// hyphens.
  private var end: [UInt8] = []

  private static let lastMark = Array("--".utf8)

  /// - Parameter text: the two hyphens and the boundary.
  init(_ text: [UInt8]) {
    scanner = BoundaryScanner(for: text)
  }

  /// Searches the next piece. Returns the offset of a damaged delimiter from the start of the piece; nil if none was
  /// found yet. The offset is negative if the delimiter begins in an earlier piece.
  mutating func start(in piece: UnsafeRawBufferPointer) -> Int? {
    let bytes = end + piece
    let before = end.count
    end = bytes.suffix(scanner.delimiter.count + Self.lastMark.count)
    return bytes.withUnsafeBytes { memory in
      var searched = 0
      while case .delimiter(let index) = scanner.scan(
        UnsafeRawBufferPointer(rebasing: memory[searched...]))
      {
        let start = searched + index
        let tail = bytes[(start + scanner.delimiter.count)...]
        // The next piece shows whether this is a damaged delimiter.
        if Self.lastMark.starts(with: tail) { return nil }
        if Self.endsDelimiter(tail) { return start - before }
        searched = start + 1
      }
      return nil
    }
  }

  /// The number of bytes of a damaged delimiter at the end of the preamble; nil if there is none. A line break follows
  /// the preamble.
  var sizeAtEnd: Int? {
    [scanner.delimiter, scanner.delimiter + Self.lastMark]
      .first { end.suffix($0.count).elementsEqual($0) }?.count
  }

  /// Whether these bytes after the boundary complete a delimiter. They must begin with a line break or white space; in
  /// a last delimiter, two hyphens come first. Other bytes belong to another boundary that begins in the same way.
  private static func endsDelimiter(_ tail: ArraySlice<UInt8>) -> Bool {
    let rest = tail.starts(with: lastMark) ? tail.dropFirst(lastMark.count) : tail
    guard let byte = rest.first else { return false }
    return byte == 0x0D || byte == 0x0A || byte.isBlank
  }
}
