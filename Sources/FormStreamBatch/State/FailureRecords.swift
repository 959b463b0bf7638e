import FormStreamJSON
import FormStreamMultipart

/// The records of files that were not accepted, in the order of the records of their manifest.
///
/// They wait on the disk, and are sorted at the first question.
struct FailureRecords {
  private let lines: NumberedLines

  /// - Parameter directory: the directory for temporary files.
  init(
    of manifest: ManifestExtent, in journals: JournalSet, sortedIn directory: LocalPath
  ) throws(BatchError) {
    lines = NumberedLines(in: directory)
    for journal in try journals.journals(of: manifest).sorted(by: { $0.head.begun ?? 0 < $1.head.begun ?? 0 }) {
      try JournalReader.forEachLine(of: journal.path) { line throws(BatchError) in
        guard let (offset, record) = JournalRecord.read(line), let state = record.state, state != .ok, state != .skipped else {
          return
        }
        try lines.add(Array(line), number: offset)
      }
    }
  }

  /// The last record of a file with a state; nil if there is none. The offsets must be asked for in their order.
  func record(of offset: Int64, with state: BatchState?) throws(BatchError) -> JSONValue? {
    let line = try lines.last(offset) { line in
      state != nil && line.withUnsafeBytes { JournalRecord.read($0)?.record.state } == state ? line : nil
    }
    return line.flatMap { try? JSONValue(parsing: $0) }
  }
}
