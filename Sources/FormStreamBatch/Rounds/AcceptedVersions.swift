import FormStreamMultipart
import FormStreamPlatform

/// The versions of files that journals prove accepted, in the order of the records of their manifest. They are sorted on
/// the disk.
///
/// The manifest may not know the version: a file that was missing when it was listed has no size there.
struct AcceptedVersions {
  private let lines: SortedLines
  private var next: (key: [UInt8], line: [UInt8])?

  /// - Parameter directory: the directory for temporary files.
  init(
    of manifest: ManifestExtent, in journals: JournalSet, sortedIn directory: LocalPath
  ) throws(BatchError) {
    let sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
    for journal in try journals.journals(of: manifest) {
      try JournalReader.read(journal.path) { line throws(BatchError) in
        guard case .record(let offset, let record) = line, record.state == .ok,
          let size = record.size, let modified = record.modified
        else { return }
        var stored = StoredBytes()
        stored.add(size)
        stored.add(modified)
        stored.add(record.sha256?.bytes ?? [])
        try sorter.add(stored.bytes, key: Self.key(of: offset))
      }
    }
    lines = try sorter.sorted()
    next = try lines.next()
  }

  /// The version that was accepted for a record; nil if there is none. The offsets must be asked for in their order.
  mutating func version(of offset: Int64) throws(BatchError) -> KnownFile.Version? {
    let key = Self.key(of: offset)
    var version: KnownFile.Version?
    while let line = next, !key.lexicographicallyPrecedes(line.key) {
      if line.key == key {
        var stored = StoredBytes(line.line)
        version = KnownFile.Version(
          size: stored.number(), modified: stored.number(), sha256: SHA256Digest(bytes: stored.list()))
      }
      next = try lines.next()
    }
    return version
  }

  /// The bytes of numbers sort like the numbers if the most significant byte comes first.
  private static func key(of offset: Int64) -> [UInt8] {
    withUnsafeBytes(of: offset.bigEndian, Array.init)
  }
}
