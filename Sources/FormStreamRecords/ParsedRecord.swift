package import FormStreamDigest

/// A form that was parsed: `formstream.parsed/1`.
package struct ParsedRecord: Hashable, Sendable {
  /// How many bytes of the body were read.
  package var bodyBytes: Int64
  /// Whether the form was well formed and complete.
  package var isComplete: Bool
  /// The parts in their order.
  package var parts: [ParsedPartRecord]
  /// Why the form is not complete, or nil if it is.
  package var error: RecordFailure?

  package init(
    bodyBytes: Int64, isComplete: Bool, parts: [ParsedPartRecord], error: RecordFailure? = nil
  ) {
    self.bodyBytes = bodyBytes
    self.isComplete = isComplete
    self.parts = parts
    self.error = error
  }

  /// The record in one line.
  package func line() -> [UInt8] { line(schema: "formstream.parsed/1") }

  /// The record in one line, with the schema's name and more members at the end.
  ///
  /// Each part is written before the next becomes JSON: there may be thousands, and the JSON values of all parts
  /// take many times the memory of their text.
  func line(schema: String, appending members: [JSONValue.Member] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONValue.object([
      .init("schema", .string(schema)),
      .init("body_bytes", .integer(bodyBytes)),
      .init("complete", .boolean(isComplete)),
      .init("parts", .array([])),
    ]).write(to: &bytes)
    // The parts go between the brackets at the end, `[]}`.
    bytes.removeLast(2)
    for (index, part) in parts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      part.json.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    for member in [JSONValue.Member("error", error?.json ?? .null)] + members {
      bytes.append(UInt8(ascii: ","))
      member.write(to: &bytes)
    }
    bytes += "}\n".utf8
    return bytes
  }
}

/// A part of a parsed form, in `formstream.parsed/1` and `formstream.received/2`.
///
/// Names, headers and paths are text: the caller repairs what was not UTF-8.
package struct ParsedPartRecord: Hashable, Sendable {
  /// The part's place in the form, from 0.
  package var index: Int
  /// The part's name, if it has one.
  package var name: String?
  /// The file name from the sender.
  package var filename: String?
  /// The media type from the sender.
  package var contentType: String?
  /// All headers of the part, as they arrived.
  package var headers: [RecordHeader]
  /// The number of bytes in the part's body.
  package var size: Int64
  /// The digest of the part's body, if one was made.
  package var sha256: SHA256.Digest?
  /// The part's body, if the record has it. The caller decides which bodies it has, and up to what size.
  package var value: [UInt8]?
  /// The path under which the part's body was stored.
  package var storedAs: String?

  package init(
    index: Int, name: String? = nil, filename: String? = nil, contentType: String? = nil,
    headers: [RecordHeader] = [], size: Int64, sha256: SHA256.Digest? = nil, value: [UInt8]? = nil,
    storedAs: String? = nil
  ) {
    self.index = index
    self.name = name
    self.filename = filename
    self.contentType = contentType
    self.headers = headers
    self.size = size
    self.sha256 = sha256
    self.value = value
    self.storedAs = storedAs
  }

  package var json: JSONValue {
    let value = JSONValue.textOrBase64(value)
    return [
      "index": .integer(Int64(index)),
      "name": .string(orNull: name),
      "filename": .string(orNull: filename),
      "content_type": .string(orNull: contentType),
      "headers": .array(headers.map(\.json)),
      "size": .integer(size),
      "sha256": .string(orNull: sha256?.description),
      "value": value.text,
      "value_b64": value.base64,
      "stored_as": .string(orNull: storedAs),
    ]
  }
}
