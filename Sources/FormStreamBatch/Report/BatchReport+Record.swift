package import FormStreamJSON

extension BatchReport {
  /// The record: `formstream.report/1`.
  ///
  /// - Parameters:
  ///   - shard: the shard that the report is about; nil for all files.
  ///   - exit: the exit code.
  package func record(shard: Shard?, exit: Int) -> JSONValue {
    func count(_ state: BatchState) -> JSONValue { .integer(Int64(states[state] ?? 0)) }
    return [
      "schema": "formstream.report/1",
      "manifest": .string(manifest),
      "shard": .string(orNull: shard?.description),
      "rounds": .integer(Int64(rounds)),
      "journals": .integer(Int64(journals)),
      "open_journals": .integer(Int64(openJournals)),
      "damaged_journals": .integer(Int64(damagedJournals)),
      "listed": .boolean(isListed),
      "files": .integer(Int64(files)),
      "ok": count(.ok),
      "failed": count(.failed),
      "retryable": count(.retryable),
      "unknown": count(.unknown),
      "source_changed": count(.sourceChanged),
      "missing": .integer(Int64(missing)),
      "duplicates": .integer(Int64(duplicates)),
      "maybe_duplicates": .integer(Int64(maybeDuplicates)),
      "settled": .integer(Int64(settled)),
      "bytes": .integer(bytes),
      "exit": .integer(Int64(exit)),
    ]
  }
}
