public import FormStreamPlatform

/// The result of a request.
public struct TransferResult: Sendable {
  /// Whether the request succeeded, and if not, whether the server may have acted on it.
  ///
  /// No outcome will be added before the next major version, so a `switch` needs no default case.
  @frozen public enum Outcome: String, CaseIterable, Sendable, CustomStringConvertible {
    /// The server accepted the request, which was sent completely and unchanged.
    case ok
    /// The request was refused, or can't be sent: another attempt would change nothing.
    case failed
    /// The request may succeed later, and sending it again does no harm: it was not carried out, or the server failed
    /// and the request may be carried out twice.
    case retryable
    /// It is not known whether the request was carried out, by the last attempt or by an earlier one.
    case unknown
    /// A file changed while it was sent. No complete body with wrong bytes was sent.
    case sourceChanged = "source-changed"
    /// The request was cancelled before the server could carry it out.
    case cancelled

    /// The outcome as written in records.
    public var description: String { rawValue }
  }

  /// How the server recognizes the end of the request's body.
  public enum Framing: String, Sendable {
    /// By its announced length.
    case contentLength = "content-length"
    /// By an empty chunk.
    case chunked
    /// By HTTP/2's frames.
    case http2 = "h2"
    /// There was no body.
    case noBody = "none"
  }

  /// The URL of the request.
  public let url: HTTPURL
  /// The method of the request, which was sent to ``url``. After a redirect, another method may have been sent: GET for the page
  /// that a 303 names, or the method that the program chose (``RedirectChoice/follow(with:method:)``). The outcome counts for
  /// this method, because the request would begin with it if it were sent again.
  public let method: HTTPMethod
  /// Whether the request succeeded, and if not, whether the server may have acted on it.
  public let outcome: Outcome
  /// The final response; nil if none arrived.
  public let response: TransferResponse?
  /// The key that was sent; nil if no key was sent, or if a redirect led to another origin, which doesn't get the key. If the
  /// request is sent again, it needs the same key.
  public let idempotencyKey: IdempotencyKey?
  /// The number of attempts, including attempts that failed early, and redirects that sent the body again.
  public let attempts: Int
  /// The number of redirects that were followed.
  public let redirects: Int
  /// The announced length of the body; nil if none was announced.
  public let contentLength: Int64?
  /// How the server recognizes the end of the request's body.
  public let framing: Framing
  /// The number of body bytes that were handed over in the last attempt.
  public let bytesSent: Int64
  /// The number of body bytes that were handed over in all attempts.
  public let totalBytesSent: Int64
  /// The time from the start to the end of the transfer.
  public let duration: Duration
  /// The SHA-256 digest of the body as 64 hexadecimal digits; nil unless ``TransferOptions/computesDigest`` is set and
  /// the complete body was sent.
  public let sha256: SHA256Digest?
  /// Whether the platform's check trusts the certificates of the server that the last attempt was sent to. False if they were
  /// not verified (``TLSSettings/verifiesServer``), or if the program trusts them nevertheless
  /// (``TransferSession/Configuration/serverTrust``); nil if nothing was sent, or without TLS.
  public let isServerVerified: Bool?
  /// When the steps of the last attempt ended, and where its connection led to; nil if no attempt was made.
  public let metrics: TransferMetrics?
  /// How many connections were made for the request.
  package let newConnections: Int
  /// The tag of the request; see ``TransferRequest/tag``.
  public internal(set) var tag: (any Sendable)?
  /// Why the outcome is not `ok`, or why a part of the response to an accepted request is missing.
  public let error: TransferError?
  /// Whether callers that count the attempts themselves may send the request again.
  package internal(set) var mayBeSentAgain = false
  /// What another request needs to go on where this one broke (``TransferOptions/resuming``); nil if there is nothing to
  /// continue.
  public internal(set) var resumeData: UploadResumeData?
  /// The file that the response was stored in; nil unless its target was ``ResponseTarget/download(_:)``, and the file is
  /// complete.
  public internal(set) var downloadedFile: DownloadedFile?
  /// What a download needs to continue a response that broke off, and whose target was ``ResponseTarget/download(_:)``; nil if
  /// there is nothing to continue.
  public internal(set) var downloadResumeData: DownloadResumeData?
  /// Whether one of the attempts may have been carried out, at least in part.
  package internal(set) var mayBeCarriedOut = false
  /// Whether a server that keeps the upload was tried for as long as ``RetryPolicy/patience`` allows.
  package internal(set) var isOutOfPatience = false

  /// The response's status; nil if no response arrived.
  public var status: Int? { response?.status }

  /// This result of a refused request as a success, for a caller that accepts the status.
  package func accepted() -> TransferResult {
    TransferResult(
      url: url, method: method, outcome: .ok, response: response, idempotencyKey: idempotencyKey,
      attempts: attempts, redirects: redirects, contentLength: contentLength, framing: framing,
      bytesSent: bytesSent, totalBytesSent: totalBytesSent, duration: duration, sha256: sha256,
      isServerVerified: isServerVerified, metrics: metrics,
      newConnections: newConnections, tag: tag, error: nil)
  }
}

extension TransferResult {
  /// Creates a result, for tests of code that handles one.
  ///
  /// An outcome that is not `ok` needs an error: code that throws it would otherwise throw one that says that there was no response.
  /// `bytesSent` is the number of body bytes in the last attempt, and in all of them.
  public init(
    _ outcome: Outcome, url: HTTPURL, method: HTTPMethod = .post, response: TransferResponse? = nil,
    error: TransferError? = nil, attempts: Int = 1, bytesSent: Int64 = 0, duration: Duration = .zero,
    idempotencyKey: IdempotencyKey? = nil, tag: (any Sendable)? = nil
  ) {
    self.init(
      url: url, method: method, outcome: outcome, response: response,
      idempotencyKey: idempotencyKey, attempts: attempts, redirects: 0, contentLength: bytesSent,
      framing: .contentLength, bytesSent: bytesSent, totalBytesSent: bytesSent, duration: duration,
      sha256: nil, isServerVerified: nil, metrics: nil, newConnections: 0, tag: tag,
      error: error?.ending(as: outcome, response))
  }
}
