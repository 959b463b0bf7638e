import FormStreamPlatform

/// Searches skipped text, which arrives in pieces, for the headers of a part.
struct SkippedPart {
  /// The text to find. The first byte occurs only once in the text. So after a mismatch, a new match can begin only at
  /// the byte that did not match.
  private static let text = Array("content-disposition:".utf8)

  /// How many of the first bytes of `text` stand at the end of the pieces so far.
  private var matched = 0

  /// Searches the next piece. Returns the offset of the headers from the start of the piece; nil if none were found
  /// yet. The offset is negative if the headers begin in an earlier piece.
  mutating func start(in piece: some Collection<UInt8>) -> Int? {
    for (index, byte) in piece.enumerated() {
      let byte = byte.asciiLowercased
      matched = byte == Self.text[matched] ? matched + 1 : byte == Self.text[0] ? 1 : 0
      if matched == Self.text.count {
        matched = 0
        return index + 1 - Self.text.count
      }
    }
    return nil
  }
}
