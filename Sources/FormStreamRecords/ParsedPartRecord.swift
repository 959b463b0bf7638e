import FormStreamPlatform
package import FormStreamDigest

/// A part of a form that came in, as it stands in `formstream.parsed/1` and `formstream.received/1`.
///
/// Names, headers and paths are text: whoever fills this in repairs what was not UTF-8.
package struct ParsedPartRecord: Hashable, Sendable {
  /// The part's place in the form, from 0.
  package var index: Int
  /// The part's name, where it has one.
  package var name: String?
  /// The file name that the sender gave it.
  package var filename: String?
  /// The media type that the sender gave it.
  package var contentType: String?
  /// All of the part's headers as they came.
  package var headers: [RecordHeader]
  /// How many bytes the part's body has.
  package var size: Int64
  /// The digest of the part's body, where one was made.
  package var sha256: SHA256.Digest?
  /// The part's body where it is kept in the record. Which bodies are kept, and up to what size, is the
  /// caller's business.
  package var value: [UInt8]?
  /// The path that the part's body was stored under.
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
    // One field for both keys: they can't contradict each other.
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
