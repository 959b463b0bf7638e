public import FormStreamIntake
package import FormStreamRecords

/// A finished request: what was received, and the response.
public struct ReceivedRequest: Sendable {
  /// Why a request was refused.
  public struct Failure: Hashable, Sendable {
    /// The code as written in records.
    public let code: String
    /// The sentence that was sent to the client.
    public let message: String
  }

  /// The client's address and port.
  public let peer: String
  /// The method.
  public let method: String
  /// The target as the client sent it.
  public let target: String
  /// The response's status; nil if no complete response was sent.
  public let status: Int?
  /// The time from the request's head until its response was made.
  public let duration: Duration
  /// The error that the handler or the system threw. Its details are sent to the client only if it is an
  /// ``UploadRefusal``.
  public let underlying: (any Error)?
  /// The bytes of the body that have arrived, whatever became of them.
  package let arrivedBytes: Int64
  package let record: ReceivedRecord
  /// The record in one line, with a line feed at its end.
  package let line: [UInt8]

  /// When the head had arrived, as RFC 3339 writes it, in UTC.
  public var time: String { record.time }
  /// How the end of the body was marked.
  public var framing: UploadRequest.Framing { .init(rawValue: record.framing) ?? .none }
  /// The announced length of the body; nil if none was announced.
  public var contentLength: Int64? { record.contentLength }
  /// The received bytes of the body; if the body is malformed, the offset of the flaw.
  public var bodyBytes: Int64 { record.body.bodyBytes }
  /// Whether the complete body was received and accepted.
  public var isComplete: Bool { record.body.isComplete }
  /// The parts that were received completely.
  public var parts: [ReceivedPart] { record.body.parts.map(ReceivedPart.init) }
  /// Why the request was refused; nil if it was not.
  public var error: Failure? {
    record.body.error.map { Failure(code: $0.code, message: $0.message) }
  }
  /// The record of the request, which was also the response unless the client asked for HTML or the handler responded
  /// itself: one line of JSON, `formstream.received/2`.
  public var json: String { String(decoding: line, as: UTF8.self) }
}
