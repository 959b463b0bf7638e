import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The checked arguments of `send`.
struct SendPlan {
  let batch: Batch
  /// The output for the manifest of the files that were not accepted.
  let failed: OutputTarget?
  /// The file that a line for each result is added to; nil if there is none.
  let log: LocalPath?
  /// The file that what the server calls each file is added to; nil if there is none.
  let map: LocalPath?
  /// Where the cookies go at the end; nil if they are not written.
  let cookieJar: LocalPath?
  let printsRecords: Bool
  let progress: ProgressMode
  /// The command that sends the failed list.
  let next: NextCommand
  let notes: [String]
  let isQuiet: Bool
}

extension SendPlan {
  init(_ arguments: LowArguments, _ input: InputReader) throws(Failure) {
    let (request, manifest) = (arguments.request, arguments.manifest)
    try request.check(keepsResponse: arguments.printsJSON && arguments.output == nil)
    try StandardInputUses(arguments).check()
    var notes: [String] = []
    var batch = try Batch(arguments, input, &notes)
    if arguments.sending.skipsDoubtful, arguments.sending.journal == nil {
      throw .usage("--skip-unknown is about what a journal says: add --journal DIR.")
    }
    batch.rounds = try arguments.sending.rounds(manifest)
    if batch.rounds.comparesContents { batch.computesDigest = true }
    // Without --url-file, the first word is the URL.
    batch.sources = try Self.sources(
      Array(request.urlFile == nil ? arguments.operands.dropFirst() : arguments.operands[...]),
      arguments.pathLists, hasManifest: manifest.manifest != nil)
    batch.shard = try manifest.chosenShard(environment: environmentVariable)
    if batch.shard != nil, manifest.manifest == nil {
      throw .usage(
        "--shard is a part of a manifest: add --manifest FILE, which formstream plan makes.")
    }
    failed = try manifest.failedTarget(besideRecords: arguments.printsJSON)
    log = try arguments.sending.log?.appendedFile(of: "--log")
    map = try arguments.sending.map?.appendedFile(of: "--map")
    batch.listing = try ListingOptions(arguments.listing, manifest)
    if let least = arguments.sending.minimumFiles {
      if manifest.manifest != nil {
        throw .usage("--at-least is about files that are listed, and --manifest names the files: leave one out.")
      }
      batch.listing.minimumFiles = least
    }
    (batch.manifest, batch.journal) = (manifest.manifest?.path, arguments.sending.journal?.path)
    batch.skipsDoubtful = arguments.sending.skipsDoubtful
    if batch.journal == nil, let journal = Self.journalOfList(batch) {
      batch.journal = journal
      notes.append("The journal in \"\(journal)\" goes on: the list is of files that its runs could not send.")
    }
    self.batch = batch
    next = try NextCommand(arguments)
    cookieJar = request.cookieJar?.path
    printsRecords = arguments.printsJSON
    progress = input.usable(request.progress)
    (self.notes, isQuiet) = (notes, request.isQuiet)
  }

  /// The directory of the journals that a list of failed files is about, if it is there and the batch sends to the same URL. Without
  /// its journal, the next round would send the files of the list again.
  private static func journalOfList(_ batch: Batch) -> LocalPath? {
    guard let manifest = batch.manifest.flatMap({ try? ManifestReader($0) }), let journal = manifest.journal,
      (try? FileStatus(of: journal, followsSymlinks: true)) != nil
    else { return nil }
    // If the journals can't be read, the run says why.
    guard let journals = try? JournalSet(in: [journal]) else { return journal }
    return manifest.belongs(to: journals, as: batch) ? journal : nil
  }

  /// The sources of the files; none if a manifest names the files.
  private static func sources(
    _ files: [Argument], _ lists: [PathList], hasManifest: Bool
  ) throws(Failure) -> [BatchSource] {
    if let dash = files.first(where: \.isDash) {
      throw .usage(
        "\(dash.named("A file")) is -, and send reads only lists from standard input: --files-from -, or ./- for a "
          + "file of that name.")
    }
    if hasManifest {
      guard files.isEmpty, lists.isEmpty else {
        throw .usage("--manifest names the files: leave out the others, and the lists.")
      }
      return []
    }
    guard !files.isEmpty || !lists.isEmpty else {
      throw .usage(
        "Name the files to send after the URL, or a list of them with --files-from, --files-from0 or --manifest."
      )
    }
    return files.map { .path($0.path) } + (try lists.sources())
  }
}

extension SendingArguments {
  /// What is sent after the files of the run before.
  fileprivate func rounds(
    _ manifest: ManifestArguments
  ) throws(Failure) -> RoundRules {
    var rules = RoundRules()
    (rules.sendsAll, rules.comparesContents) = (sendsAll, comparesContents)
    rules.beginsRounds = !resumesOnly
    let flags = [("--all", sendsAll), ("--checksum", comparesContents), ("--resume-only", resumesOnly)]
    if let flag = flags.first(where: \.1)?.0 {
      if journal == nil {
        throw .usage("\(flag) is about what a journal says: add --journal DIR.")
      }
      if manifest.manifest != nil {
        throw .usage(
          "\(flag) is about what was listed in earlier runs, and --manifest names the files: leave one out.")
      }
    }
    if resumesOnly, sendsAll {
      throw .usage("--resume-only begins no new round, and --all sends all files in one: leave one out.")
    }
    return rules
  }
}
