/// A media type such as `image/png` or `text/plain; charset=utf-8`, kept as it was written.
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
  /// The whole text, byte for byte what goes on the wire.
  public let description: String

  /// The longest text that is taken for a media type. RFC 6838 §4.2 allows 127 characters for each of
  /// the two names; the rest is room for parameters.
  public static let maximumLength = 1024

  /// Takes a text that has the form of a media type (RFC 9110 §8.3.1), or nothing.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.maximumLength, Self.isWellFormed(Array(text.utf8)) else {
      return nil
    }
    description = text
  }

  init(unchecked text: String) {
    description = text
  }

  /// `type/subtype` in lower case, without parameters.
  public var essence: String {
    let end = description.firstIndex(of: ";") ?? description.endIndex
    let text = description[..<end].lowercased()
    return String(text.prefix { $0 != " " && $0 != "\t" })
  }

  /// What is said of bytes of which nothing is known (RFC 2046 §4.5.1).
  public static let octetStream = MediaType(unchecked: "application/octet-stream")
  /// The type of a nested form.
  public static let multipartMixed = MediaType(unchecked: "multipart/mixed")
}

extension MediaType {
  /// RFC 9110 §8.3.1: media-type = type "/" subtype parameters; §5.6.6: parameters = *( OWS ";" OWS
  /// [ parameter ] ); parameter = parameter-name "=" ( token / quoted-string ).
  private static func isWellFormed(_ text: [UInt8]) -> Bool {
    var rest = text[...]

    func takeToken(longest: Int = .max) -> Bool {
      let token = rest.prefix { HeaderGate.isTokenByte($0) }
      rest = rest.dropFirst(token.count)
      return !token.isEmpty && token.count <= longest
    }
    func take(_ wanted: Unicode.Scalar) -> Bool {
      guard let first = rest.first, first == UInt8(ascii: wanted) else { return false }
      rest = rest.dropFirst()
      return true
    }
    func takeQuotedString() -> Bool {
      guard take("\"") else { return false }
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\""): return true
        case UInt8(ascii: "\\"):
          guard let pair = rest.popFirst(), HeaderGate.isFieldValue([pair]) else { return false }
        default:
          guard HeaderGate.isFieldValue([byte]) else { return false }
        }
      }
      return false
    }

    guard takeToken(longest: 127), take("/"), takeToken(longest: 127) else { return false }
    while true {
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
      if rest.isEmpty { return text.last != 0x20 && text.last != 0x09 }
      guard take(";") else { return false }
      rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
      if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
      guard takeToken(), take("="), takeQuotedString() || takeToken() else { return false }
    }
  }
}
