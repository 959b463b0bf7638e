/// Another attempt that is about to follow; see ``TransferOptions/willRetry``.
public struct TransferRetry: Sendable {
  /// Why the last attempt failed; nil if the reason is not known.
  public let error: TransferError?
  /// How long the request waits before the attempt.
  public let delay: Duration
  /// The number of the attempt that follows, from 2.
  public let attempt: Int
  /// How much longer a server is tried that keeps the unfinished upload and doesn't go on with it (``RetryPolicy/patience``); nil if
  /// attempts are the limit.
  public let timeLeft: Duration?
  /// The tag of the request; see ``TransferRequest/tag``.
  public let tag: (any Sendable)?
  /// Whether this is the first attempt of that time.
  package let beginsOutage: Bool

  init(
    error: TransferError?, delay: Duration, attempt: Int, timeLeft: Duration? = nil, beginsOutage: Bool = false,
    tag: (any Sendable)?
  ) {
    (self.error, self.delay, self.attempt) = (error, delay, attempt)
    (self.timeLeft, self.beginsOutage, self.tag) = (timeLeft, beginsOutage, tag)
  }

  /// The retry as a line of a trace.
  var note: String {
    let limit = beginsOutage ? timeLeft.map { ", and for \($0.inSeconds) if need be, because the upload can go on" } : nil
    return "Trying again in \(delay.inSeconds)\(limit ?? ""): \(error?.description ?? "")"
  }
}
