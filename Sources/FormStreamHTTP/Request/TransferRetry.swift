/// Another attempt that is about to follow; see ``TransferOptions/willRetry``.
public struct TransferRetry: Sendable {
  /// Why the last attempt failed; nil if the reason is not known.
  public let error: TransferError?
  /// How long the request waits before the attempt.
  public let delay: Duration
  /// The number of the attempt that follows, from 2.
  public let attempt: Int
}
