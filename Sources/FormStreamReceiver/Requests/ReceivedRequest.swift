public import FormStreamIntake
import FormStreamJSON
import FormStreamMultipart

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
  /// When the head had arrived, in UTC, in the format of RFC 3339.
  public let time: String
  /// How the end of the body was marked.
  public let framing: UploadRequest.Framing
  /// The announced length of the body; nil if none was announced.
  public let contentLength: Int64?
  /// The response's status; nil if no complete response was sent.
  public internal(set) var status: Int?
  /// The time from the request's head until its response was made.
  public internal(set) var duration = Duration.zero
  /// The error that the handler or the system threw. Its details are sent to the client only if it is an
  /// ``UploadRefusal``.
  public internal(set) var underlying: (any Error)?
  /// How many bytes of the body have arrived, including discarded bytes.
  package internal(set) var arrivedBytes: Int64 = 0
  /// The record in one line, with a line feed at its end.
  package private(set) var line: [UInt8] = []
  let form: ReceivedForm

  init(
    peer: String, method: String, target: String, time: String, framing: UploadRequest.Framing,
    contentLength: Int64?, status: Int?, form: ReceivedForm
  ) {
    self.peer = peer
    self.method = method
    self.target = target
    self.time = time
    self.framing = framing
    self.contentLength = contentLength
    self.status = status
    self.form = form
    writeRecord()
  }

  /// How many bytes of the body were received; if the body is malformed, the offset of the flaw.
  public var bodyBytes: Int64 { form.bodyBytes }
  /// Whether the complete body was received and accepted.
  public var isComplete: Bool { form.isComplete }
  /// The parts that were received completely.
  public var parts: [ReceivedPart] { form.parts }
  /// Why the request was refused; nil if it was not refused.
  public var error: Failure? {
    form.failure.map { Failure(code: $0.code, message: $0.message) }
  }
  /// The record of the request: one line of JSON, `formstream.received/2`. The record was also the response, unless the
  /// client asked for HTML or the handler responded itself.
  public var json: String { String(decoding: line, as: UTF8.self) }

  /// Notes that the client has received no response.
  mutating func noteNoResponse() {
    status = nil
    writeRecord()
  }

  private mutating func writeRecord() {
    line = form.recordLine(
      schema: "formstream.received/2",
      appending: [
        .init("framing", .string(framing.rawValue)),
        .init("content_length", .integer(orNull: contentLength)),
        .init("time", .string(time)),
        .init("peer", .string(peer)),
        .init("method", .string(method)),
        .init("target", .string(target.hidingURLSecrets)),
        .init("status", .integer(orNull: status.map(Int64.init))),
      ])
  }
}
