/// A body that a receiver read: `formstream.received/1`, which has all members of `formstream.parsed/1`.
package struct ReceivedRecord: Hashable, Sendable {
  /// The body and its parts.
  package var body: ParsedRecord
  /// How the request marked the body's end: `content-length`, `chunked` or `none`.
  package var framing: String
  /// The announced length, if there was one.
  package var contentLength: Int64?

  package init(body: ParsedRecord, framing: String, contentLength: Int64?) {
    self.body = body
    self.framing = framing
    self.contentLength = contentLength
  }

  /// The record in one line.
  package func line() -> [UInt8] {
    body.line(
      schema: "formstream.received/1",
      appending: [
        .init("framing", .string(framing)),
        .init("content_length", .integer(orNull: contentLength)),
      ])
  }
}
