import FormStreamMultipart

/// The entries of old rounds about one path, without those that say nothing any more: without such an entry, what the others say
/// is the same, to the next round and to a report.
struct StateHistory {
  private(set) var entries: [StateEntry] = []
  private let manifests: StateManifests

  init(in manifests: StateManifests) { self.manifests = manifests }

  /// What the next round and a report know of some entries.
  private struct Knowledge: Equatable {
    var history = FileHistory()
    var findings = RoundFindings.PathFindings()

    mutating func add(_ entry: StateEntry, _ manifests: StateManifests) {
      findings.add(entry.found(in: manifests, notesVersion: true))
      switch entry.isGone {
      case nil: history.add(entry.known(in: manifests))
      case true?: history.isGone = true
      case false?: history.noteBack()
      }
    }
  }

  private func knowledge(of entries: some Sequence<StateEntry>) -> Knowledge {
    var knowledge = Knowledge()
    for entry in entries { knowledge.add(entry, manifests) }
    return knowledge
  }

  /// Adds what the next round says.
  mutating func add(_ entry: StateEntry) {
    var entry = entry
    // The entry that shows this may be left out.
    if entry.isGone == nil,
      knowledge(of: entries).findings.isAcceptedAgain(in: entry.found(in: manifests, notesVersion: true))
    {
      entry.finding.insert(.acceptedAgain)
    }
    entries.append(entry)
    let all = knowledge(of: entries)
    for index in entries.indices.dropLast().reversed() {
      var others = entries
      others.remove(at: index)
      if knowledge(of: others) == all { entries = others }
    }
  }
}
