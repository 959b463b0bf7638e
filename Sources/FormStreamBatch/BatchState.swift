/// What became of a file of a batch.
public enum BatchState: String, CaseIterable, Sendable {
  /// The server accepted exactly the bytes that are on the disk.
  case ok
  /// The server refused the file, or the file can't be sent as it is. Unless something is changed, a 4xx would come again; a 500 may
  /// pass.
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
