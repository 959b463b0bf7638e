import FormStreamHTTP
import FormStreamMultipart

/// What a directory of journals has of the runs before this one.
struct EarlierRounds {
  private let path: LocalPath
  private let batch: Batch
  private let rounds: RecordedRounds
  private let journals: JournalSet
  /// The manifests of the rounds; nil if there are none, and no journals either.
  private let earlier: EarlierManifests?
  /// The ids of the rounds' manifests.
  private let manifests: [String]

  /// - Throws: `journalMisplaced` if the directory has journals of runs to other URLs.
  init(in path: LocalPath, of batch: Batch) throws(BatchError) {
    (self.path, self.batch) = (path, batch)
    let journals = try Self.journals(in: path, of: batch)
    let isBegun =
      try !RecordedRounds(in: path).manifests.isEmpty || !journals.manifests.isEmpty || RecordedState.identity(in: path) != nil
    earlier = isBegun ? try EarlierManifests(of: journals, taking: .rounds(in: path)) : nil
    self.journals = earlier?.journals ?? journals
    rounds = try RecordedRounds(in: path, besides: self.journals.state)
    var manifests: [String] = []
    for manifest in rounds.manifests { manifests.append(try ManifestReader.header(of: manifest).id) }
    self.manifests = manifests
    guard let earlier else { return }
    try earlier.checkRounds()
    // A manifest that was named has nothing to do with the rounds.
    if batch.manifest == nil { for manifest in manifests { try checkURL(manifest) } }
  }

  /// Throws if the files of old rounds were deleted after they were read: `report --deletable` knows of a run only by its journal.
  ///
  /// - Throws: `journalUnreadable` or `manifestUnreadable`.
  func checkAgain() throws(BatchError) {
    // Without a state, nothing is deleted. A manifest of the directory itself is of a round that is not summed up.
    guard batch.manifest != nil, RecordedState.identity(in: path) != nil else { return }
    try EarlierManifests(of: Self.journals(in: path, of: batch), taking: .rounds(in: path)).checkRounds()
  }

  /// The journals in the directory. A list of failed files is compared with its round and the rounds after it, so if a state sums up
  /// these rounds, it is not used.
  private static func journals(in path: LocalPath, of batch: Batch) throws(BatchError) -> JournalSet {
    let journals = try JournalSet(in: [path])
    guard let state = journals.state, let list = batch.manifest,
      try ManifestReader.header(of: list).round?.number ?? 1 <= state.through
    else { return journals }
    return try journals.withoutState(
      "\(list.description.quoted) is of a round that it sums up, or of none: make a new list of what is left")
  }

  /// Whether a run has gone through all files of the last round.
  var isLastFinished: Bool {
    get throws(BatchError) {
      guard let last = manifests.last else { return false }
      return try journals.isFinished(last)
    }
  }

  func hasJournals(of manifest: ManifestExtent) -> Bool { !journals.heads(ofManifest: manifest.id).isEmpty }

  /// What a new round is compared with.
  var comparison: RecordedListing.Comparison {
    get throws(BatchError) {
      let manifests = if let earlier { earlier } else { try EarlierManifests(of: journals, taking: .rounds(in: path)) }
      return RecordedListing.Comparison(
        rounds: rounds, manifests: manifests, rules: batch.rounds, sliceSize: batch.sliceSize,
        keepsAccepted: batch.includesAcceptedEarlier, temporaryDirectory: batch.listing.temporaryDirectory,
        cancellation: batch.listing.cancellation)
    }
  }

  /// What the journals of a manifest say, and those of manifests that were sent meanwhile: later rounds, and lists of failed
  /// files.
  ///
  /// - Parameter path: where the manifest is.
  func index(of extent: ManifestExtent, at path: LocalPath) throws(BatchError) -> JournalIndex {
    try checkURL(extent.id)
    var index = try JournalIndex(
      of: extent, shard: batch.shard, in: journals, boot: JournalHead.currentBoot,
      sliceSize: batch.sliceSize)
    if batch.request.options.resumption.isChosen {
      try index.checkUploads()
      try takeUnfinished(before: extent, in: &index)
    }
    guard journals.manifests.contains(where: { $0 != extent.id }) else { return index }
    let manifest = try ManifestReader(
      path, shard: batch.shard, acceptsTornEnd: RecordedRounds.isPartial(path))
    let others = try EarlierManifests(of: journals, named: [path]).others(than: manifest) { id throws(BatchError) in
      try difference(of: id) == nil
    }
    guard !others.paths.isEmpty else { return index }
    var comparison = RoundComparison(
      batch.rounds, against: others, sliceSize: batch.sliceSize, in: batch.listing.temporaryDirectory)
    comparison.cancellation = batch.listing.cancellation
    for path in others.paths { try comparison.add(path) }
    try comparison.forEach(of: manifest) { offset, status in index.note(offset, status) }
    return index
  }

  /// Adds the uploads that broke off in the round before. Older ones have expired, or that round has gone on with them.
  private func takeUnfinished(
    before extent: ManifestExtent, in index: inout JournalIndex
  ) throws(BatchError) {
    guard batch.manifest == nil,
      let place = manifests.lastIndex(where: { $0 != extent.id }), place < rounds.manifests.count
    else { return }
    let path = rounds.manifests[place]
    let reader = try ManifestReader(path, acceptsTornEnd: RecordedRounds.isPartial(path))
    try index.takeUnfinished(
      of: try JournalIndex(of: reader.extent, in: journals, boot: JournalHead.currentBoot))
  }

  /// Throws if an earlier run has sent the files of a manifest to another URL.
  private func checkURL(_ manifest: String) throws(BatchError) {
    guard let difference = try difference(of: manifest) else { return }
    throw BatchError(
      .journalMisplaced, on: path.description,
      "The journal \(path.description.quoted) belongs to \(difference): name another directory.")
  }

  /// To what other URL, or how else, an earlier run has sent the files of a manifest; nil if there was no such run.
  private func difference(of manifest: String) throws(BatchError) -> String? {
    let url = batch.request.url.description
    let template = try batch.urlName(for: manifest)
    for (path, head) in journals.places(ofManifest: manifest) {
      let difference: String? =
        if head.isReconstructed, template != nil {
          // The records of the files have the URLs of the files or, of a secret URL, only the origin.
          "a run of which it is not known where it sent its files, because the first line of "
            + "\(LocalPath(bytes: path.name.bytes).description.quoted) can't be read"
        } else if head.url != url {
          "a run to \(head.url), and this one is to \(url)"
        } else if template == nil, head.template != nil {
          "a run that sends files as they are, and this one sends forms"
        } else if template != nil, head.template == nil {
          "a run that sends forms, and this one sends files as they are"
        } else if head.template != template {
          "a run to another URL, or to other URLs of the files"
        } else {
          nil
        }
      if let difference { return difference }
    }
    return nil
  }
}
