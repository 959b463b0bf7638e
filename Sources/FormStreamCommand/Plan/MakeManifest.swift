import FormStreamPlatform
import FormStreamBatch
import FormStreamMultipart

/// Runs `plan`: lists files in a manifest. The manifest also lists entries that can't be sent, so that no report calls
/// the files complete without them.
func makeManifest(_ plan: ManifestPlan) throws(Failure) {
  if !plan.isQuiet { warn(of: plan.sniffer) }
  let output = try ManifestOutput(plan.output)
  let listing = try convertingErrors { () throws(BatchError) in
    try FileListing(plan.sources, plan.listing)
  }
  let details =
    plan.sniffer != nil || plan.hasDigests
    ? ManifestDetails(types: plan.sniffer, hasDigests: plan.hasDigests) : nil
  guard plan.journals.isEmpty, plan.manifests.isEmpty else {
    return try makeManifest(ofRound: plan, listing, details, output)
  }
  // Nothing is written if there are too few files.
  var next = try nextFile(of: listing)
  try output.begin(ManifestEncoder(root: listing.root, hasOneRoot: listing.hasOneRoot))
  let sorter = plan.isSorted ? ManifestSorter(in: LocalPath(bytes: temporaryDirectory)) : nil
  var problems = Problems()
  var (count, directories, bytes) = (0, 0, Int64(0))
  while var file = next {
    details?.add(to: &file)
    count += 1
    if file.isDirectory { directories += 1 }
    bytes = bytes.addingClamped(file.size)
    if let problem = file.problem { problems.note(problem) }
    if let sorter {
      try convertingErrors { () throws(BatchError) in try sorter.add(file) }
    } else {
      try output.write(ManifestEncoder.line(for: file))
    }
    next = try nextFile(of: listing)
  }
  if let sorter {
    let failure = try sorter.finish { line throws(Failure) in try output.write(line) }
    if let failure { throw Failure(failure) }
  }
  try output.commit()
  if !plan.isQuiet {
    for line in listing.leftOut.lines(of: plan.listing) { StandardError.note(line) }
  }
  try end(plan, "\(countedFiles(count, unlistedDirectories: directories)), \(HumanReadable.size(bytes))", problems)
}

/// Lists what is new or has changed since earlier rounds, or what they don't prove accepted.
private func makeManifest(
  ofRound plan: ManifestPlan, _ listing: FileListing, _ details: ManifestDetails?,
  _ output: ManifestOutput
) throws(Failure) {
  var problems = Problems()
  var (directories, bytes) = (0, Int64(0))
  var entries = try convertingErrors { () throws(BatchError) in
    let earlier = try EarlierManifests(of: JournalSet(in: plan.journals), named: plan.manifests)
    try earlier.checkComplete()
    var comparison = RoundComparison(
      plan.comparison, against: earlier, in: plan.listing.temporaryDirectory)
    comparison.sharesURLs = earlier.journals.haveURLsOfFiles
    if let state = earlier.journals.state { try comparison.add(state) }
    for path in earlier.paths { try comparison.add(path) }
    return try comparison.compare(
      listing,
      complete: { file in
        details?.add(to: &file)
        if file.isDirectory { directories += 1 }
        bytes = bytes.addingClamped(file.size)
        if let problem = file.problem { problems.note(problem) }
      })
  }
  let round = entries.round
  try output.begin(ManifestEncoder(root: listing.root, hasOneRoot: listing.hasOneRoot, round: round))
  while let piece = try convertingErrors({ () throws(BatchError) in try entries.nextPiece() }) {
    try output.write(piece)
  }
  try output.commit()
  if !plan.isQuiet {
    for line in listing.leftOut.lines(of: plan.listing) { StandardError.note(line) }
    if let line = lineAboutUncompared(entries.uncompared) { StandardError.note(line) }
    StandardError.note("Round \(round.number): \(round.counts).")
  }
  try end(
    plan,
    "\(countedFiles(round.files + directories, unlistedDirectories: directories)), \(HumanReadable.size(bytes))", problems)
}

/// Says how many files the manifest has, and fails if some can't be sent.
private func end(_ plan: ManifestPlan, _ summary: String, _ problems: Problems) throws(Failure) {
  guard problems.count > 0 else {
    if !plan.isQuiet { StandardError.note("\(summary).") }
    return
  }
  throw Failure(
    .noInput,
    "\(summary), of which \(problems.count) can't be sent, see above. The manifest has them all, so that no run "
      + "forgets them.")
}

private func nextFile(of listing: FileListing) throws(Failure) -> BatchFile? {
  try convertingErrors { () throws(BatchError) in try listing.next() }
}

/// Prints the first entries that can't be sent; if there are more, a line says so.
private struct Problems {
  private static let shown = 10

  private(set) var count = 0

  mutating func note(_ problem: BatchError) {
    count += 1
    if count <= Self.shown { StandardError.note(problem.description) }
    if count == Self.shown + 1 {
      StandardError.note("More entries can't be sent; the manifest names them.")
    }
  }
}

extension LeftOutEntries {
  /// Lines about the entries that were left out, with the flags that include them, and about patterns of no use.
  func lines(of options: ListingOptions) -> [String] {
    var lines: [String] = []
    for (index, pattern) in options.includes.enumerated() where usedIncludes?.contains(index) == false {
      lines.append("No file matches --include \(pattern.description.quoted).")
    }
    if hidden > 0 {
      lines.append(
        "\(counted(hidden, "hidden name", "hidden names")) left out; --hidden lists them.")
    }
    if links > 0 {
      lines.append(
        "\(counted(links, "symbolic link", "symbolic links")) left out; --follow-symlinks follows them."
      )
    }
    if special > 0 {
      lines.append(
        "\(counted(special, "FIFO, socket or device", "FIFOs, sockets or devices")) left out.")
    }
    if directories > 0 {
      lines.append(
        "\(counted(directories, "directory", "directories")) of a list left out: a list names each file."
      )
    }
    if repeated > 0 {
      lines.append(
        "\(counted(repeated, "repeated name", "repeated names")) left out: a file that is named twice is taken once."
      )
    }
    return lines
  }
}
