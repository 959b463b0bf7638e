import FormStreamMultipart
import FormStreamRecords

/// A journal that a report reads: its first line.
struct JournalSummary {
  let path: LocalPath
  let head: JournalHead
  /// The offsets of the records that the journal may mention.
  let range: Range<Int64>

  /// Reads the first line; nil if the journal has none, or is another manifest's.
  ///
  /// - Parameter manifest: the reader of the manifest, which knows where its shards are.
  init?(_ path: LocalPath, of manifest: ManifestReader) throws(BatchError) {
    guard let head = try JournalReader.head(of: path), head.manifest == manifest.id else {
      return nil
    }
    self.path = path
    self.head = head
    range = head.shard.flatMap(Shard.init(text:)).map(manifest.offsets) ?? 0..<Int64.max
  }
}

extension Shard {
  /// Reads `K/N`; nil if it is not one.
  package init?(text: String) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false)
    guard numbers.count == 2, numbers.allSatisfy(\.isASCIIDigits), let number = Int(numbers[0]),
      let count = Int(numbers[1])
    else { return nil }
    self.init(number, of: count)
  }
}
