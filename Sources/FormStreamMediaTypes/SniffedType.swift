public import FormStreamMultipart

/// A media type, and what told it.
public struct SniffedType: Hashable, Sendable {
  /// What told a type. The set is open: later versions add to it.
  public struct Source: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The source in one word.
    public let rawValue: String

    /// Takes a source by its word.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The bytes.
    public static let content = Source(rawValue: "content")
    /// The file name's extension.
    public static let `extension` = Source(rawValue: "extension")
    /// An override.
    public static let override = Source(rawValue: "override")
    /// Nothing did: it is `application/octet-stream`.
    public static let `default` = Source(rawValue: "default")

    /// The source in one word.
    public var description: String { rawValue }
  }

  /// The type.
  public let type: MediaType
  /// What told it.
  public let source: Source
}
