package import FormStreamMultipart

/// What is known of a part when it begins: one of a form, a field of a URL-encoded body, or a body that is no
/// form and counts as a part of its own.
///
/// All of it is what the client says. A file name may hold anything but text that is not UTF-8, which was
/// repaired.
public struct PartDescription: Hashable, Sendable {
  /// A header line of a part.
  public struct Header: Hashable, Sendable {
    /// The name, as it was written.
    public let name: String
    /// The value, repaired where it was not UTF-8.
    public let value: String

    /// A header line.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The field's name; nil where a body is no form.
  public var name: String?
  /// The file name; a part that has one is a file. Of a PUT it is the path, decoded.
  public var filename: String?
  /// The media type, as it was written.
  public var contentType: String?
  /// All headers of the part, in order.
  public var headers: [Header] = []

  /// Describes a part.
  public init(name: String? = nil, filename: String? = nil, contentType: String? = nil) {
    self.name = name
    self.filename = filename
    self.contentType = contentType
  }

  package init(_ head: PartHead) {
    self.init(name: head.name, filename: head.filename, contentType: head.contentType)
    headers = head.fields.map { Header($0.name, $0.value) }
  }
}
