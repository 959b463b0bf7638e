import FormStreamDigest
package import FormStreamRecords

/// A part that came whole.
public struct ReceivedPart: Sendable {
  private let record: ParsedPartRecord

  package init(_ record: ParsedPartRecord) {
    self.record = record
  }

  /// Its place, from 0.
  public var index: Int { record.index }
  /// The field's name; nil where the body was no form.
  public var name: String? { record.name }
  /// The file name that the client gave.
  public var filename: String? { record.filename }
  /// The media type that the client gave.
  public var contentType: String? { record.contentType }
  /// All its headers, in order.
  public var headers: [PartDescription.Header] {
    record.headers.map { PartDescription.Header($0.name, $0.value) }
  }
  /// How many bytes it has.
  public var size: Int64 { record.size }
  /// Its SHA-256 in hexadecimal digits, where digests are made.
  public var sha256: String? { record.sha256?.description }
  /// The bytes of a text field that was kept; nil of all that the handler got.
  public var value: [UInt8]? { record.value }
  /// What the handler stored it as.
  public var storedAs: String? { record.storedAs }
}
