import FormStreamBatch
import FormStreamJSON
import FormStreamPlatform

/// The summary of `get`: how many URLs ended in each state, and the exit code.
struct GetSummary {
  let totals: BatchTotals
  /// How many requests were sent.
  let requested: Int
  let duration: Duration
  let atOnce: Int
  let exit: ExitCode

  /// Prints the summary: a record with `--json`, otherwise lines for people.
  func print(_ printing: PlannedPrinting) throws(Failure) {
    if printing.printsRecord {
      let record = totals.record(
        manifest: nil, shard: nil, round: nil, isResumed: false, concurrency: atOnce,
        duration: duration, exit: Int(exit.rawValue))
      try OutputFile(.standardOutput).write(record.line())
    } else if !printing.hidesFailures, !printing.isQuiet || exit != .ok {
      for line in lines(namesFiles: printing.isQuiet) { StandardError.write(line) }
    }
  }

  private func lines(namesFiles: Bool) -> [String] {
    let notBegun = max(0, totals.listed - totals.finished)
    let counts = totals.counts + (notBegun > 0 ? ["\(notBegun) not begun"] : [])
    let sentence = [counted(totals.listed, "URL", "URLs"), counts.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: ": ")
    let amount = requested > 0 ? totals.amount(in: duration) : "Nothing was requested."
    return ["\(sentence).", amount]
      + totals.linesAboutErrors(5, namesFiles: namesFiles)
  }
}
