public import FormStreamMultipart

/// A part that was received completely.
public struct ReceivedPart: Sendable {
  /// The part's position in the body, from 0.
  public let index: Int
  /// The field's name; nil if the body is not a form.
  public let name: String?
  /// The file name that the client sent.
  public let filename: String?
  /// The media type that the client sent.
  public let contentType: String?
  /// All headers of the part, in order.
  public let headers: HTTPHeaders
  /// The number of bytes.
  public let size: Int64
  /// The SHA-256 digest; nil if no digests are made.
  public let sha256: SHA256Digest?
  /// The bytes of a short text field; nil if a sink received the bytes.
  public let value: [UInt8]?
  /// The name that the sink stored the part under; nil if it is not stored.
  public package(set) var storedAs: String?

  /// Creates a part, for tests of a handler.
  public init(
    index: Int, name: String? = nil, filename: String? = nil, contentType: String? = nil,
    headers: HTTPHeaders = [:], size: Int64, sha256: SHA256Digest? = nil,
    value: [UInt8]? = nil, storedAs: String? = nil
  ) {
    self.index = index
    self.name = name
    self.filename = filename
    self.contentType = contentType
    self.headers = headers
    self.size = size
    self.sha256 = sha256
    self.value = value
    self.storedAs = storedAs
  }
}
