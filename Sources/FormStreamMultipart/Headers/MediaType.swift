/// A media type, such as `image/png` or `text/plain; charset=utf-8`.
///
/// It is kept and sent as it was written, so two types that differ in case or spacing are not
/// equal; compare their ``essence``.
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
  /// The complete text, byte for byte as it is sent.
  public let description: String

  /// The maximum length of the text. RFC 6838 §4.2 allows 127 characters each for the type and the subtype; the rest is
  /// for parameters.
  public static let maximumLength = 1024

  /// Creates a media type from a text; nil if the text does not have the form of a media type (RFC 9110 §8.3.1).
  public init?(_ text: String) {
    self.init(unchecked: text)
    guard isWellFormed else { return nil }
  }

  init(unchecked text: String) {
    description = text
  }

  /// `type/subtype` in lower case, without parameters.
  public var essence: String {
    let text = description.utf8.prefix { $0 != UInt8(ascii: ";") && !$0.isBlank }
    return String(decoding: text.map(\.asciiLowercased), as: UTF8.self)
  }

  /// The parameters in order: names in lower case, values without quotes. Nil if the text does not
  /// have the form of a media type.
  var parameters: [(name: String, value: String)]? {
    guard description.utf8.count <= Self.maximumLength else { return nil }
    return MediaTypeText.parameters(of: Array(description.utf8))
  }

  /// Whether it is a multipart type with this boundary, and with no other.
  package func isMultipart(withBoundary boundary: String) -> Bool {
    let boundaries = parameters?.filter { $0.name == "boundary" }.map(\.value)
    return essence.hasPrefix("multipart/") && boundaries == [boundary]
  }

  /// Whether it is a multipart type that a boundary can be added to.
  var isMultipartWithoutBoundary: Bool {
    guard let parameters, essence.hasPrefix("multipart/") else { return false }
    return !parameters.contains { $0.name == "boundary" }
  }

  var isWellFormed: Bool { parameters != nil }
}

extension MediaType: ExpressibleByStringLiteral {
  /// Creates a type from a literal. If the literal is not a well-formed media type, an error is thrown when the form is
  /// laid out.
  public init(stringLiteral text: String) {
    self.init(unchecked: text)
  }
}

extension MediaType {
  /// Bytes of unknown type (RFC 2046 §4.5.1).
  public static let octetStream: MediaType = "application/octet-stream"
  /// Text of unknown kind.
  public static let plainText: MediaType = "text/plain"
  /// JSON (RFC 8259).
  public static let json: MediaType = "application/json"
  /// The default type of a form inside a form (RFC 2046 §5.1.3).
  public static let multipartMixed: MediaType = "multipart/mixed"
}
