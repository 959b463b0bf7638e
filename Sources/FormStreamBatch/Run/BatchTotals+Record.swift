package import FormStreamJSON

extension BatchTotals {
  /// The record at the end of a run: `formstream.summary/1`.
  ///
  /// - Parameters:
  ///   - manifest: the id of the manifest; nil if there is none.
  ///   - exit: the exit code.
  package func record(
    manifest: String?, shard: Shard?, duration: Duration, exit: Int
  ) -> JSONValue {
    [
      "schema": "formstream.summary/1",
      "manifest": .string(orNull: manifest),
      "shard": .string(orNull: shard?.description),
      "files": .integer(Int64(listed)),
      "ok": .integer(Int64(self[.ok])),
      "failed": .integer(Int64(self[.failed])),
      "retryable": .integer(Int64(self[.retryable])),
      "unknown": .integer(Int64(self[.unknown])),
      "source_changed": .integer(Int64(self[.sourceChanged])),
      "skipped": .integer(Int64(self[.skipped])),
      "bytes": .integer(acceptedBytes),
      "seconds": .fraction(rounding: duration / .seconds(1)),
      "exit": .integer(Int64(exit)),
    ]
  }
}
