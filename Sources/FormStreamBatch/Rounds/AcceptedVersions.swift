import FormStreamMultipart
import FormStreamPlatform

/// The versions of files that journals prove accepted, in the order of the records of their manifest.
///
/// The manifest may not know the version: a file that was missing when it was listed has no size there.
///
/// They wait on the disk, and are sorted at the first question.
struct AcceptedVersions {
  private let lines: NumberedLines

  /// - Parameter directory: the directory for temporary files.
  init(
    of manifest: ManifestExtent, in journals: JournalSet, sortedIn directory: LocalPath
  ) throws(BatchError) {
    lines = NumberedLines(in: directory)
    for journal in try journals.journals(of: manifest) {
      try JournalReader.read(journal.path) { line throws(BatchError) in
        guard case .record(let offset, let record) = line, record.state == .ok,
          let size = record.size, let modified = record.modified
        else { return }
        var stored = StoredBytes()
        stored.add(size)
        stored.add(modified)
        stored.add(record.sha256?.bytes ?? [])
        try lines.add(stored.bytes, number: offset)
      }
    }
  }

  /// The version that was accepted for a record; nil if there is none. The offsets must be asked for in their order.
  func version(of offset: Int64) throws(BatchError) -> KnownFile.Version? {
    try lines.last(offset) { line in
      var stored = StoredBytes(line)
      return KnownFile.Version(
        size: stored.number(), modified: stored.number(), sha256: SHA256Digest(bytes: stored.list()))
    }
  }
}
