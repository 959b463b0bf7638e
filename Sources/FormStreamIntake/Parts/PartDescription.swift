public import FormStreamMultipart

/// The client's description of a part, sent before the bytes of the part. The part is a part of a form, a field of a
/// URL-encoded body, or a whole body that is not a form.
///
/// Nothing here is checked. A file name may contain any text, such as `../` or control characters. Bytes that are not
/// UTF-8 are replaced by U+FFFD.
public struct PartDescription: Hashable, Sendable {
  /// The field's name; nil if the body is not a form.
  public var name: String?
  /// The file name, which makes the part a file. For a PUT, the file name is the decoded path.
  public var filename: String?
  /// The media type as the client wrote it.
  public var contentType: String?
  /// All headers of the part, in order.
  public var headers: HTTPHeaders = [:]

  /// Creates a description.
  public init(name: String? = nil, filename: String? = nil, contentType: String? = nil) {
    self.name = name
    self.filename = filename
    self.contentType = contentType
  }

  package init(_ head: PartHead) {
    self.init(name: head.name, filename: head.filename, contentType: head.contentType)
    headers = head.headers
  }
}
