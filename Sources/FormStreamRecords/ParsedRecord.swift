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

  /// The record, in a line of its own.
  package func line() -> [UInt8] { line(schema: "formstream.parsed/1") }

  /// `formstream.received/1` has the same members under a name of its own, and its own behind them.
  ///
  /// Parts become JSON one by one: there may be thousands, and the values of all take many times the room of
  /// their text.
  func line(schema: String, behind: [JSONValue.Member] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONValue.object([
      .init("schema", .string(schema)),
      .init("body_bytes", .integer(bodyBytes)),
      .init("complete", .boolean(isComplete)),
      .init("parts", .array([])),
    ]).write(to: &bytes)
    bytes.removeLast(2)
    for (place, part) in parts.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      part.json.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    for member in [JSONValue.Member("error", error?.json ?? .null)] + behind {
      bytes.append(UInt8(ascii: ","))
      member.write(to: &bytes)
    }
    bytes += "}\n".utf8
    return bytes
  }
}
