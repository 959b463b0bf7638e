package import FormStreamMultipart

/// The manifests and journals that a state stands for: the next round, plans and reports are the same without them.
package struct DeletableFiles {
  package let paths: [LocalPath]
  /// Why nothing may be deleted, as a sentence; nil if the state can be used.
  package let reason: String?

  /// - Parameter journals: the journals of a report about all rounds. They are read again, because a run of an old list may have begun
  ///   since then.
  /// - Throws: an error if the manifests or the directory can't be read.
  package init(in journals: JournalSet) throws(BatchError) {
    // `plan --against` reads all manifests, also those that belong to no round.
    let earlier = try EarlierManifests(of: JournalSet(in: journals.directories))
    let journals = earlier.journals
    guard let state = journals.state else {
      let name = RecordedState.fileName
      reason =
        if let reason = journals.unusableState {
          "Nothing may be deleted: \(name), which sums up old rounds, can't be used: \(reason)."
        } else {
          "Nothing may be deleted: there is no \(name) yet. A run that begins a round writes it after many rounds."
        }
      paths = []
      return
    }
    // It may be a list of failed files of a round that is summed up.
    if let id = earlier.missing.first {
      reason = "Nothing may be deleted: the journals are about the manifest \(id), which can't be found."
      paths = []
      return
    }
    // Such a run needs the rounds that it has been compared with.
    if let journal = try Self.running(journals.begunBesides + earlier.begun, in: journals.directories) {
      reason =
        "Nothing may be deleted: the run of \(journal.description.quoted), which is of a round that is summed up, goes on."
      paths = []
      return
    }
    (paths, reason) = (try state.deletable, nil)
  }

  /// The first journal whose run goes on; nil if none does.
  private static func running(_ journals: [LocalPath], in directories: [LocalPath]) throws(BatchError) -> LocalPath? {
    for journal in journals where try !JournalReader.isClosed(journal) {
      guard let directory = directories.first(where: { $0.appending(journal.name.bytes) == journal }),
        !JournalReader.isInUse(journal.name, in: directory)
      else { return journal }
    }
    return nil
  }
}
