import Transfer

/// Shows how far a request is. It is silent: whatever shows progress is to be put here.
struct ProgressReport: Sendable {
  let style: ProgressStyle

  /// Told each time that something has moved.
  func tell(_ progress: TransferProgress) {}

  /// Told when nothing more comes.
  func end() {}
}
