package import FormStreamJSON

extension BatchTotals {
  /// The record at the end of a run: `formstream.summary/1`.
  ///
  /// - Parameters:
  ///   - manifest: the id of the manifest; nil if there is none.
  ///   - round: the round that was sent; nil if the files were not recorded.
  ///   - isResumed: whether the run has gone on with a round that an earlier run had begun.
  ///   - concurrency: how many requests there were at the same time in the end.
  ///   - exit: the exit code.
  package func record(
    manifest: String?, shard: Shard?, round: Round?, isResumed: Bool, concurrency: Int,
    duration: Duration, exit: Int
  ) -> JSONValue {
    [
      "schema": "formstream.summary/1",
      "manifest": .string(orNull: manifest),
      "shard": .string(orNull: shard?.description),
      "round": round?.json ?? .null,
      "resumed": .boolean(isResumed),
      "files": .integer(Int64(listed)),
      "ok": .integer(Int64(self[.ok])),
      "failed": .integer(Int64(self[.failed])),
      "retryable": .integer(Int64(self[.retryable])),
      "unknown": .integer(Int64(self[.unknown])),
      "source_changed": .integer(Int64(self[.sourceChanged])),
      "skipped": .integer(Int64(self[.skipped])),
      "jobs": .integer(Int64(concurrency)),
      "bytes": .integer(acceptedBytes),
      "seconds": .fraction(rounding: duration / .seconds(1)),
      "exit": .integer(Int64(exit)),
    ]
  }
}
