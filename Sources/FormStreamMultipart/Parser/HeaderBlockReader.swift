/// Divides the header block of a part into headers.
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
  ///   - limit: the maximum number of headers.
  static func headers(in block: [UInt8], limit: Int) throws(Flaw) -> HTTPHeaders {
    var headers = HTTPHeaders()
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
        // RFC 822 §3.1.1: a line that begins with white space continues the previous line.
        guard !headers.isEmpty else {
          throw Flaw(offset: line.startIndex, what: "the first header begins with white space")
        }
        headers.continueLastLine(line)
        continue
      }
      guard headers.count < limit else {
        throw Flaw(
          offset: line.startIndex, what: "A part has more than \(limit.counting("header"))",
          isOverLimit: true)
      }
      headers.append(try field(line))
    }
    return headers
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(Flaw) -> HTTPHeaders.Field {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      throw Flaw(offset: line.startIndex, what: "a header has no colon")
    }
    let name = line[..<colon]
    guard HTTPSyntax.isToken(name) else {
      throw Flaw(offset: line.startIndex, what: "the name of a header is not a token")
    }
    return HTTPHeaders.Field(
      name: String(decoding: name, as: UTF8.self),
      bytes: Array(line[(colon + 1)...].trimmingBlanks()))
  }
}
