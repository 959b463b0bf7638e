import FormStreamMultipart

/// A request that a receiver read: `formstream.received/2`, which has all members of `formstream.parsed/1`.
///
/// No member has a default value, so that none is forgotten.
package struct ReceivedRecord: Hashable, Sendable {
  /// The body and its parts.
  package var body: ParsedRecord
  /// How the request marked the body's end: `content-length`, `chunked` or `none`.
  package var framing: String
  /// The announced length, if there was one.
  package var contentLength: Int64?
  /// When the request's head was complete, as RFC 3339 writes it.
  package var time: String
  /// The client's address and port.
  package var peer: String
  /// The request's method.
  package var method: String
  /// The request's target, which the record shows with secrets masked.
  package var target: String
  /// The status of the response, or nil if there was none.
  package var status: Int?

  package init(
    body: ParsedRecord, framing: String, contentLength: Int64?, time: String, peer: String,
    method: String, target: String, status: Int?
  ) {
    self.body = body
    self.framing = framing
    self.contentLength = contentLength
    self.time = time
    self.peer = peer
    self.method = method
    self.target = target
    self.status = status
  }

  /// The record in one line.
  package func line() -> [UInt8] {
    body.line(
      schema: "formstream.received/2",
      appending: [
        .init("framing", .string(framing)),
        .init("content_length", .integer(orNull: contentLength)),
        .init("time", .string(time)),
        .init("peer", .string(peer)),
        .init("method", .string(method)),
        .init("target", .string(target.hidingURLSecrets)),
        .init("status", .integer(orNull: status.map(Int64.init))),
      ])
  }
}
