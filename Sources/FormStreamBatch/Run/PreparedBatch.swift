import FormStreamDigest
import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

/// The files of a batch, and the journal that is kept, before the first request.
package struct PreparedBatch {
  /// The batch as it is sent: with the id of its manifest, if there is one.
  package let batch: Batch
  package let files: any BatchInput
  /// The id of the manifest; nil if there is none.
  package let manifest: String?
  /// The listing that is recorded beside the journal; nil if there is none.
  package let listing: RecordedListing?
  /// The journal that is to be begun; nil if none is kept, or if there is nothing to send.
  private let journal: PlannedJournal?

  /// Whether an earlier run has sent files of the same manifest.
  package var isResumed: Bool { journal?.isResumed ?? false }

  private struct PlannedJournal {
    let directory: DirectoryDescriptor
    let head: JournalHead
    let rounds: EarlierRounds
    let earlier: JournalIndex
    let skipsDoubtful: Bool
    /// Whether there are journals of the same manifest.
    let isResumed: Bool

    init(
      _ directory: DirectoryDescriptor, _ manifest: ManifestExtent, parent: String? = nil,
      _ rounds: EarlierRounds, _ earlier: JournalIndex, _ batch: Batch
    ) throws(BatchError) {
      (self.directory, self.rounds, self.earlier) = (directory, rounds, earlier)
      isResumed = rounds.hasJournals(of: manifest)
      skipsDoubtful = batch.skipsDoubtful
      head = JournalHead(
        manifest: manifest.id, shard: batch.shard?.description,
        url: batch.request.url.description, boot: JournalHead.currentBoot,
        isHarmlessTwice: batch.isHarmlessInLaterRuns, sliceSize: batch.sliceSize,
        manifestBytes: manifest.records?.upperBound,
        template: try batch.urlName(for: manifest.id),
        manifestPath: batch.manifest.flatMap { try? resolved($0) }, parent: parent,
        begun: nanosecondsSince1970(), run: UUIDText.random())
    }
  }

  /// Opens the files, and makes sure that no two are sent to one URL. This may take long: it reads journals, and may list and
  /// compare all files.
  ///
  /// - Parameter observe: receives what is done with each file.
  package init(
    _ batch: Batch, observe: @escaping BatchPreparation.Observer = { _ in }
  ) throws(BatchError) {
    var batch = batch
    func makeCheck(hasOneRoot: Bool) -> URLCheck? {
      URLCheck(
        batch, hasOneRoot: hasOneRoot, hasIndices: batch.manifest == nil,
        in: batch.listing.temporaryDirectory, noteCompared: { observe(.comparingURLs) })
    }
    guard batch.manifest == nil, let path = batch.journal else {
      self = try Self(ofManifestOrFilesIn: batch, makeCheck)
      return
    }
    let directory = try Self.directory(path)
    let rounds = try EarlierRounds(in: path, of: batch)
    let listing = try Self.listing(
      batch, rounds, in: directory, at: path, observe, makeCheck)
    self.listing = listing
    manifest = listing.extent.id
    (batch.id, batch.hasManifest) = (listing.extent.id, true)
    // The files that an earlier round could not send come first if the others are unchanged, and may be refused again.
    batch.hasAccess = listing.round.again > 0 && listing.round.unchanged > 0
    self.batch = batch
    guard listing.kind != .nothingNew else {
      (files, journal) = (listing, nil)
      return
    }
    let earlier = try rounds.index(of: listing.extent, at: listing.path)
    var (files, extent): (any BatchInput, ManifestExtent) = (listing, listing.extent)
    if listing.kind == .round, let check = makeCheck(hasOneRoot: listing.hasOneRoot) {
      try listing.leaveRoom(upTo: earlier.end)
      files = try check.checked(listing)
      // The manifest is complete now.
      extent = try listing.completedExtent()
    }
    self.files = files
    journal = try PlannedJournal(directory, extent, rounds, earlier, batch)
  }

  /// Opens the files of a manifest, or those that are listed without a journal.
  private init(
    ofManifestOrFilesIn batch: Batch, _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(BatchError) {
    listing = nil
    guard let path = batch.manifest else {
      let listing = try FileListing(batch.sources, batch.listing)
      files = try makeCheck(listing.hasOneRoot)?.checked(listing) ?? listing
      (self.batch, manifest, journal) = (batch, nil, nil)
      return
    }
    let reader = try Self.manifest(at: path, batch, makeCheck)
    (files, manifest) = (reader, reader.id)
    var batch = batch
    (batch.id, batch.hasManifest) = (reader.id, true)
    self.batch = batch
    guard let directory = batch.journal else {
      journal = nil
      return
    }
    let opened = try Self.directory(directory)
    if reader.isFailedList { try SentFailedList.keep(reader, in: opened) }
    let rounds = try EarlierRounds(in: directory, of: batch)
    let earlier = try rounds.index(of: reader.extent, at: path)
    journal = try PlannedJournal(opened, reader.extent, parent: reader.parent, rounds, earlier, batch)
  }

  /// Opens a manifest that was named.
  private static func manifest(
    at path: LocalPath, _ batch: Batch, _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(BatchError) -> ManifestReader {
    guard !RecordedRounds.isPartial(path) else {
      throw BatchError(
        .manifestMalformed, on: path.description,
        "The manifest \"\(path)\" is not complete: the command that makes it goes on with it.")
    }
    let reader = try ManifestReader(
      path, shard: batch.shard, followsLinks: batch.listing.followsLinks)
    try batch.packing.check(ManifestReader(path, shard: batch.shard))
    // This checks the complete manifest, because other runs may send its other shards.
    try makeCheck(reader.hasOneRoot)?.check(ManifestReader(path))
    return reader
  }

  /// The files of the round that is not finished, or of a new round.
  private static func listing(
    _ batch: Batch, _ rounds: EarlierRounds, in directory: DirectoryDescriptor,
    at path: LocalPath, _ observe: @escaping BatchPreparation.Observer,
    _ makeCheck: (_ hasOneRoot: Bool) -> URLCheck?
  ) throws(BatchError) -> RecordedListing {
    var options = batch.listing
    options.journals = try? FileStatus(of: path, followsSymlinks: true).identity
    let name = try BatchSource.listingName(of: batch.sources, options)
    let list = { [options] () throws(BatchError) in try FileListing(batch.sources, options) }
    if !batch.rounds.beginsRounds, try RecordedListing.manifests(in: path).isEmpty {
      throw BatchError(
        .journalMisplaced, on: path.description,
        "There is nothing to resume in the directory \(path.description.quoted): check its name, or \(BatchSettingName.beginsRounds)."
      )
    }
    guard batch.rounds.beginsRounds, try rounds.isLastFinished else {
      return try RecordedListing(
        in: directory, at: path, named: name, followsLinks: options.followsLinks,
        hasJournals: { manifest throws(BatchError) in
          // A run may have begun its journal after the directory was read.
          try !JournalSet(in: [path]).heads(ofManifest: manifest).isEmpty
        }, list)
    }
    return try RecordedListing.newRound(
      in: directory, at: path, named: name, followsLinks: options.followsLinks,
      after: rounds.comparison, observe, makeCheck: makeCheck, list)
  }

  /// Begins the journal; nil if there is none.
  package func beginJournal() throws(BatchError) -> BatchRun.Journal? {
    guard let journal else { return nil }
    try listing?.leaveRoom(upTo: journal.earlier.end)
    let writer = try JournalWriter(in: journal.directory, journal.head)
    do throws(BatchError) {
      try journal.rounds.checkAgain()
      try listing?.noteJournal()
    } catch {
      try? writer.close()
      throw error
    }
    return BatchRun.Journal(
      writer: writer, earlier: journal.earlier, skipsDoubtful: journal.skipsDoubtful)
  }

  private static func directory(_ path: LocalPath) throws(BatchError) -> DirectoryDescriptor {
    do throws(SystemError) {
      return try DirectoryDescriptor(openingOrMaking: path)
    } catch {
      throw BatchError(
        .journalUnusable, on: path.description,
        "The directory \(path.description.quoted) of the journal can't be used: \(error).", underlying: error)
    }
  }
}
