import Transfer

/// Tells how far a request is. It is silent: what shows progress is to be put here.
struct ProgressReport: Sendable {
  private let mode: ProgressMode
  private let isQuiet: Bool

  init(_ mode: ProgressMode, isQuiet: Bool) {
    self.mode = mode
    self.isQuiet = isQuiet
  }

  /// Tells all of a request, up to its end.
  func follow(_ updates: TransferProgressUpdates) async {}

  /// Tells the last state, when the request is over.
  func finish(_ last: TransferProgress?) {}
}
