/// A media type such as `image/png` or `text/plain; charset=utf-8`, kept as it was written.
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
  /// The whole text, byte for byte what goes on the wire.
  public let description: String

  /// The longest text that is taken for a media type. RFC 6838 §4.2 allows 127 characters for each of
  /// the two names; the rest is room for parameters.
  public static let maximumLength = 1024

  /// Takes a text that has the form of a media type (RFC 9110 §8.3.1), or nothing.
  public init?(_ text: String) {
    self.init(unchecked: text)
    guard isWellFormed else { return nil }
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

  /// The parameters in order, their names in lower case and their values out of their quotes; nil
  /// where the text does not have the form of a media type.
  var parameters: [(name: String, value: String)]? {
    guard description.utf8.count <= Self.maximumLength else { return nil }
    return MediaTypeText.parameters(of: Array(description.utf8))
  }

  var isWellFormed: Bool { parameters != nil }
}

extension MediaType: ExpressibleByStringLiteral {
  /// Takes a type that stands in the source. One that is not of the form of a media type is an error
  /// when the form is laid out.
  public init(stringLiteral text: String) {
    self.init(unchecked: text)
  }
}

extension MediaType {
  /// What is said of bytes of which nothing is known (RFC 2046 §4.5.1).
  public static let octetStream: MediaType = "application/octet-stream"
  /// Text of which no more is known.
  public static let plainText: MediaType = "text/plain"
  /// A JSON text.
  public static let json: MediaType = "application/json"
  /// The type of a nested form.
  public static let multipartMixed: MediaType = "multipart/mixed"
}
