import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTransfer

/// The files that `send` sends, and the journal that it keeps.
struct SendInput {
  let files: any BatchInput
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// The journal that is to be begun; nil without `--journal`.
  private let journal: PlannedJournal?

  private struct PlannedJournal {
    let directory: DirectoryDescriptor
    let head: JournalHead
    let earlier: JournalIndex
    let skipsDoubtful: Bool
  }

  /// Opens the files. No threads are started yet.
  init(_ plan: SendPlan) throws(Failure) {
    let directory = try plan.journal.map { (path) throws(Failure) in try Self.directory(path) }
    let extent: ManifestExtent?
    (files, extent) = try convertingErrors { () throws(BatchError) in
      try Self.open(plan, directory)
    }
    manifest = extent?.id
    guard let directory, let path = plan.journal, let extent else {
      journal = nil
      return
    }
    let head = JournalHead(
      manifest: extent.id, shard: plan.shard?.description,
      url: plan.sending.request.url.description, boot: JournalHead.currentBoot(),
      isHarmlessTwice: plan.sending.isHarmlessInLaterRuns, sliceSize: plan.sending.sliceSize,
      manifestBytes: extent.records?.upperBound)
    let earlier = try convertingErrors { () throws(BatchError) in
      try JournalIndex(
        of: extent, shard: plan.shard, in: path, boot: head.boot, sliceSize: head.sliceSize)
    }
    if let other = earlier.urls.first(where: { $0 != head.url }) {
      throw .usage(
        "The journal \"\(path)\" is that of a run to \(other), and this one is to \(head.url): name another directory."
      )
    }
    journal = PlannedJournal(
      directory: directory, head: head, earlier: earlier, skipsDoubtful: plan.skipsDoubtful)
  }

  /// Begins the journal; nil if there is none.
  func beginJournal() throws(Failure) -> BatchRun.Journal? {
    guard let journal else { return nil }
    let writer = try convertingErrors { () throws(BatchError) in
      try (files as? RecordedListing)?.leaveRoom(upTo: journal.earlier.end)
      return try JournalWriter(in: journal.directory, journal.head)
    }
    return BatchRun.Journal(
      writer: writer, earlier: journal.earlier, skipsDoubtful: journal.skipsDoubtful)
  }

  /// The files, and their manifest if there is one.
  private static func open(
    _ plan: SendPlan, _ directory: DirectoryDescriptor?
  ) throws(BatchError) -> (any BatchInput, ManifestExtent?) {
    if let manifest = plan.manifest {
      guard !RecordedListing.isPartial(manifest) else {
        throw BatchError(
          .manifestMalformed, on: manifest.description,
          "The manifest \"\(manifest)\" is not complete: the command that makes it goes on with it."
        )
      }
      let reader = try ManifestReader(
        manifest, shard: plan.shard, followsLinks: plan.listing.followsLinks)
      return (reader, reader.extent)
    }
    guard let directory, let path = plan.journal else {
      return (try FileListing(plan.sources, plan.listing), nil)
    }
    var options = plan.listing
    options.journals = try? FileStatus(of: path, followsSymlinks: true).identity
    let listing = try RecordedListing(
      in: directory, at: path, named: BatchSource.listingName(of: plan.sources, options),
      followsLinks: options.followsLinks
    ) { () throws(BatchError) in
      try FileListing(plan.sources, options)
    }
    return (listing, listing.extent)
  }

  private static func directory(_ path: LocalPath) throws(Failure) -> DirectoryDescriptor {
    do throws(SystemError) {
      return try DirectoryDescriptor(openingOrMaking: path)
    } catch {
      throw .unusableDirectory(
        path, cause: error,
        description: "The directory \"\(path)\" of --journal can't be used: \(error).")
    }
  }
}
