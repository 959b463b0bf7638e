import FormStreamHTTP

extension ManifestReader {
  /// Whether the runs of a directory of journals have sent the files of this list before, and to the same URL as a batch does: only
  /// then the next round has to know what becomes of them now.
  package func belongs(to journals: JournalSet, as batch: Batch) -> Bool {
    guard let parent else { return false }
    let target = StateManifests.Target(url: batch.request.url.description, hasTemplate: batch.urls != nil)
    let targets =
      journals.heads(ofManifest: parent).map { StateManifests.Target(url: $0.url, hasTemplate: $0.template != nil) }
      + (journals.state?.manifests[parent]?.journals ?? []).map(\.target)
    guard targets.isEmpty else { return targets.allSatisfy { $0 == target } }
    // If the files of the list's round were deleted, the run says so, and sends nothing.
    guard let state = journals.state else { return journals.lackRounds }
    return round?.number ?? 1 <= state.through && state.targets.contains(target)
  }
}
