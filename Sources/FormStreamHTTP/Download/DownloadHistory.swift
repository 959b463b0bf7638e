/// The totals of a download's requests so far, and the last response.
struct DownloadHistory: Sendable {
  /// The count of attempts, and when the download was started. The count begins again at 1 with each attempt that makes the
  /// file longer than it ever was.
  private(set) var loop: RetryLoop
  /// How often a request was sent.
  private(set) var attempts = 0
  private(set) var redirects = 0
  private(set) var restarts = 0
  private(set) var received: Int64 = 0
  /// How many bytes of the last response's body were not stored.
  private(set) var unstored: Int64 = 0
  private(set) var response: TransferResponse?
  /// How many bytes of the file were there before the download.
  private(set) var resumedFrom: Int64 = 0
  /// Whether the platform's check trusts the servers of all requests; nil if no request was encrypted.
  private(set) var isServerVerified: Bool?
  /// The network metrics of the last attempt; nil if no attempt was made.
  private(set) var metrics: TransferMetrics?
  /// How many connections were made.
  private(set) var newConnections = 0
  private var longest: Int64 = 0

  init(_ loop: RetryLoop) {
    self.loop = loop
  }

  /// - Parameter size: the size of the partial file that was left.
  mutating func begin(_ size: Int64) {
    (resumedFrom, longest) = (size, size)
  }

  /// Notes a request.
  ///
  /// - Parameters:
  ///   - sent: what the request has brought.
  ///   - size: the size of the partial file now.
  ///   - before: the size of the partial file before the request.
  mutating func note(
    _ sent: DownloadRun.Sent, size: Int64, replaced before: Int64
  ) {
    let (result, state, stored) = (sent.result, sent.state, sent.sink?.received ?? 0)
    attempts += result.attempts
    loop.tries += max(result.attempts - result.redirects, 0)
    redirects = result.redirects
    response = result.response ?? response
    metrics = result.metrics ?? metrics
    newConnections += result.newConnections
    received += stored
    if case .storing = state {
      unstored = 0
    } else {
      unstored = max(sent.arrived - stored, 0)
    }
    if let isVerified = result.isServerVerified {
      isServerVerified = isVerified && isServerVerified != false
    }
    if case .storing = state, result.status != 206, before > 0 {
      restarts += 1
      resumedFrom = 0
    }
    if case .begunBefore = state {
      begin(size)
      // The response that showed where the partial file is was no failed try.
      loop.tries = 0
    }
    if size > longest { (longest, loop.tries) = (size, 1) }
  }
}
