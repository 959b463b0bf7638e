package import FormStreamMultipart

/// The manifests and journals that a new manifest is compared with.
package struct EarlierManifests {
  /// The paths of the manifests, in the order of their rounds.
  package let paths: [LocalPath]
  package let journals: JournalSet

  /// Finds the manifests that journals are about: those that are named, those beside the journals, and those at the paths
  /// where the runs found them.
  ///
  /// - Parameter paths: directories of journals, and manifests.
  /// - Throws: `manifestUnreadable` if journals are about a manifest that is not found; `journalUnreadable`.
  package init(_ paths: [LocalPath]) throws(BatchError) {
    let directories = paths.filter(\.isDirectory)
    journals = try JournalSet(in: directories)
    var found: [String: ManifestReader] = [:]
    for path in paths where !path.isDirectory {
      let manifest = try ManifestReader(path)
      found[manifest.id] = manifest
    }
    for directory in directories {
      for path in try RecordedListing.manifests(in: directory) {
        let manifest = try ManifestReader(path)
        found[manifest.id] = manifest
      }
    }
    for id in journals.manifests.sorted() where found[id] == nil {
      let places = journals.paths(ofManifest: id)
      guard let manifest = places.lazy.compactMap({ try? ManifestReader($0) }).first(where: { $0.id == id })
      else {
        let place = places.first.map { " is not at \($0.description.quoted) any more" } ?? " is not beside them"
        throw BatchError(
          .manifestUnreadable, on: id,
          "The journals are about the manifest \(id), which\(place). Without it, what they say is not known: name its path, too."
        )
      }
      found[id] = manifest
    }
    self.paths = found.values.sorted { ($0.roundNumber, $0.id) < ($1.roundNumber, $1.id) }.map(\.path)
  }
}

extension ManifestReader {
  /// The number of the manifest's round. A manifest that was not compared with earlier ones is of the first round.
  fileprivate var roundNumber: Int { round?.number ?? 1 }
}

extension LocalPath {
  fileprivate var isDirectory: Bool {
    (try? FileStatus(of: self, followsSymlinks: true))?.kind == .directory
  }
}
