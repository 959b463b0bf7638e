import FormStreamJSON

/// A record of a manifest, named by the manifest's id and the offset at which the record begins.
package struct RecordPlace: Hashable, Sendable {
  package let manifest: String
  package let offset: Int64

  package init(manifest: String, offset: Int64) {
    (self.manifest, self.offset) = (manifest, offset)
  }

  var json: JSONValue { ["manifest": .string(manifest), "offset": .integer(offset)] }

  /// Reads the place; nil if the value is not one.
  init?(_ json: JSONValue) {
    guard let manifest = json["manifest"]?.text, let offset = json["offset"]?.integer, offset >= 0
    else { return nil }
    self.init(manifest: manifest, offset: offset)
  }
}
