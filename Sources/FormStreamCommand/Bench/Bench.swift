import FormStreamJSON
import FormStreamPlatform

/// Runs `bench`: uploads the same bytes by each program in turn, and says what that has cost.
func bench(_ plan: BenchPlan) throws(Failure) {
  guard canOpenDescriptors(wanting: 256, needing: 32, free: 24) else {
    throw Failure(
      .inputOutput, "Too few files can be open at once to measure anything: allow 32 or more with ulimit -n.")
  }
  let plot = try plan.plot.map { target throws(Failure) in try OutputFile(target, of: "--plot") }
  let output = try OutputFile(.standardOutput)
  let interruption = Interruption(gracePeriod: 2, cleanup: 1)
  let isStopped = Guarded(false)
  interruption.onSignal { _ in isStopped.withLock { $0 = true } }
  let run = try BenchRun(plan, isStopped: { isStopped.withLock(\.self) })
  try run.measure { text in
    if !plan.isQuiet { StandardError.note(text) }
  }
  if let signal = interruption.end() { throw Failure(ExitCode(signal: signal), "The measurement was ended.") }
  let result = run.result
  if plan.printsRecord {
    try output.write(result.record.line())
  } else if case .standardOutput? = plan.plot {
    for line in result.table.split(separator: "\n", omittingEmptySubsequences: false) { StandardError.write(String(line)) }
  } else {
    try output.write(result.table)
  }
  if let plot {
    try plot.write(BenchPlot(result).text)
    try plot.commit()
  }
  let failed = result.programs.filter { $0.failure != nil }
  // Each message is a line of its own.
  let sentences = failed.map { "\($0.name): \($0.failure ?? "")." }
  guard let last = sentences.last else { return }
  for sentence in sentences.dropLast() { StandardError.note(sentence) }
  throw Failure(failed.allSatisfy(\.isMissing) ? .noInput : .failed, last)
}
