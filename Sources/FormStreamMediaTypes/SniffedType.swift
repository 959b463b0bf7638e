public import FormStreamMultipart

/// A media type, and how it was detected.
public struct SniffedType: Hashable, Sendable {
  /// How a type was detected. The set is open: later versions add to it.
  public struct Source: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The source in one word.
    public let rawValue: String

    /// Wraps the word of a source.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// From the contents.
    public static let content = Source(rawValue: "content")
    /// From the file name extension.
    public static let `extension` = Source(rawValue: "extension")
    /// From an override.
    public static let override = Source(rawValue: "override")
    /// The type was not detected, and is `application/octet-stream`.
    public static let `default` = Source(rawValue: "default")

    /// The source in one word.
    public var description: String { rawValue }
  }

  /// The type.
  public let type: MediaType
  /// How it was detected.
  public let source: Source

  package init(type: MediaType, source: Source) {
    self.type = type
    self.source = source
  }
}
