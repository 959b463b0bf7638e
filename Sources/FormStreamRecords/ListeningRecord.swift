package import FormStreamMultipart

/// Where a receiver listens: `formstream.listening/1`, the first record of a receiver.
package struct ListeningRecord: Hashable, Sendable {
  /// The URL for clients.
  package var url: String
  /// The directory for stored files, or nil if files are not stored.
  package var directory: LocalPath?

  package init(url: String, directory: LocalPath?) {
    self.url = url
    self.directory = directory
  }

  package var json: JSONValue {
    let directory = JSONValue.path(directory)
    return [
      "schema": "formstream.listening/1",
      "url": .string(url),
      "directory": directory.text,
      "directory_b64": directory.base64,
    ]
  }
}
