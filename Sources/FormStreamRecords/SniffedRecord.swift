package import FormStreamMultipart

/// A file and its media type: `formstream.sniffed/1`.
package struct SniffedRecord: Hashable, Sendable {
  /// The path, as it was given.
  package var path: LocalPath
  /// The media type.
  package var type: String
  /// What told it: `content`, `extension`, `override` or `default`.
  package var source: String

  package init(path: LocalPath, type: String, source: String) {
    self.path = path
    self.type = type
    self.source = source
  }

  package var json: JSONValue {
    // A path that is not UTF-8 stands in both ways: for people, and exactly.
    let isText = String(validating: path.bytes, as: UTF8.self) != nil
    return [
      "schema": "formstream.sniffed/1",
      "path": .string(path.description),
      "path_b64": .string(orNull: isText ? nil : base64(path.bytes)),
      "type": .string(type),
      "source": .string(source),
    ]
  }
}
