package import FormStreamMultipart

/// The manifests and journals of earlier runs: of rounds, and of lists of failed files.
package struct EarlierManifests: Sendable {
  /// The paths of the manifests, in the order of their rounds. A list of failed files comes after the manifests of its round.
  package let paths: [LocalPath]
  package let journals: JournalSet
  /// The ids of manifests that journals are about and that were not found.
  let missing: [String]
  /// When the last run of a missing manifest wrote to its journal, in nanoseconds since 1970; nil if none is missing.
  let lastTimeOfMissing: Int64?
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
    var candidates = named
    for directory in journals.directories { candidates += try RecordedListing.manifests(in: directory) }
    var found: [String: ManifestReader] = [:]
    for path in candidates {
      let manifest = try ManifestReader(path)
      found[manifest.id] = manifest
    }
    var missing: [String] = []
    for id in journals.manifests.sorted() where found[id] == nil {
      let elsewhere = journals.paths(ofManifest: id).lazy.compactMap { try? ManifestReader($0) }
      found[id] = elsewhere.first { $0.id == id }
      if found[id] == nil { missing.append(id) }
    }
    if let ids {
      let parents = journals.parents.merging(found.compactMapValues(\.parent)) { $1 }
      let family = Self.family(of: ids, parents)
      found = found.filter { family.contains($0.key) }
      missing.removeAll { !family.contains($0) }
    }
    self.missing = missing
    lastTimeOfMissing = try missing.isEmpty ? nil : journals.lastTime(ofManifests: missing)
    self.paths = found.values.sorted { $0.place < $1.place }.map(\.path)
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

  /// Throws if a manifest is missing.
  ///
  /// - Throws: `manifestUnreadable`.
  package func checkComplete() throws(BatchError) {
    guard let id = missing.first else { return }
    let place =
      journals.paths(ofManifest: id).first.map { " is not at \($0.description.quoted) any more" }
      ?? " is not beside them"
    throw BatchError(
      .manifestUnreadable, on: id,
      "The journals are about the manifest \(id), which\(place). Without it, what they say is not known: name its path, too."
    )
  }
}

extension ManifestReader {
  /// The place of the manifest among those of all rounds. A manifest that was not compared with earlier ones is of the first
  /// round.
  fileprivate var place: (Int, Int, String) { (round?.number ?? 1, parent == nil ? 0 : 1, id) }
}
