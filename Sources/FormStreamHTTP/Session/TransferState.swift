/// What a request or a download is doing; see ``TransferTask/state``.
public enum TransferState: String, CaseIterable, Sendable {
  /// It waits for other requests to the same host; see
  /// ``TransferSession/Configuration/maximumConnectionsPerHost``.
  case waiting
  /// It is being sent, or waits for its response or for the next attempt.
  case running
  /// It was paused.
  case paused
  /// It has ended.
  case done
}
