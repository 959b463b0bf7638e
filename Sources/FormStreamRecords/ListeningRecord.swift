package import FormStreamMultipart

/// Where a receiver listens: `formstream.listening/1`, before all others.
package struct ListeningRecord: Hashable, Sendable {
  /// Where clients reach it.
  package var url: String
  /// Where files are stored; nil where they are not.
  package var directory: LocalPath?

  package init(url: String, directory: LocalPath?) {
    self.url = url
    self.directory = directory
  }

  package var json: JSONValue {
    let isText = directory.map { String(validating: $0.bytes, as: UTF8.self) != nil } ?? true
    return [
      "schema": "formstream.listening/1",
      "url": .string(url),
      "directory": .string(orNull: directory?.description),
      "directory_b64": .string(orNull: isText ? nil : directory.map { base64($0.bytes) }),
    ]
  }
}
