/// What was found in a form that came in: `formstream.parsed/1`.
package struct ParsedRecord: Hashable, Sendable {
  /// How many bytes of the body were read.
  package var bodyBytes: Int64
  /// Whether the form was well formed and came to its end.
  package var isComplete: Bool
  /// The parts, in their order.
  package var parts: [ParsedPartRecord]
  /// Why it is not complete.
  package var error: RecordFailure?

  package init(
    bodyBytes: Int64, isComplete: Bool, parts: [ParsedPartRecord], error: RecordFailure? = nil
  ) {
    self.bodyBytes = bodyBytes
    self.isComplete = isComplete
    self.parts = parts
    self.error = error
  }

  package var json: JSONValue {
    .object([.init("schema", "formstream.parsed/1")] + members)
  }

  /// The members behind the schema's name. `formstream.received/1` has the same under a name of its own,
  /// and its own behind them.
  var members: [JSONValue.Member] {
    [
      .init("body_bytes", .integer(bodyBytes)),
      .init("complete", .boolean(isComplete)),
      .init("parts", .array(parts.map(\.json))),
      .init("error", error?.json ?? .null),
    ]
  }
}
