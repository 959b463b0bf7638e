import FormStreamDigest
package import FormStreamRecords

/// A part that was received completely.
public struct ReceivedPart: Sendable {
  private var record: ParsedPartRecord

  package init(_ record: ParsedPartRecord) {
    self.record = record
  }

  /// The part's position in the body, from 0.
  public var index: Int { record.index }
  /// The field's name; nil if the body is not a form.
  public var name: String? { record.name }
  /// The file name that the client sent.
  public var filename: String? { record.filename }
  /// The media type that the client sent.
  public var contentType: String? { record.contentType }
  /// All headers of the part, in order.
  public var headers: [PartDescription.Header] {
    record.headers.map { PartDescription.Header($0.name, $0.value) }
  }
  /// The number of bytes.
  public var size: Int64 { record.size }
  /// The SHA-256 digest in hexadecimal digits; nil if no digests are made.
  public var sha256: String? { record.sha256?.description }
  /// The bytes of a short text field; nil if a sink received the bytes.
  public var value: [UInt8]? { record.value }
  /// The name that the sink stored the part under; nil if it is not stored.
  public package(set) var storedAs: String? {
    get { record.storedAs }
    set { record.storedAs = newValue }
  }
}
