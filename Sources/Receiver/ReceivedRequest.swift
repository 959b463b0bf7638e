package import Records

/// A request that is over: what came, and what was answered.
public struct ReceivedRequest: Sendable {
  /// The client's address and port.
  public let peer: String
  /// The method; empty where no head came.
  public let method: String
  /// The target as it was sent.
  public let target: String
  /// The status that was answered; nil where nothing could be.
  public let status: Int?
  /// How long it took, from its head to its answer.
  public let duration: Duration
  /// What the handler or the system threw, where the client is told of it only that it failed.
  public let underlying: (any Error)?
  package let record: ReceivedRecord

  /// What told where the body ends.
  public var framing: UploadRequest.Framing { .init(rawValue: record.framing) ?? .none }
  /// The body's length, where it was announced.
  public var contentLength: Int64? { record.contentLength }
  /// How many bytes of the body came; of a broken one, where it breaks.
  public var bodyBytes: Int64 { record.body.bodyBytes }
  /// Whether all of it came, and was taken.
  public var isComplete: Bool { record.body.isComplete }
  /// The parts that came whole.
  public var parts: [ReceivedPart] { record.body.parts.map(ReceivedPart.init) }
  /// Why it was not taken: a code, as in records, and a sentence.
  public var error: (code: String, message: String)? {
    record.body.error.map { ($0.code, $0.message) }
  }
  /// The record that the client was answered with: a line of JSON, `formstream.received/1`.
  public var json: String { String(decoding: record.json.line(), as: UTF8.self) }
}

/// A part that came whole.
public struct ReceivedPart: Sendable {
  private let record: ParsedPartRecord

  init(_ record: ParsedPartRecord) {
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
  /// How many bytes it has.
  public var size: Int64 { record.size }
  /// Its SHA-256 in hexadecimal digits, where digests are made.
  public var sha256: String? { record.sha256?.description }
  /// The bytes of a text field that was kept; nil of all that the handler got.
  public var value: [UInt8]? { record.value }
  /// What the handler stored it as.
  public var storedAs: String? { record.storedAs }
}
