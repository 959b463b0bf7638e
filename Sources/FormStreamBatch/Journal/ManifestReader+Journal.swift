import FormStreamHTTP

extension ManifestReader {
  /// Whether the runs of a directory of journals have sent the files of this list before, and to the same URL as a batch does: only
  /// then the next round has to know what becomes of them now.
  package func belongs(to journals: JournalSet, as batch: Batch) -> Bool {
    guard let parent else { return false }
    // If the files of the list's round were deleted, the run says so, and sends nothing.
    if journals.state?.sumsUp(manifest: parent) == true { return true }
    let heads = journals.heads(ofManifest: parent)
    return !heads.isEmpty
      && heads.allSatisfy { $0.url == batch.request.url.description && ($0.template == nil) == (batch.urls == nil) }
  }
}
