/// A manifest as journals refer to it: its id, and where its records are.
package struct ManifestExtent: Hashable, Sendable {
  package let id: String
  /// Where the records begin, and where the manifest ends; nil while it is still being written.
  package let records: Range<Int64>?

  package init(id: String, records: Range<Int64>?) {
    self.id = id
    self.records = records
  }

  /// Where the records of a shard begin. Without a shard, or if that can't be known, they may begin anywhere.
  func offsets(of shard: Shard?) -> Range<Int64> {
    guard let shard, let records else { return 0..<Int64.max }
    let range = shard.range(of: records.upperBound - records.lowerBound)
    return records.lowerBound + range.lowerBound..<records.lowerBound + range.upperBound
  }
}
