package import FormStreamMultipart

/// The manifests and journals of earlier runs: of rounds, and of lists of failed files.
package struct EarlierManifests: Sendable {
  /// The paths of the manifests, in the order of their rounds. A list of failed files comes after the
  /// manifest whose files they are.
  package private(set) var paths: [LocalPath]
  package let journals: JournalSet
  /// The ids of manifests that journals are about and that were not found.
  let missing: [String]
  /// The journals of manifests that are left out, because their runs have begun and mention no files.
  private(set) var begun: [LocalPath]
  /// When the last run of a missing manifest wrote to its journal, in nanoseconds since 1970; nil if none is missing.
  let lastTimeOfMissing: Int64?
  /// The runs of the manifests that no manifest beside the journals names yet.
  let unnamedRuns: [String]
  private let lost: LostRecords
  /// Whether journals are about other manifests, which are not taken: manifests of `plan`, and lists of their failed files.
  let areNotAll: Bool
  /// For each list of failed files, the id of the manifest whose files they are.
  private let parents: [String: String]

  /// Finds the manifests that journals are about: those that are named, those beside the journals, and those at the paths
  /// where the runs found them.
  ///
  /// - Parameters:
  ///   - named: manifests that are named.
  ///   - family: the manifests that are taken.
  ///
  /// If a manifest that is taken is one of those that a state sums up, or belongs between them, the state is not used: ``journals``
  /// has all journals then.
  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  package init(
    of journals: JournalSet, named: [LocalPath] = [], taking family: Family = .all
  ) throws(BatchError) {
    let (some, conflict) = try Self.find(journals, named, family)
    self =
      try conflict.map { reason throws(BatchError) in try Self.find(journals.withoutState(reason), named, family).0 } ?? some
  }

  /// Which manifests are taken.
  package enum Family {
    case all
    /// Only the manifests with these ids, the lists of their failed files, and the lists of those.
    case of(Set<String>)
    /// Only the manifests of the rounds in a directory, the lists of their failed files, and the lists of those.
    case rounds(in: LocalPath)
  }

  /// Finds the manifests. Also returns why the state can't be used with them, as the end of a sentence; nil if it can.
  private static func find(
    _ journals: JournalSet, _ named: [LocalPath], _ family: Family
  ) throws(BatchError) -> (EarlierManifests, conflict: String?) {
    var conflict: String?
    let manifests = try EarlierManifests(of: journals, named, family, &conflict)
    return (manifests, journals.state == nil ? nil : conflict)
  }

  private init(
    of journals: JournalSet, _ named: [LocalPath], _ taken: Family, _ conflict: inout String?
  ) throws(BatchError) {
    self.journals = journals
    let search = try ManifestSearch(of: journals, named: named, taking: taken)
    conflict = search.conflict
    var (found, missing) = (search.found, search.missing)
    let parents = journals.parents.merging(found.compactMapValues { $0.header.parent }) { $1 }
    self.parents = parents
    var areNotAll = false
    if let ids = search.taken {
      let family = Self.family(of: ids, parents)
      for id in journals.manifests.subtracting(family) where !areNotAll {
        areNotAll = try !journals.mentionNoFiles(ofManifest: id)
      }
      found = found.filter { family.contains($0.key) }
      missing.removeAll { !family.contains($0) && !journals.isRecorded($0) }
    }
    self.areNotAll = areNotAll
    (self.missing, lost) = (missing, search.lost)
    unnamedRuns = (found.keys + missing).flatMap { journals.runs(ofManifest: $0) }.filter { !search.isNamed($0) }
      .sorted()
    var last = Int64.min
    for id in missing { last = max(last, try journals.period(ofManifest: id).last) }
    lastTimeOfMissing = missing.isEmpty ? nil : last
    (paths, begun) = try Self.inOrder(found, parents, journals, named, &conflict)
    begun += search.begun
  }

  /// The paths of manifests, in their order, and the journals of those that are left out, because they say nothing that the state
  /// doesn't.
  private static func inOrder(
    _ found: [String: (path: LocalPath, header: ManifestHeader)], _ parents: [String: String], _ journals: JournalSet,
    _ named: [LocalPath], _ conflict: inout String?
  ) throws(BatchError) -> (paths: [LocalPath], begun: [LocalPath]) {
    var placed: [(place: (Int, Int, Int64, String), path: LocalPath)] = []
    var begun: [LocalPath] = []
    for (id, manifest) in found {
      // A manifest that was not compared with earlier ones is of the first round.
      let place = (
        manifest.header.round?.number ?? 1, depth(of: id, parents), try journals.period(ofManifest: id).last, id
      )
      if let state = journals.state, place.0 <= state.through {
        // A list that was not sent, or whose run has sent nothing, says nothing that the state doesn't.
        if !named.contains(manifest.path), try journals.mentionNoFiles(ofManifest: id) {
          begun += journals.places(ofManifest: id).map(\.path)
          continue
        }
        conflict = conflict ?? ManifestSearch.conflict(manifest.path)
      }
      placed.append((place, manifest.path))
    }
    return (placed.sorted { $0.place < $1.place }.map(\.path), begun)
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
    for state in journals.setAside {
      guard let deleted = try state.firstDeleted else { continue }
      throw BatchError(
        .journalUnreadable, on: state.directory.description,
        "\(deleted) of the rounds that \(RecordedState.fileName) sums up is not beside it any more, so nothing is known without the "
          + "state, and the state can't be used: \(journals.unusableState ?? "it is not whole").")
    }
    if let round = lost.round { throw lostError("The manifest of round \(round) is not beside the journals any more") }
    if paths.isEmpty, journals.unusableState != nil {
      throw lostError("No manifest of a round is beside the journals any more")
    }
    guard !lost.runs.isEmpty || !lost.withoutJournals.isEmpty else { return }
    // A run may have begun after the journals were listed.
    let journals = try JournalSet(in: journals.directories, usesState: journals.state != nil)
    let runs = journals.runs
    if let (run, manifest) = lost.runs.filter({ !runs.contains($0.key) }).min(by: { $0.key < $1.key }) {
      throw lostError(
        "The manifest \(manifest.description.quoted) names the journal of an earlier run, journal-…-\(run).jsonl, which is not beside "
          + "it any more", on: run)
    }
    let silent = lost.withoutJournals.filter { journals.heads(ofManifest: $0.key).isEmpty }
    if let (id, manifest) = silent.min(by: { $0.key < $1.key }) {
      throw lostError("The journal of the manifest \(manifest.description.quoted) is not beside it any more", on: id)
    }
  }

  /// The error for files of old rounds that are not there.
  private func lostError(_ what: String, on subject: String? = nil) -> BatchError {
    let state = RecordedState.fileName
    let place = journals.directories.first?.description ?? ""
    let more =
      if let reason = journals.unusableState {
        " Its file \(state), which sums up old rounds, can't be used: \(reason)."
      } else if lost.round == 1 {
        " If it was deleted because \(state) sums it up, put this file back."
      } else {
        ""
      }
    return BatchError(
      .journalUnreadable, on: subject ?? place,
      "\(what): put it back, or name another directory. Without it, what was sent is not known.\(more)")
  }

  private func notFound(_ id: String) -> BatchError {
    if let journal = journals.journalWithoutHead(ofManifest: id) {
      return BatchError(
        .manifestUnreadable, on: id,
        "The first line of the journal \(journal.description.quoted) can't be read, and the manifest \(id), which it is about, is not "
          + "beside it. If the manifest was there, put it back. If it is somewhere else, as one of plan is, name its path, too, or move "
          + "the journal to another directory. Without it, what the journal says is not known.")
    }
    if journals.isRecorded(id) {
      let directory = journals.directory(ofManifest: id)?.description.quoted ?? "a directory"
      let restored =
        journals.state.map { _ in
          " If it was deleted because \(RecordedState.fileName) sums it up, delete these journals again, too."
        } ?? ""
      return BatchError(
        .manifestUnreadable, on: id,
        "The journals in \(directory) are about the manifest \(id), which is not beside them any more: put it back, or name "
          + "another directory. Without it, what they say is not known.\(restored)")
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
