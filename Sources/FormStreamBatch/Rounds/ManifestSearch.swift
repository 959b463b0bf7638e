import FormStreamMultipart

/// A search for the manifests that journals are about: those that are named, those beside the journals, and those at the paths where
/// the runs found them.
struct ManifestSearch {
  private let journals: JournalSet
  private(set) var found: [String: (path: LocalPath, header: ManifestHeader)] = [:]
  /// The ids of manifests that journals are about and that were not found.
  private(set) var missing: [String] = []
  /// The journals of manifests that were not found, because their runs have begun and mention no files.
  private(set) var begun: [LocalPath] = []
  /// The manifests beside the journals, by the runs that they name.
  private var manifestOfRun: [String: LocalPath] = [:]
  /// The manifests and journals that are missing, as far as is known.
  private(set) var lost = LostRecords()
  /// Why the state can't be used with the manifests, as the end of a sentence; nil if it can.
  private(set) var conflict: String?
  /// The manifests that are taken, with the lists of their failed files; nil if all are.
  private(set) var taken: Set<String>?

  /// - Throws: `manifestUnreadable` or `manifestMalformed`.
  init(
    of journals: JournalSet, named: [LocalPath], taking family: EarlierManifests.Family
  ) throws(BatchError) {
    self.journals = journals
    if case .of(let ids) = family { taken = ids }
    for path in named {
      let header = try ManifestReader.header(of: path)
      found[header.id] = (path, header)
      if journals.state?.sumsUp(manifest: header.id) == true { conflict = Self.conflict(path) }
    }
    for directory in journals.directories {
      var isTaken = false
      if case .rounds(directory) = family { isTaken = true }
      try addRounds(of: directory, isTaken: isTaken)
      try addSentLists(of: directory)
    }
    try lookWhereRunsFoundThem()
    let runs = journals.runs
    lost.runs = manifestOfRun.filter { !runs.contains($0.key) }
  }

  /// Whether a manifest beside the journals names a run.
  func isNamed(_ run: String) -> Bool { manifestOfRun[run] != nil }

  /// The beginning of ``conflict`` if a manifest is of a round that the state sums up.
  static func conflict(_ manifest: LocalPath) -> String {
    "\(manifest.description.quoted) is of a round that it sums up"
  }

  /// Adds the manifests of rounds beside the journals.
  private mutating func addRounds(of directory: LocalPath, isTaken: Bool) throws(BatchError) {
    let state = journals.state
    let rounds = try RecordedRounds(in: directory, besides: state)
    if let state, state.directory == directory {
      if rounds.firstNumber != state.through + 1 { lost.round = state.through + 1 }
      if let first = rounds.manifests.first, rounds.firstNumber <= state.through {
        conflict = Self.conflict(first) + ", and was put back: delete it again, with its journals"
      }
    } else if rounds.firstNumber > 1 {
      lost.round = 1
    }
    // A list of failed files may be of a round that is summed up.
    if isTaken { taken = Set(state.map { $0.directory == directory ? $0.manifests.all.map(\.id) : [] } ?? []) }
    for path in try RecordedListing.manifests(in: directory, besides: state) {
      let header = try ManifestReader.header(of: path)
      // This manifest is a copy of one that the state sums up, and its journals are left out, too.
      if state?.sumsUp(manifest: header.id) == true { continue }
      found[header.id] = (path, header)
      if isTaken { taken?.insert(header.id) }
      for run in header.journals { manifestOfRun[run] = path }
      // A manifest of `plan` has no listing. Its journals may be anywhere.
      guard header.listing != nil, !RecordedRounds.isPartial(path) else { continue }
      if journals.heads(ofManifest: header.id).isEmpty { lost.withoutJournals[header.id] = path }
    }
  }

  /// Adds the lists of failed files beside the journals. A list without a journal was not sent.
  private mutating func addSentLists(of directory: LocalPath) throws(BatchError) {
    for path in try SentFailedList.copies(in: directory) where journals.state?.sumsUp(path) != true {
      guard let header = try? ManifestReader.header(of: path), journals.manifests.contains(header.id) else { continue }
      found[header.id] = (path, header)
    }
  }

  private mutating func lookWhereRunsFoundThem() throws(BatchError) {
    for id in journals.manifests.sorted() where found[id] == nil {
      for path in journals.paths(ofManifest: id) where found[id] == nil {
        guard let header = try? ManifestReader.header(of: path), header.id == id else { continue }
        found[id] = (path, header)
      }
      // A run that was killed when it had only begun its journal has left a manifest that the next run has written anew.
      guard found[id] == nil else { continue }
      if try !journals.mentionNoFiles(ofManifest: id) {
        missing.append(id)
      } else if !journals.isRecorded(id) {
        begun += journals.places(ofManifest: id).map(\.path)
      }
    }
  }
}

/// The manifests and journals that others name, and that are missing.
struct LostRecords {
  /// The first round that is neither there nor summed up; nil if none is known to be missing.
  var round: Int?
  /// The runs that manifests name, and whose journals are not there; with those manifests.
  var runs: [String: LocalPath] = [:]
  /// The manifests of rounds whose journals are all lost: a manifest has its final name as soon as a journal is begun.
  var withoutJournals: [String: LocalPath] = [:]
}
