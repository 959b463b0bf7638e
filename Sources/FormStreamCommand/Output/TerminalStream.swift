/// Makes text that arrives in pieces safe for a terminal: control characters are spelled out, except line feeds and
/// tabs.
struct TerminalStream {
  /// The first bytes of a character whose other bytes have not arrived.
  private var held: [UInt8] = []

  mutating func visible(_ bytes: UnsafeRawBufferPointer) -> String {
    let all = held + bytes
    let end = Self.endOfCompleteCharacters(all)
    held = Array(all[end...])
    return Self.visible(all[..<end])
  }

  /// The text of an incomplete character that is left after the last piece.
  mutating func rest() -> String {
    defer { held = [] }
    return Self.visible(held[...])
  }

  private static func visible(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      line.split(separator: 0x09, omittingEmptySubsequences: false).map {
        FormStreamCommand.visible(String(decoding: $0, as: UTF8.self))
      }
      .joined(separator: "\t")
    }
    .joined(separator: "\n")
  }

  /// The index at which an incomplete last character begins; the end index if there is none.
  private static func endOfCompleteCharacters(_ bytes: [UInt8]) -> Int {
    let tail = bytes.suffix(3)
    guard let lead = tail.lastIndex(where: { $0 >= 0xC0 }) else { return bytes.count }
    let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
    return lead + length > bytes.count ? lead : bytes.count
  }
}
