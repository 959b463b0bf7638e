package import FormStreamMultipart

/// The manifests and journals of earlier runs: of rounds, and of lists of failed files.
package struct EarlierManifests: Sendable {
  /// The paths of the manifests, in the order of their rounds. A list of failed files comes after the
  /// manifest whose files they are.
  package private(set) var paths: [LocalPath]
  package let journals: JournalSet
  /// The ids of manifests that journals are about and that were not found.
  let missing: [String]
  /// When the last run of a missing manifest wrote to its journal, in nanoseconds since 1970; nil if none is missing.
  let lastTimeOfMissing: Int64?
  /// The runs of the manifests that no manifest beside the journals names yet.
  let unnamedRuns: [String]
  /// The runs that manifests beside the journals name, and whose journals are not there; with those manifests.
  private let lostRuns: [String: LocalPath]
  /// The manifests of rounds whose journals are all lost: a manifest has its final name as soon as a journal is begun.
  private let withoutJournals: [String: LocalPath]
  /// For each list of failed files, the id of the manifest whose files they are.
  private let parents: [String: String]

  /// Finds the manifests that journals are about: those that are named, those beside the journals, and those at the paths
  /// where the runs found them.
  ///
  /// - Parameters:
  ///   - named: manifests that are named.
  ///   - ids: the ids of manifests. Only these, the lists of their failed files, and the lists of those are taken; nil for
  ///     all manifests.
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  package init(
    of journals: JournalSet, named: [LocalPath] = [], ofFamily ids: Set<String>? = nil
  ) throws(BatchError) {
    self.journals = journals
    var found: [String: (path: LocalPath, header: ManifestHeader)] = [:]
    for path in named {
      let header = try ManifestReader.header(of: path)
      found[header.id] = (path, header)
    }
    var namedRuns: [String: LocalPath] = [:]
    var withoutJournals: [String: LocalPath] = [:]
    for directory in journals.directories {
      for path in try RecordedListing.manifests(in: directory) {
        let header = try ManifestReader.header(of: path)
        found[header.id] = (path, header)
        for run in header.journals { namedRuns[run] = path }
        // A manifest of `plan` has no listing. Its journals may be anywhere.
        guard header.listing != nil, !RecordedRounds.isPartial(path) else { continue }
        if journals.heads(ofManifest: header.id).isEmpty { withoutJournals[header.id] = path }
      }
      // A copy without a journal is of a list that was not sent.
      for path in try SentFailedList.copies(in: directory) {
        guard let header = try? ManifestReader.header(of: path), journals.manifests.contains(header.id) else { continue }
        found[header.id] = (path, header)
      }
    }
    var missing: [String] = []
    for id in journals.manifests.sorted() where found[id] == nil {
      for path in journals.paths(ofManifest: id) where found[id] == nil {
        guard let header = try? ManifestReader.header(of: path), header.id == id else { continue }
        found[id] = (path, header)
      }
      // A run that was killed when it had only begun its journal has left a manifest that the next run has written anew.
      if found[id] == nil, try !journals.mentionNoFiles(ofManifest: id) { missing.append(id) }
    }
    let parents = journals.parents.merging(found.compactMapValues { $0.header.parent }) { $1 }
    self.parents = parents
    if let ids {
      let family = Self.family(of: ids, parents)
      found = found.filter { family.contains($0.key) }
      missing.removeAll { !family.contains($0) && !journals.isRecorded($0) }
    }
    self.missing = missing
    unnamedRuns = (found.keys + missing).flatMap { journals.runs(ofManifest: $0) }.filter { namedRuns[$0] == nil }.sorted()
    let runs = journals.runs
    lostRuns = namedRuns.filter { !runs.contains($0.key) }
    self.withoutJournals = withoutJournals
    var last = Int64.min
    for id in missing { last = max(last, try journals.period(ofManifest: id).last) }
    lastTimeOfMissing = missing.isEmpty ? nil : last
    var placed: [(place: (Int, Int, Int64, String), path: LocalPath)] = []
    for (id, manifest) in found {
      // A manifest that was not compared with earlier ones is of the first round.
      let place = (
        manifest.header.round?.number ?? 1, Self.depth(of: id, parents),
        try journals.period(ofManifest: id).last, id
      )
      placed.append((place, manifest.path))
    }
    paths = placed.sorted { $0.place < $1.place }.map(\.path)
  }

  /// The ids of manifests, of the lists of their failed files, and of the lists of those.
  private static func family(of ids: Set<String>, _ parents: [String: String]) -> Set<String> {
    var family = ids
    while true {
      let children = parents.filter { family.contains($0.value) }.keys
      if family.isSuperset(of: children) { return family }
      family.formUnion(children)
    }
  }

  /// The manifests that may have been sent after a manifest was made, and that have files of its sources: later rounds, lists
  /// of its own failed files, and, if it is such a list itself, what belongs to the same round. Earlier rounds don't count: what
  /// was to be sent was compared with them.
  ///
  /// - Parameter isSent: whether all runs of a manifest have sent its files to the URLs that are meant.
  func others(
    than manifest: ManifestReader, where isSent: (_ id: String) throws(BatchError) -> Bool
  ) throws(BatchError) -> EarlierManifests {
    let descendants = Self.family(of: [manifest.id], parents)
    let round = manifest.round?.number ?? 1
    var others = self
    others.paths = []
    for path in paths {
      let other = try ManifestReader.header(of: path)
      guard other.id != manifest.id, try isSent(other.id) else { continue }
      let otherRound = other.round?.number ?? 1
      if otherRound > round || otherRound == round && manifest.parent != nil || descendants.contains(other.id) {
        others.paths.append(path)
      }
    }
    return others
  }

  /// How many lists lead to a manifest: a list of failed files, a list of the files that failed again, and so on.
  private static func depth(of id: String, _ parents: [String: String]) -> Int {
    var (depth, current) = (0, id)
    // Parents that go round in a circle were not written by a run.
    while let parent = parents[current], depth < parents.count { (depth, current) = (depth + 1, parent) }
    return depth
  }

  /// Throws if a manifest is missing, or the journal of a round.
  ///
  /// - Throws: `manifestUnreadable` or `journalUnreadable`.
  package func checkComplete() throws(BatchError) {
    try checkJournals()
    if let id = missing.first { throw notFound(id) }
  }

  /// Throws if the manifest or a journal of a round is missing. The lists of failed files may be missing.
  ///
  /// - Throws: `manifestUnreadable` or `journalUnreadable`.
  package func checkRounds() throws(BatchError) {
    try checkJournals()
    if let id = missing.first(where: journals.isRecorded) { throw notFound(id) }
  }

  /// Throws if a journal is missing that the manifest of a round names, or all journals of a round.
  ///
  /// - Throws: `journalUnreadable`.
  package func checkJournals() throws(BatchError) {
    guard !lostRuns.isEmpty || !withoutJournals.isEmpty else { return }
    // A run may have begun after the journals were listed.
    let journals = try JournalSet(in: journals.directories)
    let runs = journals.runs
    if let (run, manifest) = lostRuns.filter({ !runs.contains($0.key) }).min(by: { $0.key < $1.key }) {
      throw Self.journalLost(run, manifest)
    }
    let lost = withoutJournals.filter { journals.heads(ofManifest: $0.key).isEmpty }
    if let (id, manifest) = lost.min(by: { $0.key < $1.key }) {
      throw BatchError(
        .journalUnreadable, on: id,
        "The journal of the manifest \(manifest.description.quoted) is not beside it any more: put it back, or name another "
          + "directory. Without it, what was sent is not known.")
    }
  }

  private static func journalLost(_ run: String, _ manifest: LocalPath) -> BatchError {
    BatchError(
      .journalUnreadable, on: run,
      "The manifest \(manifest.description.quoted) names the journal of an earlier run, journal-…-\(run).jsonl, which is not beside "
        + "it any more: put it back, or name another directory. Without it, what was sent is not known.")
  }

  private func notFound(_ id: String) -> BatchError {
    if journals.isRecorded(id) {
      let directory = journals.directory(ofManifest: id)?.description.quoted ?? "a directory"
      return BatchError(
        .manifestUnreadable, on: id,
        "The journals in \(directory) are about the manifest \(id), which is not beside them any more: put it back, or name "
          + "another directory. Without it, what they say is not known.")
    }
    let place =
      journals.paths(ofManifest: id).first.map { " is not at \($0.description.quoted) any more" }
      ?? " is not beside them"
    return BatchError(
      .manifestUnreadable, on: id,
      "The journals are about the manifest \(id), which\(place). Without it, what they say is not known: name its path, too."
    )
  }
}
