package import FormStreamMultipart

/// A file and its media type: `formstream.sniffed/1`.
package struct SniffedRecord: Hashable, Sendable {
  /// The path as it was given.
  package var path: LocalPath
  /// The media type.
  package var type: String
  /// How the type was found: `content`, `extension`, `override` or `default`.
  package var source: String

  package init(path: LocalPath, type: String, source: String) {
    self.path = path
    self.type = type
    self.source = source
  }

  package var json: JSONValue {
    let path = JSONValue.path(path)
    return [
      "schema": "formstream.sniffed/1",
      "path": path.text,
      "path_b64": path.base64,
      "type": .string(type),
      "source": .string(source),
    ]
  }
}
