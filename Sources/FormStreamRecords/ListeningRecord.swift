package import FormStreamMultipart

/// Where a receiver listens: `formstream.listening/1`, the first record of a receiver.
package struct ListeningRecord: Hashable, Sendable {
  /// The URL for clients on this machine, or all if it listens at one address.
  package var url: String
  /// The URLs for clients on other machines.
  package var urls: [String]
  /// The directory for stored files, or nil if files are not stored.
  package var directory: LocalPath?

  package init(url: String, urls: [String], directory: LocalPath?) {
    self.url = url
    self.urls = urls
    self.directory = directory
  }

  package var json: JSONValue {
    let directory = JSONValue.path(directory)
    return [
      "schema": "formstream.listening/1",
      "url": .string(url),
      "urls": .array(urls.map(JSONValue.string)),
      "directory": directory.text,
      "directory_b64": directory.base64,
    ]
  }
}
