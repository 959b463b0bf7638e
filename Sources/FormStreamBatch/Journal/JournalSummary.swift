import FormStreamMultipart
import FormStreamPlatform

/// A journal of a manifest. Only the first line of the journal was read.
struct JournalSummary {
  let path: LocalPath
  let head: JournalHead
  private let manifest: ManifestExtent
  /// The offsets of the records that the journal may mention.
  let range: Range<Int64>

  /// - Throws: `manifestMalformed` if the manifest has changed since the journal was begun.
  init(_ path: LocalPath, _ head: JournalHead, of manifest: ManifestExtent) throws(BatchError) {
    if let records = manifest.records, let bytes = head.manifestBytes, bytes != records.upperBound {
      throw Self.changed(manifest, records, path, "had \(bytes) when the journal \(path.description.quoted) was begun")
    }
    self.path = path
    self.head = head
    self.manifest = manifest
    range = manifest.offsets(of: head.shard.flatMap(Shard.init(text:)))
  }

  private static func changed(
    _ manifest: ManifestExtent, _ records: Range<Int64>, _ journal: LocalPath, _ difference: String
  ) -> BatchError {
    BatchError(
      .manifestMalformed, on: manifest.id,
      "The manifest has \(counted(records.upperBound, "byte", "bytes")), and \(difference): what a journal says is about "
        + "places in the manifest, which must never change. Use the original, or make a new one.")
  }

  /// Throws if no record of the manifest can begin at an offset that the journal mentions.
  private func check(_ offset: Int64) throws(BatchError) {
    guard manifest.isComplete, let records = manifest.records, offset >= records.upperBound else { return }
    throw Self.changed(
      manifest, records, path, "the journal \(path.description.quoted) has a file at byte \(offset) of it")
  }

  /// Passes on what the journal says about the files in a range: the record of each file, the accepted slices, and the
  /// started requests for files without a record. Returns how many lines of the journal can't be read.
  ///
  /// - Parameter inspect: receives who can change the journal.
  func read(
    in range: Range<Int64>, inspect: (AppendedFile.Ownership) -> Void = { _ in }, _ receive: (JournalLine) -> Void
  ) throws(BatchError) -> Int {
    var damaged = 0
    var started: Set<Int64> = []
    // If the first line is gone, and not only damaged, it is missing all the same.
    var isFirstMissing = head.isReconstructed
    try JournalReader.read(path, inspect: inspect) { line throws(BatchError) in
      if isFirstMissing {
        isFirstMissing = false
        if case .damaged = line {} else { damaged += 1 }
      }
      switch line {
      case .head, .closed: break
      case .damaged: damaged += 1
      case .started(let offset):
        try check(offset)
        if range.contains(offset) { started.insert(offset) }
      case .accepted(let offset, _), .unfinished(let offset, _), .storedPerhaps(let offset):
        if range.contains(offset) { receive(line) }
      case .record(let offset, _):
        guard range.contains(offset) else { return }
        started.remove(offset)
        receive(line)
      }
    }
    for offset in started { receive(.started(offset)) }
    return damaged
  }

  /// Whether lines of the journal may be lost. A restart of the machine loses lines that were not synchronized. So lines
  /// may be lost if the run did not end in an orderly way, and its machine may have been restarted since.
  ///
  /// - Parameter boot: the identifier of this machine's current boot; empty if it is not known.
  func mayHaveLostLines(boot: String) throws(BatchError) -> Bool {
    if !boot.isEmpty, head.boot == boot { return false }
    return try !JournalReader.isClosed(path)
  }
}
