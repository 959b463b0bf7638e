import FormStreamDigest
package import FormStreamJSON
import FormStreamMediaTypes
import FormStreamMultipart

extension FileResult {
  static let schema = "formstream.record/2"

  /// The record: `formstream.record/2`. Journals contain the same records.
  package var record: JSONValue {
    let path = JSONValue.path(file.path)
    return [
      "schema": .string(Self.schema),
      "manifest": .string(orNull: manifest),
      "index": .integer(Int64(file.index)),
      "offset": .integer(orNull: manifest == nil ? nil : file.offset),
      "path": path.text,
      "path_b64": path.base64,
      "size": .integer(file.size),
      "mtime_ns": .integer(file.modified),
      "type": .string(orNull: type?.type.description),
      "type_source": .string(orNull: type?.source.rawValue),
      "sha256": .string(orNull: sha256?.description),
      "url": .string(url),
      "status": .integer(orNull: status.map(Int64.init)),
      "outcome": .string(state.rawValue),
      "attempts": .integer(Int64(attempts)),
      "maybe_duplicate": .boolean(maybeDuplicate),
      "bytes_sent": .integer(bytesSent),
      "seconds": .fraction(rounding: duration / .seconds(1)),
      "begun_ns": .integer(orNull: begun),
      "ended_ns": .integer(ended),
      "response": response?.record ?? .null,
      "error": error?.record ?? .null,
    ]
  }
}

extension FileResult.Response {
  fileprivate var record: JSONValue {
    let body = JSONValue.textOrBase64(body)
    return ["body": body.text, "body_b64": body.base64, "truncated": .boolean(isTruncated)]
  }
}

extension FileFailure {
  var record: JSONValue { .failure(code: code, message.description) }
}
