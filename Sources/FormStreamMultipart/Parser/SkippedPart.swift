import FormStreamPlatform

/// Searches skipped text, which arrives in pieces, for the headers of a part.
struct SkippedPart {
  /// The text to find. Its first byte occurs only once in it. So after a mismatch, a new match can begin only with
  /// that byte.
  private static let text = Array("content-disposition:".utf8)

  /// How many bytes of `text` the pieces so far end with.
  private var matched = 0

  /// Searches the next piece. Returns where the headers begin, counted from the start of the piece, so that the number is
  /// negative if they begin in an earlier one; nil if there are none yet.
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
