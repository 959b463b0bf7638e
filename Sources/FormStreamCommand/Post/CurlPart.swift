import FormStreamPlatform

/// A part of a form in curl's own language.
struct CurlPart {
  let word: [UInt8]

  /// - Parameters:
  ///   - type: as it goes out; nil where the part bears none.
  ///   - makesLineBreaks: whether text is sent as browsers send it.
  init(_ part: TypedPart, type: String?, makesLineBreaks: Bool) throws(Failure) {
    func no(_ what: String) -> Failure {
      .usage("curl can't send part \"\(part.name)\": \(what).")
    }
    if part.name.utf8.contains(where: { $0 == 13 || $0 == 10 }) {
      throw no("it writes line breaks in names otherwise than browsers")
    }
    if part.name.isEmpty { throw no("its form language has no parts without a name") }
    if part.range != nil { throw no("it has nothing like --range") }
    var word = Array("\(part.name)=".utf8)
    switch part.content {
    case .value(let value):
      if makesLineBreaks, value.bytes.contains(where: { $0 == 13 || $0 == 10 }) {
        throw no("it has nothing like --browser-text, and the value has a line break")
      }
      word += Self.quoted(value.bytes)
    case .file(let path): word += [UInt8(ascii: "@")] + Self.quoted(path.bytes)
    case .contents(let path): word += [UInt8(ascii: "<")] + Self.quoted(path.bytes)
    }
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
    self.word = word
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
