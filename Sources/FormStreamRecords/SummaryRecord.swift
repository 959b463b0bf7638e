/// The end of a run that sends many files: `formstream.summary/1`.
package struct SummaryRecord: Hashable, Sendable {
  /// The id of the manifest; nil if there is none.
  package var manifest: String?
  /// The shard, such as `3/64`; nil if there is none.
  package var shard: String?
  /// How many files were found.
  package var files: Int
  /// How many files have each outcome. A file that was not begun when the run was stopped has none.
  package var ok: Int
  package var failed: Int
  package var retryable: Int
  package var unknown: Int
  package var sourceChanged: Int
  /// Files that were not to be sent, because an earlier run had sent them.
  package var skipped: Int
  /// How many bytes the files have that were accepted.
  package var bytes: Int64
  package var seconds: Double
  /// The exit code.
  package var exit: Int

  package init(
    manifest: String?, shard: String?, files: Int, ok: Int, failed: Int, retryable: Int,
    unknown: Int, sourceChanged: Int, skipped: Int, bytes: Int64, seconds: Double, exit: Int
  ) {
    self.manifest = manifest
    self.shard = shard
    self.files = files
    self.ok = ok
    self.failed = failed
    self.retryable = retryable
    self.unknown = unknown
    self.sourceChanged = sourceChanged
    self.skipped = skipped
    self.bytes = bytes
    self.seconds = seconds
    self.exit = exit
  }

  package var json: JSONValue {
    [
      "schema": "formstream.summary/1",
      "manifest": .string(orNull: manifest),
      "shard": .string(orNull: shard),
      "files": .integer(Int64(files)),
      "ok": .integer(Int64(ok)),
      "failed": .integer(Int64(failed)),
      "retryable": .integer(Int64(retryable)),
      "unknown": .integer(Int64(unknown)),
      "source_changed": .integer(Int64(sourceChanged)),
      "skipped": .integer(Int64(skipped)),
      "bytes": .integer(bytes),
      "seconds": .fraction(rounding: seconds),
      "exit": .integer(Int64(exit)),
    ]
  }
}
