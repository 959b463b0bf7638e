/// What became of the files of a manifest, over all runs: `formstream.report/1`.
package struct ReportRecord: Hashable, Sendable {
  /// The id of the manifest.
  package var manifest: String
  /// The shard, such as `3/64`; nil if all files were looked at.
  package var shard: String?
  /// How many journals the manifest has, and how many of them have no end.
  package var journals: Int
  package var openJournals: Int
  /// How many of them have lines that can't be read.
  package var damagedJournals: Int
  /// Whether the manifest has all files that are to be sent.
  package var isListed: Bool
  /// How many files there are, and how many have each state.
  package var files: Int
  package var ok: Int
  package var failed: Int
  package var retryable: Int
  package var unknown: Int
  package var sourceChanged: Int
  /// How many files no journal has a result for.
  package var missing: Int
  /// How many files were accepted twice or more, and how many others may have been.
  package var duplicates: Int
  package var maybeDuplicates: Int
  /// How many bytes the files have that were accepted.
  package var bytes: Int64
  /// The exit code.
  package var exit: Int

  package init(
    manifest: String, shard: String?, journals: Int, openJournals: Int, damagedJournals: Int,
    isListed: Bool, files: Int, ok: Int, failed: Int, retryable: Int, unknown: Int,
    sourceChanged: Int, missing: Int, duplicates: Int,
    maybeDuplicates: Int, bytes: Int64, exit: Int
  ) {
    self.manifest = manifest
    self.shard = shard
    self.journals = journals
    self.openJournals = openJournals
    self.damagedJournals = damagedJournals
    self.isListed = isListed
    self.files = files
    self.ok = ok
    self.failed = failed
    self.retryable = retryable
    self.unknown = unknown
    self.sourceChanged = sourceChanged
    self.missing = missing
    self.duplicates = duplicates
    self.maybeDuplicates = maybeDuplicates
    self.bytes = bytes
    self.exit = exit
  }

  package var json: JSONValue {
    [
      "schema": "formstream.report/1",
      "manifest": .string(manifest),
      "shard": .string(orNull: shard),
      "journals": .integer(Int64(journals)),
      "open_journals": .integer(Int64(openJournals)),
      "damaged_journals": .integer(Int64(damagedJournals)),
      "listed": .boolean(isListed),
      "files": .integer(Int64(files)),
      "ok": .integer(Int64(ok)),
      "failed": .integer(Int64(failed)),
      "retryable": .integer(Int64(retryable)),
      "unknown": .integer(Int64(unknown)),
      "source_changed": .integer(Int64(sourceChanged)),
      "missing": .integer(Int64(missing)),
      "duplicates": .integer(Int64(duplicates)),
      "maybe_duplicates": .integer(Int64(maybeDuplicates)),
      "bytes": .integer(bytes),
      "exit": .integer(Int64(exit)),
    ]
  }
}
