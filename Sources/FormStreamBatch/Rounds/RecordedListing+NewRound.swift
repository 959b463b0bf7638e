import FormStreamMultipart
import FormStreamPlatform

extension RecordedListing {
  /// What a new round is compared with, and how.
  struct Comparison {
    /// The manifests of the earlier rounds; not empty.
    let rounds: RecordedRounds
    /// All manifests that journals in the directory are about.
    let manifests: EarlierManifests
    let rules: RoundRules
    /// The size of the slices in which the new round sends files; nil if it sends each file in one piece.
    let sliceSize: Int64?
    /// Whether the files that earlier rounds have delivered are kept, too.
    let keepsAccepted: Bool
    /// The directory for temporary files.
    let temporaryDirectory: LocalPath
    let cancellation: BatchCancellation?
    /// The old rounds are summed up if more rounds than this are not.
    var maximumRounds = 64
    /// How many of the last rounds are not summed up then.
    var keptRounds = 32

    /// Sums up the old rounds, if there are many. The next runs then read one file instead of many. If that fails, they read all.
    ///
    /// - Parameter last: the number of the last round.
    /// - Throws: `cancelled`.
    func sumUp(
      through last: Int, in directory: LocalPath, _ observe: @escaping BatchPreparation.Observer
    ) throws(BatchError) {
      guard last - (manifests.journals.state?.through ?? 0) > maximumRounds else { return }
      do throws(BatchError) {
        var writer = try StateWriter(manifests, in: directory, sliceSize: sliceSize, temporaryDirectory: temporaryDirectory)
        (writer.cancellation, writer.observe) = (cancellation, observe)
        _ = try writer.sumUp(through: last - keptRounds)
      } catch {
        if error.code == .cancelled { throw error }
      }
    }
  }

  /// Begins a new round: lists the files, compares them with the files of the earlier rounds, and writes a manifest of the files
  /// to send. If there is nothing to send or to note, no manifest is written.
  ///
  /// - Parameters:
  ///   - observe: receives what is done with each file.
  ///   - list: begins the listing.
  ///   - makeCheck: makes the check of the files' URLs; nil if no two files can have the same URL.
  static func newRound(
    in directory: DirectoryDescriptor, at directoryPath: LocalPath, named name: String,
    followsLinks: Bool, after earlier: Comparison, _ observe: @escaping BatchPreparation.Observer,
    makeCheck: (_ hasOneRoot: Bool) -> URLCheck?, _ list: () throws(BatchError) -> FileListing
  ) throws(BatchError) -> RecordedListing {
    var comparison = RoundComparison(
      earlier.rules, against: earlier.manifests, after: earlier.rounds.lastNumber, sliceSize: earlier.sliceSize,
      in: earlier.temporaryDirectory)
    (comparison.cancellation, comparison.observe) = (earlier.cancellation, observe)
    comparison.accepted = earlier.keepsAccepted ? AcceptedFiles(in: earlier.temporaryDirectory) : nil
    if let state = earlier.manifests.journals.state { try comparison.add(state) }
    for path in earlier.manifests.paths {
      let manifest = try ManifestReader(path, followsLinks: followsLinks)
      try Self.check(manifest, isListing: name, directoryPath)
      try comparison.add(path)
    }
    let file = try UnnamedManifest(ofRound: comparison.number, in: directory, at: directoryPath, isContinued: false)
    let listing = try list()
    let check = makeCheck(listing.hasOneRoot)
    comparison.sharesURLs = check != nil
    var entries = try comparison.compare(
      listing, look: { file throws(BatchError) in try check?.look(at: &file) })
    try check?.finish()
    if entries.isEmpty, let last = earlier.rounds.manifests.last {
      // The lock of the new manifest keeps others from writing a state.
      try withExtendedLifetime(file) { () throws(BatchError) in
        try earlier.sumUp(through: earlier.rounds.lastNumber, in: directoryPath, observe)
      }
      let manifest = try ManifestReader(last)
      return RecordedListing(
        .nothingNew, entries, manifest, leftOut: listing.leftOut, accepted: comparison.accepted)
    }
    let encoder = ManifestEncoder(
      root: listing.root, listing: name, hasOneRoot: listing.hasOneRoot, round: entries.round,
      // A line has a maximum length. The next manifests name the others.
      journals: Array(earlier.manifests.unnamedRuns.prefix(10_000)))
    try file.append(encoder.header)
    while let piece = try entries.nextPiece() { try file.append(piece) }
    let manifest = try ManifestReader(file.path, followsLinks: followsLinks)
    try earlier.sumUp(through: comparison.number, in: directoryPath, observe)
    return RecordedListing(
      .newRound, entries, manifest, leftOut: listing.leftOut, accepted: comparison.accepted, unnamed: file)
  }
}
