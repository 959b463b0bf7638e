import FormStreamJSON
import FormStreamMultipart

/// The records of files that were not accepted, in the order of the records of their manifest. They are sorted on the disk.
struct FailureRecords {
  private let lines: SortedLines
  private var next: (key: [UInt8], line: [UInt8])?

  /// - Parameter directory: the directory for temporary files.
  init(
    of manifest: ManifestExtent, in journals: JournalSet, sortedIn directory: LocalPath
  ) throws(BatchError) {
    let sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
    for journal in try journals.journals(of: manifest).sorted(by: { $0.head.begun ?? 0 < $1.head.begun ?? 0 }) {
      try JournalReader.forEachLine(of: journal.path) { line throws(BatchError) in
        guard let (offset, record) = JournalRecord.read(line), let state = record.state, state != .ok, state != .skipped else {
          return
        }
        try sorter.add(Array(line), key: Self.key(of: offset))
      }
    }
    lines = try sorter.sorted()
    next = try lines.next()
  }

  /// The last record of a file with a state; nil if there is none. The offsets must be asked for in their order.
  mutating func record(of offset: Int64, with state: BatchState?) throws(BatchError) -> JSONValue? {
    let key = Self.key(of: offset)
    var found: [UInt8]?
    while let line = next, !key.lexicographicallyPrecedes(line.key) {
      if line.key == key, state != nil, line.line.withUnsafeBytes({ JournalRecord.read($0)?.record.state }) == state {
        found = line.line
      }
      next = try lines.next()
    }
    return found.flatMap { try? JSONValue(parsing: $0) }
  }

  /// The bytes of numbers sort like the numbers if the most significant byte comes first.
  private static func key(of offset: Int64) -> [UInt8] {
    withUnsafeBytes(of: offset.bigEndian, Array.init)
  }
}
