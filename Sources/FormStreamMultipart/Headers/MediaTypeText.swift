/// A parser for media types. It reads the text once, from left to right.
struct MediaTypeText {
  private var rest: ArraySlice<UInt8>

  /// RFC 9110 §8.3.1: media-type = type "/" subtype parameters; §5.6.6: parameters = *( OWS ";" OWS
  /// [ parameter ] ); parameter = parameter-name "=" ( token / quoted-string ).
  static func parameters(of text: [UInt8]) -> [(name: String, value: String)]? {
    var reader = MediaTypeText(rest: text[...])
    guard let type = reader.takeToken(), type.count <= 127, reader.take("/"),
      let subtype = reader.takeToken(), subtype.count <= 127
    else { return nil }

    var parameters: [(name: String, value: String)] = []
    while !reader.rest.isEmpty {
      reader.rest.removeLeadingBlanks()
      guard reader.take(";") else { return nil }
      reader.rest.removeLeadingBlanks()
      if reader.rest.isEmpty || reader.rest.first == UInt8(ascii: ";") { continue }
      guard let name = reader.takeToken(), reader.take("="), let value = reader.takeValue() else {
        return nil
      }
      parameters.append((Self.string(name).lowercased(), Self.string(value)))
    }
    let isPadded = text.last?.isBlank ?? false
    return isPadded ? nil : parameters
  }

  private static func string(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  private mutating func takeToken() -> [UInt8]? {
    let token = rest.prefix(while: HTTPSyntax.isTokenByte)
    rest = rest.dropFirst(token.count)
    return token.isEmpty ? nil : Array(token)
  }

  private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
    guard let first = rest.first, first == UInt8(ascii: wanted) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// A value that begins with a quote must be a quoted string: after a failure, its text is not
  /// read again as a token.
  private mutating func takeValue() -> [UInt8]? {
    rest.first == UInt8(ascii: "\"") ? takeQuotedString() : takeToken()
  }

  /// RFC 9110 §5.6.4: quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE.
  private mutating func takeQuotedString() -> [UInt8]? {
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while var byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return value }
      if byte == UInt8(ascii: "\\") {
        guard let pair = rest.popFirst() else { return nil }
        byte = pair
      }
      guard HTTPSyntax.isFieldValueByte(byte) else { return nil }
      value.append(byte)
    }
    return nil
  }
}
