import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The files that `send` sends, and the journal that it keeps.
struct SendInput {
  let files: any BatchInput
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// The listing that is recorded beside the journal; nil if there is none.
  let listing: RecordedListing?
  /// What a list of failed files is made from.
  var origin: FailedList.Origin {
    let round = listing?.round ?? (files as? ManifestReader)?.round
    return FailedList.Origin(
      root: files.root, hasOneRoot: files.hasOneRoot, manifest: manifest,
      round: round?.number == 1 ? nil : round)
  }

  /// Whether an earlier run has sent files of the same manifest.
  var isResumed: Bool { journal?.isResumed ?? false }
  /// The journal that is to be begun; nil without `--journal`.
  private let journal: PlannedJournal?

  /// The entries that were found and not listed.
  var leftOut: LeftOutEntries { files.leftOut }

  private struct PlannedJournal {
    let directory: DirectoryDescriptor
    let head: JournalHead
    let earlier: JournalIndex
    let skipsDoubtful: Bool
    /// Whether there are journals of the same manifest.
    let isResumed: Bool

    init(
      _ directory: DirectoryDescriptor, _ manifest: ManifestExtent, parent: String? = nil,
      _ rounds: EarlierRounds, _ earlier: JournalIndex, _ plan: SendPlan
    ) throws(Failure) {
      (self.directory, self.earlier) = (directory, earlier)
      isResumed = rounds.hasJournals(of: manifest)
      skipsDoubtful = plan.skipsDoubtful
      head = try convertingErrors { () throws(BatchError) in
        JournalHead(
          manifest: manifest.id, shard: plan.shard?.description,
          url: plan.batch.request.url.description, boot: JournalHead.currentBoot,
          isHarmlessTwice: plan.batch.isHarmlessInLaterRuns, sliceSize: plan.batch.sliceSize,
          manifestBytes: manifest.records?.upperBound,
          template: try plan.batch.urlName(for: manifest.id),
          manifestPath: plan.manifest.flatMap { try? resolved($0) }, parent: parent)
      }
    }
  }

  /// Opens the files, and makes sure that no two are sent to one URL.
  ///
  /// - Parameter noteCompared: is called for each file whose URL is compared.
  init(_ plan: SendPlan, noteCompared: @escaping () -> Void) throws(Failure) {
    func makeCheck(hasOneRoot: Bool) -> URLCheck? {
      URLCheck(
        plan.batch, hasOneRoot: hasOneRoot, hasIndices: plan.manifest == nil,
        in: plan.listing.temporaryDirectory, noteCompared: noteCompared)
    }
    guard plan.manifest == nil, let path = plan.journal else {
      self = try Self(ofManifestOrFilesIn: plan, makeCheck)
      return
    }
    let directory = try Self.directory(path)
    let rounds = try EarlierRounds(in: path, of: plan)
    let listing = try convertingErrors { () throws(BatchError) in
      try Self.listing(plan, rounds, in: directory, at: path, makeCheck)
    }
    self.listing = listing
    manifest = listing.extent.id
    guard listing.kind != .nothingNew else {
      (files, journal) = (listing, nil)
      return
    }
    let earlier = try rounds.index(of: listing.extent, plan)
    var (files, extent): (any BatchInput, ManifestExtent) = (listing, listing.extent)
    if listing.kind == .round, let check = makeCheck(hasOneRoot: listing.hasOneRoot) {
      (files, extent) = try convertingErrors { [extent] () throws(BatchError) in
        try listing.leaveRoom(upTo: earlier.end)
        let files: any BatchInput
        do throws(BatchError) { files = try check.checked(listing) } catch {
          // The next run lists the files again, so that the user can correct what is wrong.
          if listing.round.number == 1, !rounds.hasJournals(of: extent) { RecordedListing.remove(from: directory) }
          throw error
        }
        // The manifest is complete now.
        return (files, try listing.completedExtent(at: path))
      }
    }
    self.files = files
    journal = try PlannedJournal(directory, extent, rounds, earlier, plan)
  }

  /// Opens the files of a manifest, or those that are listed without a journal.
  private init(
    ofManifestOrFilesIn plan: SendPlan, _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(Failure) {
    listing = nil
    guard let path = plan.manifest else {
      files = try convertingErrors { () throws(BatchError) in
        let listing = try FileListing(plan.sources, plan.listing)
        return try makeCheck(listing.hasOneRoot)?.checked(listing) ?? listing
      }
      (manifest, journal) = (nil, nil)
      return
    }
    let reader = try convertingErrors { () throws(BatchError) in
      try Self.manifest(at: path, plan, makeCheck)
    }
    (files, manifest) = (reader, reader.id)
    journal = try plan.journal.map { directory throws(Failure) in
      let opened = try Self.directory(directory)
      let rounds = try EarlierRounds(in: directory, of: plan)
      let earlier = try rounds.index(of: reader.extent, plan)
      return try PlannedJournal(
        opened, reader.extent, parent: reader.parent, rounds, earlier, plan)
    }
  }

  /// Opens a manifest that was named.
  private static func manifest(
    at path: LocalPath, _ plan: SendPlan, _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(BatchError) -> ManifestReader {
    guard !RecordedRounds.isPartial(path) else {
      throw BatchError(
        .manifestMalformed, on: path.description,
        "The manifest \"\(path)\" is not complete: the command that makes it goes on with it.")
    }
    let reader = try ManifestReader(
      path, shard: plan.shard, followsLinks: plan.listing.followsLinks)
    try plan.batch.packing.check(ManifestReader(path, shard: plan.shard))
    // This checks the complete manifest, because other runs may send its other shards.
    try makeCheck(reader.hasOneRoot)?.check(ManifestReader(path))
    return reader
  }

  /// The files of the round that is not finished, or of a new round.
  private static func listing(
    _ plan: SendPlan, _ rounds: EarlierRounds, in directory: DirectoryDescriptor,
    at path: LocalPath, _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(BatchError) -> RecordedListing {
    var options = plan.listing
    options.journals = try? FileStatus(of: path, followsSymlinks: true).identity
    let name = try BatchSource.listingName(of: plan.sources, options)
    let list = { [options] () throws(BatchError) in try FileListing(plan.sources, options) }
    if plan.resumesOnly, try RecordedListing.manifests(in: path).isEmpty {
      throw BatchError(
        .journalMisplaced, on: path.description,
        "There is nothing to resume in the directory \(path.description.quoted): check its name, or leave --resume-only out."
      )
    }
    guard !plan.resumesOnly, try rounds.isLastFinished else {
      return try RecordedListing(
        in: directory, at: path, named: name, followsLinks: options.followsLinks, list)
    }
    return try RecordedListing.newRound(
      in: directory, at: path, named: name, followsLinks: options.followsLinks,
      after: rounds.comparison(plan), makeCheck: makeCheck, list)
  }

  /// Begins the journal; nil if there is none.
  func beginJournal() throws(Failure) -> BatchRun.Journal? {
    guard let journal else { return nil }
    let writer = try convertingErrors { () throws(BatchError) in
      try listing?.leaveRoom(upTo: journal.earlier.end)
      return try JournalWriter(in: journal.directory, journal.head)
    }
    return BatchRun.Journal(
      writer: writer, earlier: journal.earlier, skipsDoubtful: journal.skipsDoubtful)
  }

  private static func directory(_ path: LocalPath) throws(Failure) -> DirectoryDescriptor {
    do throws(SystemError) {
      return try DirectoryDescriptor(openingOrMaking: path)
    } catch {
      throw .unusableDirectory(
        path, of: "--journal", cause: error,
        description: "The directory \"\(path)\" of --journal can't be used: \(error).")
    }
  }
}
