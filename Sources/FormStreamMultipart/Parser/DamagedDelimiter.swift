/// Searches a preamble, which arrives in pieces, for a delimiter that is not alone on its line.
struct DamagedDelimiter {
  /// Finds the two hyphens and the boundary.
  private let scanner: BoundaryScanner
  /// The last bytes of the pieces so far, at most as many as a last delimiter has: two hyphens, the boundary, two
  /// hyphens.
  private var end: [UInt8] = []

  private static let lastMark = Array("--".utf8)

  /// - Parameter text: the two hyphens and the boundary.
  init(_ text: [UInt8]) {
    scanner = BoundaryScanner(for: text)
  }

  /// Searches the next piece. Returns where a damaged delimiter begins, counted from the start of the piece, so that the
  /// number is negative if it begins in an earlier one; nil if there is none yet.
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
        // The next piece decides.
        if Self.lastMark.starts(with: tail) { return nil }
        if Self.endsDelimiter(tail) { return start - before }
        searched = start + 1
      }
      return nil
    }
  }

  /// The number of bytes of a damaged delimiter at the end of the preamble, where a line break follows; nil if there is
  /// none.
  var sizeAtEnd: Int? {
    [scanner.delimiter, scanner.delimiter + Self.lastMark]
      .first { end.suffix($0.count).elementsEqual($0) }?.count
  }

  /// Whether these bytes after the boundary complete a delimiter: a line break or white space, and in a last delimiter
  /// two hyphens before that. If other bytes follow the boundary, the text belongs to another boundary that begins in
  /// the same way.
  private static func endsDelimiter(_ tail: ArraySlice<UInt8>) -> Bool {
    let rest = tail.starts(with: lastMark) ? tail.dropFirst(lastMark.count) : tail
    guard let byte = rest.first else { return false }
    return byte == 0x0D || byte == 0x0A || byte.isBlank
  }
}
