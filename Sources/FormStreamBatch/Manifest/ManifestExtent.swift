/// A manifest as journals refer to it: its id, and the range of its records.
package struct ManifestExtent: Hashable, Sendable {
  package let id: String
  /// Where the records begin, and where the manifest ends; nil while it is still being written.
  package let records: Range<Int64>?

  /// Whether the manifest is complete. The last records of another one may be lost, although journals mention them.
  package let isComplete: Bool

  package init(id: String, records: Range<Int64>?, isComplete: Bool = true) {
    self.id = id
    self.records = records
    self.isComplete = isComplete
  }

  /// The range of offsets at which the records of a shard may begin. Without a shard, or while the manifest is still being
  /// written, the range is unlimited.
  func offsets(of shard: Shard?) -> Range<Int64> {
    guard let shard, let records else { return 0..<Int64.max }
    let range = shard.range(of: records.upperBound - records.lowerBound)
    return records.lowerBound + range.lowerBound..<records.lowerBound + range.upperBound
  }
}
