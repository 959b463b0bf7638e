import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTransfer

/// The files that `send` sends, and the journal that it keeps.
struct SendInput {
  let files: any BatchInput
  /// The id of the manifest; nil if there is none.
  let manifest: String?
  /// Nil without `--journal`.
  let journal: BatchRun.Journal?

  init(_ plan: SendPlan) throws(Failure) {
    let directory = try plan.journal.map { (path) throws(Failure) in try Self.directory(path) }
    (files, manifest) = try convertingErrors {
      () throws(BatchError) -> (any BatchInput, String?) in
      if let manifest = plan.manifest {
        let reader = try ManifestReader(manifest, shard: plan.shard)
        return (reader, reader.id)
      }
      guard let directory, let path = plan.journal else {
        return (try FileListing(plan.sources, plan.listing), nil)
      }
      let listing = try RecordedListing(in: directory, at: path) { () throws(BatchError) in
        try FileListing(plan.sources, plan.listing)
      }
      return (listing, listing.id)
    }
    guard let directory, let path = plan.journal, let manifest else {
      journal = nil
      return
    }
    let head = JournalHead(
      manifest: manifest, shard: plan.shard?.description,
      url: plan.sending.request.url.description, boot: JournalHead.currentBoot(),
      isHarmlessTwice: plan.sending.isHarmlessInLaterRuns, sliceSize: plan.sending.sliceSize)
    let earlier = try convertingErrors { () throws(BatchError) in
      try JournalIndex(of: manifest, in: path, boot: head.boot, sliceSize: head.sliceSize)
    }
    if let other = earlier.urls.first(where: { $0 != head.url }) {
      throw .usage(
        "The journal \"\(path)\" is that of a run to \(other), and this one is to \(head.url): name another directory."
      )
    }
    journal = BatchRun.Journal(
      writer: try convertingErrors { () throws(BatchError) in
        try JournalWriter(in: directory, head)
      }, earlier: earlier, skipsDoubtful: plan.skipsDoubtful)
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
