/// Searches a preamble, which arrives in pieces, for a delimiter that is not at the start of a line.
struct DamagedDelimiter {
  /// Finds the two hyphens and the boundary.
  private let scanner: BoundaryScanner
  /// The end of the pieces so far: at most as many bytes as the scanner looks for.
  private var end: [UInt8] = []

  /// - Parameter text: the two hyphens and the boundary.
  init(_ text: [UInt8]) {
    scanner = BoundaryScanner(for: text)
  }

  /// Searches the next piece. Returns where a damaged delimiter begins, counted from the start of the piece, so that the
  /// number is negative if it begins in an earlier one; nil if there is none yet.
  mutating func start(in piece: UnsafeRawBufferPointer) -> Int? {
    let bytes = end + piece
    let before = end.count
    end = bytes.suffix(scanner.delimiter.count)
    return bytes.withUnsafeBytes { bytes in
      var searched = 0
      while case .delimiter(let index) = scanner.scan(
        UnsafeRawBufferPointer(rebasing: bytes[searched...]))
      {
        let start = searched + index
        let next = start + scanner.delimiter.count
        // If it stands at the end, the next piece decides.
        guard next < bytes.count else { return nil }
        if Self.canFollow(bytes[next]) { return start - before }
        searched = start + 1
      }
      return nil
    }
  }

  /// Whether a damaged delimiter stands at the end of the preamble, where a line break follows it.
  var isAtEnd: Bool { end == scanner.delimiter }

  /// The number of bytes in a damaged delimiter.
  var length: Int { scanner.delimiter.count }

  /// Whether a byte can follow a delimiter: a line break, white space, or the hyphens of the last one. Before any other,
  /// the text belongs to another boundary that begins in the same way.
  private static func canFollow(_ byte: UInt8) -> Bool {
    byte == 0x0D || byte == 0x0A || byte.isBlank || byte == UInt8(ascii: "-")
  }
}
