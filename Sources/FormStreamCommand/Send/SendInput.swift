import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The files that `send` sends, and the journal that it keeps.
struct SendInput {
  let files: any BatchInput
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// The journal that is to be begun; nil without `--journal`.
  private let journal: PlannedJournal?

  /// The entries that were found and not listed.
  var leftOut: LeftOutEntries { files.leftOut }

  private struct PlannedJournal {
    let directory: DirectoryDescriptor
    let head: JournalHead
    let earlier: JournalIndex
    let skipsDoubtful: Bool
  }

  /// Opens the files, and makes sure that no two are sent to one URL.
  ///
  /// - Parameter noteCompared: is called for each file whose URL is compared.
  init(_ plan: SendPlan, noteCompared: @escaping () -> Void) throws(Failure) {
    let directory = try plan.journal.map { (path) throws(Failure) in try Self.directory(path) }
    var (files, extent) = try convertingErrors { () throws(BatchError) in
      try Self.open(plan, directory)
    }
    manifest = extent?.id
    if let manifest = plan.manifest {
      try convertingErrors { () throws(BatchError) in
        try plan.batch.packing.check(ManifestReader(manifest, shard: plan.shard))
      }
    }
    let check = URLCheck(
      plan.batch, hasOneRoot: files.hasOneRoot, hasIndices: plan.manifest == nil,
      in: plan.listing.temporaryDirectory, noteCompared: noteCompared)
    if let check, let manifest = plan.manifest {
      // This checks the complete manifest, because other runs may send its other shards.
      try convertingErrors { () throws(BatchError) in try check.check(ManifestReader(manifest)) }
    }
    guard let directory, let path = plan.journal, let id = extent?.id else {
      if let check, plan.manifest == nil {
        files = try convertingErrors { [files] () throws(BatchError) in try check.checked(files) }
      }
      self.files = files
      journal = nil
      return
    }
    let earlier = try Self.earlierRuns(of: extent, plan, in: path)
    if let check, let listing = files as? RecordedListing {
      files = try convertingErrors { () throws(BatchError) in
        try listing.leaveRoom(upTo: earlier.end)
        do throws(BatchError) { return try check.checked(listing) } catch {
          // The next run lists the files again, so that the user can correct what is wrong.
          if earlier.journalCount == 0 { RecordedListing.remove(from: directory) }
          throw error
        }
      }
      // The manifest is complete now.
      extent = try convertingErrors { () throws(BatchError) in try Self.open(plan, directory).1 }
    }
    self.files = files
    let head = JournalHead(
      manifest: id, shard: plan.shard?.description,
      url: plan.batch.request.url.description, boot: JournalHead.currentBoot,
      isHarmlessTwice: plan.batch.isHarmlessInLaterRuns, sliceSize: plan.batch.sliceSize,
      manifestBytes: extent?.records?.upperBound, template: try Self.template(plan, id))
    journal = PlannedJournal(
      directory: directory, head: head, earlier: earlier, skipsDoubtful: plan.skipsDoubtful)
  }

  /// What the journals of earlier runs say.
  private static func earlierRuns(
    of extent: ManifestExtent?, _ plan: SendPlan, in path: LocalPath
  ) throws(Failure) -> JournalIndex {
    guard let extent else { return JournalIndex() }
    let earlier = try convertingErrors { () throws(BatchError) in
      try JournalIndex(
        of: extent, shard: plan.shard, in: path, boot: JournalHead.currentBoot,
        sliceSize: plan.batch.sliceSize)
    }
    let url = plan.batch.request.url.description
    if let other = earlier.urls.first(where: { $0 != url }) {
      throw .usage(
        "The journal \"\(path)\" belongs to a run to \(other), and this one is to \(url): name another directory."
      )
    }
    let template = try Self.template(plan, extent.id)
    if template == nil, !earlier.templates.isEmpty {
      throw .usage(
        "The journal \"\(path)\" belongs to a run with --put, and this one sends forms: name another directory."
      )
    }
    if template != nil, earlier.sendsForms {
      throw .usage(
        "The journal \"\(path)\" belongs to a run that sends forms, and this one sends files as they are: name another "
          + "directory.")
    }
    if earlier.templates.contains(where: { $0 != template }) {
      throw .usage(
        "The journal \"\(path)\" belongs to a run to another URL, or to other URLs of the files: name another directory."
      )
    }
    return earlier
  }

  private static func template(
    _ plan: SendPlan, _ manifest: String
  ) throws(Failure) -> String? {
    try convertingErrors { () throws(BatchError) in try plan.batch.urlName(for: manifest) }
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
        path, of: "--journal", cause: error,
        description: "The directory \"\(path)\" of --journal can't be used: \(error).")
    }
  }
}
