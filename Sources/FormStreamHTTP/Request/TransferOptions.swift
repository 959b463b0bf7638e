import FormStreamMultipart

/// How a request is sent, and where its response goes.
public struct TransferOptions: Sendable {
  /// How many times the request is sent, and how long to wait between attempts.
  public var retry = RetryPolicy()
  /// Whether an upload goes on where it broke, and by which protocol.
  public var resumption = UploadResumption.none
  /// The data of an earlier upload that this request continues, from ``TransferResult/resumeData``. The request must be the
  /// same. Its form gets the boundary of the earlier one; forms inside it must keep theirs.
  public var resuming: UploadResumeData?
  /// A file that keeps the data of the upload, so that another process can continue it after this one was killed. Only its owner
  /// can read it. If the file exists, the request continues its upload. The file is removed when there is nothing to continue.
  public var resumeFile: LocalPath?
  /// Which redirects are followed.
  public var redirects = RedirectPolicy()
  /// Which of the requests that wait for a connection to the same host is sent first: the one with the highest number, and of
  /// those with the same number, the one that has waited longest. A request that is being sent is not interrupted, and a request
  /// that was sent before, and waits because of a retry or a decision, goes first. A request with a low number waits as long as
  /// others with higher numbers come.
  public var priority = 0
  /// Whether the server is asked with `Expect: 100-continue` before the body is sent.
  public var expectation = ContinuePolicy.automatic
  /// The time limits.
  public var timeLimits = TimeLimits()
  /// Where the response's body goes.
  public var responseTarget = ResponseTarget.memory()
  /// How compressed responses are decoded. If nil, no compressed responses are asked for, and a response is passed on as it is.
  public var responseCompression: ResponseCompression?
  /// The largest body of a response that goes to a file, a closure or a reader, in bytes as they arrive; no limit if nil. A
  /// larger body is an error, `responseTooLarge`. If its length is announced, the error comes before the first byte.
  public var maximumResponseSize: Int64?
  /// Which statuses are a success; 200 to 299 if nil.
  public var acceptedStatuses: Set<Int>?
  /// The maximum rate of the body in bytes a second; no limit if nil. If the request has no body, this limits the rate of the
  /// response's body.
  public var maximumRate: Int64?
  /// The rate that this request shares with others, besides ``maximumRate``; nil if it shares none.
  package var sharedRate: SharedRate?
  /// A key by which the server recognizes a repeated request, so that the server carries it out only once.
  public var idempotencyKey: IdempotencyKey?
  /// The names of headers that are left out. Only headers that every request would otherwise have can be left out: `Accept`,
  /// `Accept-Encoding`, `Content-Type`, `User-Agent`, and those of ``TransferSession/Configuration/headers``. Other headers are
  /// sent anyway.
  public var omittedHeaders: [String] = []
  /// The headers of the session that are sent to any origin.
  var headersForAnyOrigin: HTTPHeaders = [:]
  /// Whether earlier requests of the same download were sent.
  var continuesDownload = false
  /// The `Authorization` that the request has from its session, and doesn't have itself.
  var authorizationOfSession: HTTPHeaders = [:]
  /// How the body is coded while it is sent.
  public var bodyCoding = BodyCoding.none
  /// How many bytes of a body of unknown length are read into memory before the request is sent. If the body ends within these
  /// bytes, it has a `Content-Length`, and can be sent again, even if its stream can be read only once. A longer body is sent
  /// in chunks, from its first byte on. With 0, nothing is read ahead: a stream that goes on for long is sent as it comes.
  public var readAhead = 0
  /// Whether a body of unknown length that is longer than ``readAhead`` is stored in a temporary file before the request is
  /// sent. The body then has a `Content-Length`, and can be sent again. The temporary file is in `TMPDIR` or `/tmp`, has no
  /// name, and is gone after the request. If there is no room for it, the request fails with `spool-failed`, and nothing is
  /// sent.
  public var spoolsBody = false
  /// Whether the body is sent in chunks over HTTP/1.1 although its length is known. The command sets this for
  /// `-H 'Transfer-Encoding: chunked'`.
  package var sendsChunks = false
  /// Whether a success that has a `Content-Range`, but a status other than 206, is an error for all methods. For GET, it is
  /// always an error.
  package var refusesUnaskedRange = false
  /// The target in the request line, such as `*` for OPTIONS. If nil, the target is the URL's path and query. After a redirect,
  /// the target is always the path and query of the new URL.
  package var requestTarget: String?
  /// The program's decisions about this request. For a decision that is nil, the session's decision applies.
  public var decisions = Decisions()
  /// Whether the body is hashed while it is sent; see ``TransferResult/sha256``.
  public var computesDigest = false
  /// Whether the request has a `Content-Digest` header (RFC 9530). The body is then read twice: once to hash it, and
  /// once to send it. If it has other bytes the second time, the request fails with `source-changed` before the last of
  /// them is sent.
  public var sendsDigest = false
  /// Whether the request fails, before anything is sent, if it would carry credentials without encryption to another
  /// machine: over http, to a host that is neither `localhost` nor a loopback address. Digest doesn't send the password,
  /// and is allowed.
  public var requiresEncryptionForCredentials = false
  /// How often progress is reported.
  public var progressPace = ProgressPace.smooth
  /// Called before a request is sent again after a failure or a refusal, and before the wait. The call may take its time: only
  /// this request waits for it. If the request is cancelled meanwhile, the request ends at once, and the call goes on.
  public var willRetry: (@Sendable (TransferRetry) -> Void)?
  /// Called after each attempt to which the server has responded. The closure is called on the engine's thread, which waits for it.
  package var noteServerReached: (@Sendable () -> Void)?
  /// Called if the server knows a protocol for uploads that another option excludes, with the reason.
  package var noteMissingResumption: (@Sendable (TransferError) -> Void)?
  /// Receives the data of the upload before its bytes are sent, and whenever they change. The closure is called on a thread that
  /// may wait.
  package var noteResumeData: (@Sendable (UploadResumeData) -> Void)?
  /// Whether the trace shows the values of `Set-Cookie`, which are otherwise masked.
  public var tracesSetCookie = false
  /// Receives a trace of the traffic, with secrets masked. The closure is called on the engine's thread, which waits for it.
  public var trace: (@Sendable (TransferTrace) -> Void)?
  /// Receives the head of each response as it arrived, secrets included. This includes informational responses, and the
  /// responses before a redirect or a retry. The closure is called on the engine's thread, which waits for it.
  package var receiveHead: (@Sendable ([UInt8]) -> Void)?
  /// Receives each line of a response's trailers. The closure is called in the same way as `receiveHead`.
  package var receiveTrailer: (@Sendable ([UInt8]) -> Void)?
  /// Whether a download sends this request: all its settings are those of the download's request, and its headers `Range` and
  /// `If-Range` are the download's.
  var isOfDownload = false
  /// Whether the request belongs to a download: a download sends it, or its response is stored as one. Then its method, and the
  /// coding of its response, must stay as they are.
  var belongsToDownload: Bool { isOfDownload || responseTarget.isResumableFile }
  /// Decides from a response's head whether the response's body is dropped. The target then gets nothing of the body.
  package var leavesOutBody: (@Sendable (TransferResponse) -> Bool)?

  /// One attempt, redirects within the origin, and a response of up to 1 MiB in memory.
  public init() {}

  /// Whether a header that every request otherwise has is left out.
  package func omits(_ name: String) -> Bool {
    omittedHeaders.contains { $0.isSameHeaderName(as: name) }
  }

  /// Whether a status is a success.
  package func accepts(_ status: Int) -> Bool {
    acceptedStatuses?.contains(status) ?? (200...299).contains(status)
  }
}
