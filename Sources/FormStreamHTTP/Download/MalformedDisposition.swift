import FormStreamMultipart
import FormStreamPlatform

/// The file name in a `Content-Disposition` that is not valid: it has no type, an unquoted name with slashes or blanks, or an
/// odd parameter. Browsers and curl find the name in it.
struct MalformedDisposition {
  /// Nil if there is no name, or more than one.
  let filename: String?

  init(_ value: [UInt8]) {
    var (plain, extended): ([String?], [String?]) = ([], [])
    for piece in Self.pieces(value) {
      let halves = piece.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2 else { continue }
      let content = Array(halves[1].trimmingBlanks())
      switch String(decoding: halves[0].trimmingBlanks(), as: UTF8.self).lowercased() {
      case "filename": plain.append(Self.text(content))
      case "filename*":
        let valid = Array("a; filename*=".utf8) + content
        extended.append(ContentDisposition(parsing: valid)?.filename)
      default: continue
      }
    }
    guard plain.count <= 1, extended.count <= 1 else {
      filename = nil
      return
    }
    filename = (extended.first ?? nil) ?? (plain.first ?? nil)
  }

  /// The pieces between semicolons that are not in quotes. There are none if a quote is not closed.
  private static func pieces(_ value: [UInt8]) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var (start, isQuoted, isEscaped) = (0, false, false)
    for (index, byte) in value.enumerated() {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ";") where !isQuoted:
        pieces.append(value[start..<index])
        start = index + 1
      default: break
      }
    }
    return isQuoted ? [] : pieces + [value[start...]]
  }

  /// The text in the quotes, or the complete text if there are no quotes. Nil if the text is empty.
  private static func text(_ content: [UInt8]) -> String? {
    guard content.first == UInt8(ascii: "\"") else {
      return content.isEmpty ? nil : String(decoding: content, as: UTF8.self)
    }
    let quoted = content.lastIndex(of: UInt8(ascii: "\"")).map { content[...$0] } ?? []
    return ContentDisposition(parsing: Array("a; filename=".utf8) + quoted)?.filename
  }
}
