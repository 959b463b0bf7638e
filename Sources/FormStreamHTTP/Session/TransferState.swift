/// What a request or a download is doing; see ``TransferTask/state``.
public enum TransferState: String, CaseIterable, Sendable {
  /// The transfer waits for other requests to the same host; see ``TransferSession/Configuration/maximumConnectionsPerHost``.
  case waiting
  /// The transfer sends a request, or waits for its response or for the next attempt.
  case running
  /// The transfer was paused.
  case paused
  /// The transfer has ended.
  case done
}
