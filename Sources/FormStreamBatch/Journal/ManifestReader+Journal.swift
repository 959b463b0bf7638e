import FormStreamHTTP

extension ManifestReader {
  /// Whether the runs of a directory of journals have sent the files of this list before, and to the same URL as a batch does: only
  /// then the next round has to know what becomes of them now.
  package func belongs(to journals: JournalSet, as batch: Batch) -> Bool {
    guard let parent else { return false }
    // If the files of the list's round were deleted, the run says so, and sends nothing.
    let targets =
      journals.heads(ofManifest: parent).map { ($0.url, $0.template) }
      + (journals.state?.manifests[parent]?.journals ?? []).map { ($0.url, $0.template) }
    return !targets.isEmpty
      && targets.allSatisfy { url, template in
        url == batch.request.url.description && (template == nil) == (batch.urls == nil)
      }
  }
}
