/// What became of a file of a batch.
public enum BatchState: String, CaseIterable, Sendable {
  /// The server accepted exactly the bytes that are on the disk.
  case ok
  /// The file was not accepted, and would not be accepted the next time.
  case failed
  /// The file was not accepted, but may be accepted later.
  case retryable
  /// The server may or may not have accepted the file.
  case unknown
  /// The file changed after it was listed, or while it was sent.
  case sourceChanged = "source-changed"
  /// The file was not sent, because an earlier run sent it or may have sent it.
  case skipped
}
