/// Divides the header block of a part into fields.
enum HeaderBlockReader {
  /// Why a block can't be read.
  struct Flaw: Error {
    /// The offset in the block.
    let offset: Int
    let what: String
    /// Whether the block is valid, but exceeds a limit.
    var isOverLimit = false
  }

  /// - Parameters:
  ///   - block: the lines, including the empty one at the end; each ends with CRLF or LF.
  ///   - limit: the maximum number of fields.
  static func fields(in block: [UInt8], limit: Int) throws(Flaw) -> [PartHead.Field] {
    var fields: [PartHead.Field] = []
    var start = 0
    while let end = block[start...].firstIndex(of: 0x0A) {
      var line = block[start..<end]
      if line.last == 0x0D { line.removeLast() }
      if let index = line.firstIndex(where: { $0 == 0x00 || $0 == 0x0D }) {
        throw Flaw(
          offset: index,
          what: line[index] == 0 ? "a header contains a NUL" : "a header contains a CR")
      }
      start = end + 1
      guard let first = line.first else { break }
      if first.isBlank {
        // RFC 822 §3.1.1: a line that begins with white space continues the line before.
        guard !fields.isEmpty else {
          throw Flaw(offset: line.startIndex, what: "the first header begins with white space")
        }
        let more = line.trimmingBlanks()
        let hasText = !fields[fields.count - 1].bytes.isEmpty
        if hasText && !more.isEmpty { fields[fields.count - 1].bytes.append(0x20) }
        fields[fields.count - 1].bytes += more
        continue
      }
      guard fields.count < limit else {
        throw Flaw(
          offset: line.startIndex, what: "A part has more than \(limit.counting("header"))",
          isOverLimit: true)
      }
      fields.append(try field(line))
    }
    return fields
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(Flaw) -> PartHead.Field {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw Flaw(offset: line.startIndex, what: "a header has no colon")
    }
    let name = line[..<colon]
    guard HTTPSyntax.isToken(name) else {
      throw Flaw(offset: line.startIndex, what: "the name of a header is not a token")
    }
    return PartHead.Field(
      name: String(decoding: name, as: UTF8.self),
      bytes: Array(line[(colon + 1)...].trimmingBlanks()))
  }
}
