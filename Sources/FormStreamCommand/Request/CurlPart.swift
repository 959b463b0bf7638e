import FormStreamMultipart

/// A part of a form in curl's form language.
struct CurlPart {
  /// The values of `-F`.
  let words: [[UInt8]]

  /// - Parameters:
  ///   - type: the part's type as it is sent; nil if the part has no type, or if the type is not known.
  ///   - browserText: whether the form turns a lone CR or LF in text fields into CRLF.
  init(_ part: PartArguments, type: MediaType?, browserText: Bool) throws(Failure) {
    let word = try Self.word(part, type: type, browserText: browserText)
    guard case .parts = part.content else {
      words = [word]
      return
    }
    var inner: [[UInt8]] = []
    for child in part.children {
      inner += try CurlPart(
        child, type: child.type.flatMap(MediaType.init), browserText: browserText
      ).words
    }
    words =
      if part.children.contains(where: \.isListed) {
        [Array("\(part.name)=@".utf8) + inner.joined(separator: [UInt8(ascii: ",")])]
      } else {
        [word] + inner + [Array("=)".utf8)]
      }
  }

  private static func word(
    _ part: PartArguments, type: MediaType?, browserText: Bool
  ) throws(Failure) -> [UInt8] {
    func unsupported(_ reason: String) -> Failure {
      .usage("curl can't send part \"\(part.name)\": \(reason).")
    }
    if part.name.utf8.contains(where: \.isLineBreak) {
      throw unsupported("it writes line breaks in names differently from browsers")
    }
    if part.range != nil { throw unsupported("it has nothing like --range") }
    // Only a part inside another part can be without a name.
    var word = part.isListed ? [] : Array("\(part.name)=".utf8)
    switch part.content {
    case .parts:
      word.append(UInt8(ascii: "("))
      return word + options(of: part, type: part.type.flatMap(MediaType.init))
    case .value(let value):
      if browserText, value.bytes.contains(where: \.isLineBreak) {
        throw unsupported("it has nothing like --browser-text, and the value has a line break")
      }
      word += Self.quoted(value.bytes)
    case .file(let path):
      if !part.isListed { word.append(UInt8(ascii: "@")) }
      word += Self.quoted(path.bytes)
    case .contents(let path): word += [UInt8(ascii: "<")] + Self.quoted(path.bytes)
    }
    return word + options(of: part, type: type)
  }

  private static func options(of part: PartArguments, type: MediaType?) -> [UInt8] {
    var word: [UInt8] = []
    if let type { word += Array(";type=\(type)".utf8) }
    if let filename = part.filename {
      word += Array(";filename=".utf8) + Self.quoted(Array(filename.utf8))
    }
    for header in part.headers {
      word += Array(";headers=".utf8) + Self.quoted(Array(header.utf8))
    }
    for file in part.headerFiles {
      word += Array(";headers=@".utf8) + Self.quoted(file.bytes)
    }
    return word
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    var word = [UInt8(ascii: "\"")]
    for byte in bytes {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        word.append(UInt8(ascii: "\\"))
      }
      word.append(byte)
    }
    return word + [UInt8(ascii: "\"")]
  }
}

extension UInt8 {
  fileprivate var isLineBreak: Bool { self == 0x0D || self == 0x0A }
}
