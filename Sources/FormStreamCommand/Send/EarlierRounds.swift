import FormStreamBatch
import FormStreamHTTP
import FormStreamMultipart

/// What a directory of journals has of the runs before this one.
struct EarlierRounds {
  private let path: LocalPath
  private let rounds: RecordedRounds
  private let journals: JournalSet
  /// The ids of the rounds' manifests.
  private let manifests: [String]

  /// - Throws: a failure if the directory has journals of runs to other URLs.
  init(in path: LocalPath, of plan: SendPlan) throws(Failure) {
    self.path = path
    (rounds, journals) = try convertingErrors { () throws(BatchError) in
      (try RecordedRounds(in: path), try JournalSet(in: [path]))
    }
    var manifests: [String] = []
    for manifest in rounds.manifests {
      manifests.append(
        try convertingErrors { () throws(BatchError) in try ManifestReader(manifest).id })
    }
    self.manifests = manifests
    // A manifest that was named has nothing to do with the rounds.
    if plan.manifest == nil { for manifest in manifests { try checkURL(plan, manifest) } }
  }

  /// Whether a run has gone through all files of the last round.
  var isLastFinished: Bool {
    get throws(BatchError) {
      guard let last = manifests.last else { return false }
      return try journals.isFinished(last)
    }
  }

  func hasJournals(of manifest: ManifestExtent) -> Bool {
    !journals.heads(ofManifest: manifest.id).isEmpty
  }

  /// What a new round is compared with.
  func comparison(_ plan: SendPlan) throws(BatchError) -> RecordedListing.Comparison {
    var rules = plan.comparison
    rules.sliceSize = plan.batch.sliceSize
    return RecordedListing.Comparison(
      rounds: rounds, manifests: try EarlierManifests(of: journals, ofFamily: Set(manifests)), rules: rules,
      temporaryDirectory: plan.listing.temporaryDirectory)
  }

  /// What the journals of a manifest say.
  func index(of manifest: ManifestExtent, _ plan: SendPlan) throws(Failure) -> JournalIndex {
    try checkURL(plan, manifest.id)
    return try convertingErrors { () throws(BatchError) in
      try JournalIndex(
        of: manifest, shard: plan.shard, in: journals, boot: JournalHead.currentBoot,
        sliceSize: plan.batch.sliceSize)
    }
  }

  /// Fails if an earlier run has sent the files of a manifest to another URL.
  private func checkURL(_ plan: SendPlan, _ manifest: String) throws(Failure) {
    let url = plan.batch.request.url.description
    let template = try convertingErrors { () throws(BatchError) in
      try plan.batch.urlName(for: manifest)
    }
    for head in journals.heads(ofManifest: manifest) {
      if head.url != url {
        throw .usage(
          "The journal \"\(path)\" belongs to a run to \(head.url), and this one is to \(url): name another directory."
        )
      }
      if template == nil, head.template != nil {
        throw .usage(
          "The journal \"\(path)\" belongs to a run with --put, and this one sends forms: name another directory."
        )
      }
      if template != nil, head.template == nil {
        throw .usage(
          "The journal \"\(path)\" belongs to a run that sends forms, and this one sends files as they are: name another "
            + "directory.")
      }
      if head.template != template {
        throw .usage(
          "The journal \"\(path)\" belongs to a run to another URL, or to other URLs of the files: name another directory."
        )
      }
    }
  }
}
