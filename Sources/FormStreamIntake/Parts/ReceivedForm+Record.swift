import FormStreamMultipart
import FormStreamPlatform
package import FormStreamJSON

extension ReceivedForm {
  /// The record in one line: `formstream.parsed/1`, or a record of another schema with more members at its end.
  ///
  /// Each part is written before the next becomes JSON: there may be thousands, and the JSON values of all parts
  /// take many times the memory of their text.
  package func recordLine(
    schema: String = "formstream.parsed/1", appending members: [JSONValue.Member] = []
  ) -> [UInt8] {
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
      part.record.write(to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    for member in [JSONValue.Member("error", failure?.record ?? .null)] + members {
      bytes.append(UInt8(ascii: ","))
      member.write(to: &bytes)
    }
    bytes += "}\n".utf8
    return bytes
  }
}

extension ReceivedForm.Failure {
  fileprivate var record: JSONValue { .failure(code: code, message) }
}

extension ReceivedPart {
  /// The JSON of the part in the record of its body.
  package var record: JSONValue {
    let value = JSONValue.textOrBase64(value)
    return [
      "index": .integer(Int64(index)),
      "name": .string(orNull: name),
      "filename": .string(orNull: filename),
      "content_type": .string(orNull: contentType),
      "headers": .pairs(headers.map { ($0.name, $0.value) }),
      "size": .integer(size),
      "sha256": .string(orNull: sha256?.description),
      "value": value.text,
      "value_b64": value.base64,
      "stored_as": .string(orNull: storedAs),
    ]
  }
}
