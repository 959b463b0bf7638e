import FormStreamBatch
import FormStreamHTTP
import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

/// The summary of `send`: how many files ended in each state, and the exit code.
struct SendSummary {
  private let totals: BatchTotals
  private let concurrency: Int
  private let duration: Duration
  private let failure: Failure?
  private let earlyEnd: EarlyEnd?
  private let signal: Int32?
  private let plan: SendPlan
  private let input: PreparedBatch
  private let failedList: FailedList?

  init(
    _ totals: BatchTotals, concurrency: Int, duration: Duration, failure: Failure?, earlyEnd: EarlyEnd?,
    signal: Int32?, plan: SendPlan, input: PreparedBatch, failedList: FailedList?
  ) {
    (self.totals, self.concurrency) = (totals, concurrency)
    self.duration = duration
    self.failure = failure
    self.earlyEnd = earlyEnd
    self.signal = signal
    self.plan = plan
    self.input = input
    self.failedList = failedList
  }

  /// How many files were listed and not begun.
  private var notBegun: Int { max(0, totals.listed - totals.finished) }

  /// The exit code: the worst code of any file.
  var exit: ExitCode {
    if let signal {
      return plan.exit(after: signal)
    }
    let unreadable = totals.unreadable
    let worst = ExitCode.worst(of: [
      (.unknown, totals[.unknown] > 0 || totals.skippedInDoubt > 0),
      (.failed, totals[.failed] > unreadable),
      (.inputOutput, totals[.sourceChanged] > 0),
      (.noInput, unreadable > 0),
      (.retryable, totals[.retryable] > 0 || notBegun > 0),
    ])
    return ExitCode.worst(of: [worst, failure?.exit].compactMap(\.self)) ?? .ok
  }

  var record: JSONValue {
    totals.record(
      manifest: input.manifest, shard: plan.batch.shard, round: round, isResumed: input.isResumed, concurrency: concurrency,
      duration: duration, exit: Int(exit.rawValue))
  }

  /// The round that was sent; nil without a recorded listing.
  private var round: Round? {
    guard var round = input.listing?.round else { return nil }
    // In the first round, all files are new.
    if round.number == 1 { round.new = totals.listed - totals.unlistedDirectories }
    return round
  }

  /// Whether the run has gone through all files, so that the same command would begin a new round.
  private var isFinished: Bool {
    plan.batch.manifest == nil && totals.isListed && signal == nil && earlyEnd == nil && failure == nil
  }

  /// The states in one sentence.
  var sentence: String {
    if let listing = input.listing, listing.kind == .nothingNew {
      return listing.round.unchanged == 0
        ? "There are no files."
        : "Nothing is new: \(counted(listing.round.unchanged, "file is", "files are")) as earlier runs sent them."
    }
    if totals.listed > 0, totals[.skipped] == totals.listed, totals.skippedInDoubt == 0 {
      return
        "Nothing is left to do: earlier runs sent \(totals.listed == 1 ? "the file" : "all \(totals.listed) files")."
    }
    let rest = notBegun > 0 ? ["\(notBegun) not begun"] : []
    // A run that ended itself has not listed all files.
    let isOpen = earlyEnd != nil && !totals.isListed
    let counts = (totals.counts + rest + (isOpen ? ["of at least \(totals.listed) listed"] : [])).joined(separator: ", ")
    return countedFiles(totals.listed, unlistedDirectories: totals.unlistedDirectories)
      + (counts.isEmpty ? "." : ": \(counts).")
  }

  /// The summary for people: at most 12 lines.
  var lines: [String] {
    var lines = [sentence] + (lineAboutRound.map { [$0] } ?? []) + [totals.amount(in: duration)] + linesAboutErrors
    if let earlyEnd, earlyEnd != .tooManyFailures || notBegun > 0 || !totals.isListed {
      lines.append(sentence(about: earlyEnd))
    }
    if let journal = plan.batch.journal, exit != .ok { lines.append(line(about: journal)) }
    return lines + [lineAboutRest].compactMap(\.self) + linesAboutNextCommand
  }

  /// The command that sends the failed list, and before it what it leaves out; empty if there is no such list.
  private var linesAboutNextCommand: [String] {
    guard let failedList, failedList.count > 0, let path = plan.failed?.path else { return [] }
    return [plan.next.lineAboutSecrets, "Next: \(plan.next.line(sending: path))"].compactMap(\.self)
  }

  /// The commonest errors, with the first files that had them if no messages have named the files; empty if there were none.
  var linesAboutErrors: [String] {
    // The lines about the next command need room, too.
    let lines = totals.linesAboutErrors(
      failedList == nil ? 5 : plan.next.lineAboutSecrets == nil ? 4 : 3,
      namesFiles: plan.isQuiet || plan.printsRecords)
    return lines.isEmpty ? [] : lines + [lineAboutRepetition].compactMap(\.self)
  }

  /// What would let requests be repeated whose refusal leaves open whether they were carried out; nil if there were none.
  private var lineAboutRepetition: String? {
    let statuses = RetryPolicy.unclearRefusals.sorted().filter { status in
      totals.commonestErrors(.max).contains { $0.name == "status-refused \(status)" }
    }
    guard !statuses.isEmpty, plan.batch.retry.attempts > 1, !plan.batch.sendsIdempotencyKeys,
      !plan.batch.request.options.permitTwice(plan.batch.request.method)
    else { return nil }
    let named = statuses.map(String.init).joined(separator: " or ")
    return
      "After \(named), --retry repeats a request only if --idempotency-key auto or --retry-unsafe allows it: the server may "
      + "have stored the file."
  }

  /// Which round the run has sent, and how it differs from the rounds before.
  private var lineAboutRound: String? {
    guard let listing = input.listing, listing.kind != .nothingNew else { return nil }
    let beginning = input.isResumed ? "Round \(listing.round.number), continued" : "Round \(listing.round.number)"
    guard let round, round.number > 1 else { return input.isResumed ? "\(beginning)." : nil }
    return "\(beginning): \(round.counts)."
  }

  private func sentence(about end: EarlyEnd) -> String {
    switch end {
    case .unreachable:
      "Nothing accepts connections there, or the proxy makes none, so the run was ended: try again later."
    case .overloaded:
      "The server has refused all requests for ten minutes, because it is overloaded, so the run was ended: try again later."
    case .credentialsRefused:
      "The server refused the credentials, so the run was ended: check them."
    case .proxyCredentialsRefused:
      "The proxy demands a user and a password, or other ones, so the run was ended: set them with --proxy-user-file."
    case .accessRefused(let status):
      "The server refused the first requests with \(status), so the run was ended: check the credentials, or the headers "
        + "that stand for them."
    case .tooManyFailures:
      "\(counted(totals.unaccepted, "file was", "files were")) not accepted, so the run was ended, as --max-failures says."
    }
  }

  /// What the same command would do if it ran again. Without a new round, the command does not send files that have changed
  /// since they were listed.
  private func line(about journal: LocalPath) -> String {
    let changed = totals[.sourceChanged]
    let place = "The journal is in \"\(journal)\""
    if isFinished { return "\(place): the same command lists the files again, and sends those that are left." }
    if changed == 0 { return "\(place): the same command goes on from there." }
    let files =
      "\(counted(changed, "file that has", "files that have")) changed since \(changed == 1 ? "it was" : "they were") listed"
    return changed == totals.listed - totals[.ok] - totals[.skipped]
      ? "\(place). The same command can't send \(files)."
      : "\(place). The same command goes on from there, but it can't send \(files)."
  }

  /// Where the files that were not accepted are listed, or how to list them.
  private var lineAboutRest: String? {
    if let failedList {
      guard failedList.count > 0 else { return nil }
      let missing = totals.isListed ? "" : " Files that were not listed yet are not in it."
      return
        "The failed list \(failedList.name) has \(counted(failedList.count, "file", "files")): send it with --manifest."
        + missing
    }
    guard let journal = plan.batch.journal, exit != .ok else { return nil }
    let manifest = plan.batch.manifest.map { "--manifest \"\($0)\" " } ?? ""
    let shard = plan.batch.shard.map { "--shard \($0) " } ?? ""
    return
      "To list the files that are left: formstream report \(manifest)\(shard)--failed FILE \"\(journal)\""
      + (totals[.sourceChanged] > 0 ? ", and then send it with --manifest FILE." : "")
  }
}

/// How many files there are, and how many directories that can't be listed.
///
/// - Parameter count: both together.
func countedFiles(_ count: Int, unlistedDirectories: Int) -> String {
  let files = counted(count - unlistedDirectories, "file", "files")
  if unlistedDirectories == 0 { return files }
  let directories = counted(unlistedDirectories, "directory", "directories") + " that can't be listed"
  return count == unlistedDirectories ? directories : "\(files) and \(directories)"
}
