public import FormStreamIntake
package import FormStreamRecords

/// A request that is over: what came, and what was answered.
public struct ReceivedRequest: Sendable {
  /// Why a request was not taken.
  public struct Failure: Hashable, Sendable {
    /// The code, as it stands in records.
    public let code: String
    /// A full sentence, as the client was told it.
    public let message: String
  }

  /// The client's address and port.
  public let peer: String
  /// The method.
  public let method: String
  /// The target as it was sent.
  public let target: String
  /// The status that was answered; nil where no answer went out whole.
  public let status: Int?
  /// How long it took, from its head until its answer was made.
  public let duration: Duration
  /// What the handler or the system threw; where it is no ``UploadRefusal``, the client is told of it only that
  /// it failed.
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
  /// Why it was not taken.
  public var error: Failure? {
    record.body.error.map { Failure(code: $0.code, message: $0.message) }
  }
  /// The record that the client was answered with: a line of JSON, `formstream.received/1`.
  public var json: String { String(decoding: record.line(), as: UTF8.self) }
}
