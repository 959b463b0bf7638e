package import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// What a server says about a file that it did not accept: the beginning of its response, in one line.
package struct ServerWords {
  /// The most characters that are shown.
  private static let limit = 200

  /// The words, in which characters that hide or reverse text are spelled out.
  package let text: String

  /// Nil if the response says nothing, or is no text.
  ///
  /// - Parameter response: a response with its body, or the beginning of its body.
  package init?(_ response: TransferResponse) {
    self.init(
      response.headers.decodedBeginning(of: response.body), ofType: response.headers["Content-Type"],
      isCut: response.isTruncated || response.headers.contains("Content-Encoding"))
  }

  /// - Parameters:
  ///   - body: the response's body, or its beginning, without a coding.
  ///   - type: the value of `Content-Type`; nil if there is none.
  ///   - isCut: whether the body may end inside a character.
  fileprivate init?(_ body: [UInt8], ofType type: String?, isCut: Bool) {
    guard let all = Self.text(body, ofType: type, isCut: isCut) else { return nil }
    var words = Self.line(all)
    // A long record, such as the receiver's, says at its end what was wrong.
    if words.count > Self.limit, let json = try? JSONValue(parsing: body), let message = Self.message(in: json) {
      words = Self.line(message)
    }
    guard !words.isEmpty else { return nil }
    let start = words.prefix(Self.limit)
    text = String(String.UnicodeScalarView(start)).displayed + (start.count < words.count ? "…" : "")
  }

  /// A message with the words after it.
  package static func adding(_ words: ServerWords?, to message: String) -> String {
    words.map { "\(message) The server says: \($0.text)" } ?? message
  }

  /// The text of a body; nil if its type or its bytes are not those of a text.
  private static func text(_ body: [UInt8], ofType type: String?, isCut: Bool) -> String? {
    let essence = type?.prefix { $0 != ";" }.lowercased().trimmingBlanks() ?? ""
    let textual = ["json", "xml", "javascript", "x-www-form-urlencoded", "yaml"]
    let isNamedText = essence.hasPrefix("text/") || textual.contains { essence.hasSuffix($0) }
    guard essence.isEmpty || isNamedText else { return nil }
    // Colors and the like are spelled out. No text has other control characters than these: BEL, backspace, white space and ESC.
    guard body.allSatisfy({ $0 >= 0x20 || (0x07...0x0D).contains($0) || $0 == 0x1B }) else { return nil }
    // The last byte of a text in Latin-1 may look like the beginning of a character in UTF-8.
    let charset = type?.lowercased() ?? ""
    let isNamedLatin = ["iso-8859-1", "latin1", "windows-1252"].contains { charset.contains($0) }
    if isNamedText, isNamedLatin { return latin(body) }
    // If the body was cut off inside a character, up to three bytes of it are there.
    for cut in 0...(isCut ? min(3, body.count) : 0) {
      if let text = String(validating: body.dropLast(cut), as: UTF8.self) { return text }
    }
    // Texts that are not UTF-8 are mostly Latin-1. Without a type, only what is mostly ASCII is one: other bytes may be anything.
    return isNamedText || body.count(where: { $0 < 0x80 }) * 2 >= body.count ? latin(body) : nil
  }

  /// The characters of the bytes from 0x80 to 0x9F. Encoding Standard §4.2: "latin1" and "iso-8859-1" are labels of windows-1252.
  private static let windows1252: [Unicode.Scalar] = [
    "€", "\u{81}", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u{8D}", "Ž", "\u{8F}", "\u{90}", "‘", "’", "“", "”",
    "•", "–",
    "—", "˜", "™", "š", "›", "œ", "\u{9D}", "ž", "Ÿ",
  ]

  /// The text of bytes in Latin-1, whose other bytes are the numbers of their characters.
  private static func latin(_ body: [UInt8]) -> String {
    let scalars = body.map { (0x80...0x9F).contains($0) ? windows1252[Int($0) - 0x80] : Unicode.Scalar($0) }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The text without line breaks, tabs and repeated blanks. A character on the screen may consist of any number of scalars, so
  /// scalars are counted.
  private static func line(_ text: String) -> [Unicode.Scalar] {
    Array(text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.joined(separator: [" "]))
  }

  /// RFC 9457 §3.1.4: "The "detail" member is a JSON string containing a human-readable explanation specific to this occurrence of
  /// the problem." Others say `message` or `error`, which may be an object with such a text.
  private static func message(in json: JSONValue) -> String? {
    for key in ["detail", "message", "error", "title"] {
      guard let value = json[key] else { continue }
      if let text = value.text, !text.isEmpty { return text }
      if value["message"] != nil || value["detail"] != nil { return message(in: value) }
    }
    return nil
  }
}

extension FileResult {
  /// What the server says about the file; nil if it says nothing, or did not refuse the file.
  private var serverWords: ServerWords? {
    guard let response, let status, !(200...299).contains(status) else { return nil }
    return ServerWords(response.body, ofType: response.type, isCut: response.isTruncated)
  }

  /// Why the file was not accepted, with the server's own words; nil if it was accepted.
  package var explanation: String? {
    error.map { ServerWords.adding(serverWords, to: $0.description) }
  }
}

extension ServerWords {
  /// What the server says in the record of a file; nil if it says nothing, or did not refuse the file.
  init?(inRecord record: JSONValue) {
    guard let status = record["status"]?.integer, !(200...299).contains(status), let response = record["response"],
      let body = response["body"]?.text.map({ Array($0.utf8) }) ?? response["body_b64"]?.text.flatMap({ base64Decoded($0) })
    else { return nil }
    // The record of a file has no headers, and its body is decoded already.
    self.init(body, ofType: nil, isCut: response["truncated"] == .boolean(true))
  }
}
