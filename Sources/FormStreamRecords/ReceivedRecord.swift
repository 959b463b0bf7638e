/// What a receiver found in a body: `formstream.received/1`, which has all that `formstream.parsed/1` has.
package struct ReceivedRecord: Hashable, Sendable {
  package var body: ParsedRecord
  /// What told the body's end.
  package var framing: String
  /// The length that was announced, where one was.
  package var contentLength: Int64?

  package init(body: ParsedRecord, framing: String, contentLength: Int64?) {
    self.body = body
    self.framing = framing
    self.contentLength = contentLength
  }

  /// The record, in a line of its own.
  package func line() -> [UInt8] {
    body.line(
      schema: "formstream.received/1",
      behind: [
        .init("framing", .string(framing)),
        .init("content_length", .integer(orNull: contentLength)),
      ])
  }
}
