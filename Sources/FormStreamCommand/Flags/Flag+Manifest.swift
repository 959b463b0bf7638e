import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The flags about a manifest and its shards.
extension Flag {
  private static let manifestVerbs: [Verb] = [.send, .report]

  static let manifestFlags = [
    Flag(
      long: "manifest", value: Value(placeholder: "FILE", completion: .path), group: .manifest,
      verbs: manifestVerbs, common: [.report],
      summary: "The manifest that names the files; plan makes one"
    ) { (arguments, argument) in arguments.manifest.manifest = argument },
    Flag(
      long: "shard", value: Value(placeholder: "K/N"), group: .manifest, verbs: manifestVerbs,
      summary: "Take only part K of N of the manifest, from 1; auto asks the job scheduler",
      detail: """
        Each file is in one part, and a part is found without reading the others. With auto, the number of the task \
        is that of JOB_COMPLETION_INDEX (Kubernetes), AWS_BATCH_JOB_ARRAY_INDEX, SLURM_ARRAY_TASK_ID or SLURM_PROCID, \
        the first that is set.
        """
    ) { (arguments, argument) in arguments.manifest.shard = argument },
    Flag(
      long: "shards", value: Value(placeholder: "N"), group: .manifest, verbs: manifestVerbs,
      summary: "How many parts there are, for --shard auto",
      detail: """
        It is never taken from the scheduler, whose count is smaller if only some tasks run again.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.manifest.shardCount = try number(argument, for: "--shards", atLeast: 1)
    },
    Flag(
      long: "shard-base", value: Value(placeholder: "N"), group: .manifest, verbs: manifestVerbs,
      summary: "The number of the first task, for --shard auto (default: 0)",
      detail: "1 is for arrays such as --array=1-64."
    ) { (arguments, argument) throws(Failure) in
      arguments.manifest.shardBase = try number(argument, for: "--shard-base", atLeast: 0)
    },
    Flag(
      long: "failed", value: Value(placeholder: "FILE", completion: .path, use: .written),
      group: .output,
      verbs: [.send, .report], common: [.send, .report],
      summary: "Write a manifest of the files that were not accepted; - is standard output",
      detail: """
        The manifest can be sent like any other. Files that may have been accepted are marked in it. For a file that has \
        changed it has the file's new size and time. It replaces an earlier list of failed files and no other file. send \
        writes it only if there are such files. Files that the run has listed and not begun are in it, too. If it is sent to the \
        same URL, the journal of the run goes on, even without --journal.
        """
    ) { (arguments, argument) in arguments.manifest.failed = argument },
    Flag(
      long: "html", value: Value(placeholder: "FILE", completion: .path, use: .written), group: .output, verbs: [.report],
      common: [.report],
      summary: "Write a page about the run: over time, slow files, errors; - is standard output",
      detail: """
        The page needs nothing else: no script, no connection. It shows how the runs of the last manifest went: files and \
        bytes over time, how many files were on their way, what took longest, and the commonest errors; and of all \
        manifests, the first 100 files that were not accepted, with the reason.
        """
    ) { (arguments, argument) in arguments.manifest.page = argument },
    Flag(
      long: "failures", group: .output, verbs: [.report], common: [.report],
      summary: "List the files that were not accepted: file, outcome, status, and what the server said",
      detail: """
        The list goes to standard output, and the report to standard error. A file has one line, with tabs between its four \
        columns. The last column is the first 200 characters of the response or, if the response says nothing, why the file \
        was not accepted. With --json, each line is a record.
        """
    ) { (arguments, _) in arguments.manifest.listsFailures = true },
    Flag(
      long: "accepted", group: .output, verbs: [.report],
      summary: "List the files that were accepted and are still there, unchanged",
      detail: """
        The list goes to standard output, a name in each line, and the report to standard error. A file that has another size \
        or time than when it was accepted is left out. So the files in the list may be removed.
        """
    ) { (arguments, _) in arguments.manifest.listsAccepted = true },
    Flag(
      long: "deletable", group: .output, verbs: [.report],
      summary: "List the manifests and journals that are not needed any more, because state.jsonl sums them up",
      detail: """
        The list goes to standard output, a name in each line, and the report to standard error. It is empty if there is no state \
        yet, or if it can't be used. Rounds, plans and reports are the same without these files. The state is needed.
        """
    ) { (arguments, _) in arguments.manifest.listsDeletable = true },
    Flag(
      long: "settle", group: .output, verbs: [.report],
      summary: "Note that you have looked at the files that were accepted twice, or maybe twice",
      detail: """
        This report and later ones don't count them any more. The same goes for journals with lines that can't be read. The note \
        is in the first directory, beside the journals.
        """
    ) { (arguments, _) in arguments.manifest.settlesDoubts = true },
  ]
}

private func number(
  _ argument: Argument, for flag: String, atLeast least: Int
) throws(Failure) -> Int {
  guard argument.shown.isASCIIDigits, let number = Int(argument.shown), number >= least else {
    throw .usage("\(argument.named(flag)) is not a number from \(least).")
  }
  return number
}

extension ManifestArguments {
  /// The chosen shard; nil for the complete manifest.
  ///
  /// - Parameter environment: the value of an environment variable.
  func chosenShard(environment: (String) -> String?) throws(Failure) -> Shard? {
    guard let argument = self.shard else {
      if shardCount != nil || shardBase != nil {
        throw .usage("--shards and --shard-base are for --shard auto: add it.")
      }
      return nil
    }
    if argument.shown == "auto" {
      guard let count = shardCount else {
        throw .usage(
          "--shard auto needs --shards N. The scheduler's own count is not used: it is smaller if only some tasks run "
            + "again, and then the last shards would not be sent.")
      }
      var variables: [String: String] = [:]
      for name in Shard.variables { variables[name] = environment(name) }
      return try convertingErrors { () throws(BatchError) in
        try Shard(fromSchedulerOf: count, base: shardBase ?? 0, in: variables)
      }
    }
    if shardBase != nil {
      throw .usage("--shard-base is for --shard auto: K is from 1 to N in any case.")
    }
    guard let shard = Shard(text: argument.shown) else {
      throw .usage(
        "\(argument.named("--shard")) is not a part: write K/N with K from 1 to N, such as 3/64, or auto."
      )
    }
    guard shardCount ?? shard.count == shard.count else {
      throw .usage(
        "--shard \(shard) and --shards name different numbers of parts: leave out --shards.")
    }
    return shard
  }
}

extension ListingOptions {
  /// Sets which files are listed.
  init(_ listing: ListingArguments, _ manifest: ManifestArguments) throws(Failure) {
    if manifest.manifest != nil, listing.choosesFiles {
      throw .usage(
        "--include, --exclude, --hidden and --keep-going choose what is listed, and --manifest names the files: give "
          + "them to plan.")
    }
    self.init()
    temporaryDirectory = LocalPath(bytes: FormStreamPlatform.temporaryDirectory)
    for argument in listing.includes { includes.append(try argument.namePattern()) }
    for argument in listing.excludes { excludes.append(try argument.namePattern()) }
    includesHidden = listing.includesHidden
    followsLinks = listing.followsLinks
    keepsGoing = listing.keepsGoing
  }
}

extension [PathList] {
  /// The named lists, as sources of a listing.
  func sources() throws(Failure) -> [BatchSource] {
    if count(where: \.file.isDash) > 1 {
      throw .usage("Standard input is named twice: it can be read once.")
    }
    return map { list in
      let input = NamedInput(list.file)
      return .list(name: input.description, ending: list.ending) { () throws(BatchError) in
        do throws(Failure) {
          return try input.open()
        } catch {
          throw BatchError(.listUnreadable, on: list.file.shown, "\(error.message)")
        }
      }
    }
  }
}

extension Argument {
  fileprivate func namePattern() throws(Failure) -> NamePattern {
    try convertingErrors { () throws(BatchError) in try NamePattern(bytes: bytes) }
  }
}
