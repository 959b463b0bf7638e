import FormStreamMultipart

/// Why a transfer failed: the kind of failure, its subject, and a sentence that says what to do.
public struct TransferError: Error, Sendable {
  /// The kind of failure. The set is open: later versions may add codes. If the body's source failed, the code is one of
  /// ``/FormStreamMultipart/MultipartError``, such as `source-changed`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records, such as `connect-failed`.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Creates a code from one of `MultipartError`, for a failure that both kinds of errors have.
    fileprivate init(_ code: MultipartError.Code) { rawValue = code.rawValue }

    /// The text is not a URL, or its scheme is neither http nor https.
    public static let invalidURL = Code(rawValue: "invalid-url")
    /// The method is not a token.
    public static let invalidMethod = Code(rawValue: "invalid-method")
    /// A header's name or value is not valid, or the header can't be set by hand.
    public static let invalidHeader = Code(.invalidHeader)
    /// A setting is out of range, or contradicts another.
    public static let invalidSetting = Code(rawValue: "invalid-setting")
    /// A value can't be encoded as JSON, or a response can't be decoded.
    public static let invalidJSON = Code(rawValue: "invalid-json")
    /// A netrc file is malformed.
    public static let netrcMalformed = Code(rawValue: "netrc-malformed")
    /// A cookie file is malformed, or can't be written.
    public static let cookiesUnusable = Code(rawValue: "cookies-unusable")
    /// One of the program's own decisions failed; see ``Decisions``.
    public static let decisionFailed = Code(rawValue: "decision-failed")
    /// Credentials would be sent without encryption; see ``TransferOptions/requiresEncryptionForCredentials``.
    public static let credentialsNotEncrypted = Code(rawValue: "credentials-not-encrypted")
    /// The request would be sent without encryption; see ``TransferSession/Configuration/requiresHTTPS``.
    public static let encryptionRequired = Code(rawValue: "encryption-required")
    /// The server has refused the same credentials before, and the session doesn't send them again.
    public static let credentialsRefused = Code(rawValue: "credentials-refused")
    /// The resolver doesn't know the host.
    public static let hostNotFound = Code(rawValue: "host-not-found")
    /// Nothing is listening at the address, or it can't be reached.
    public static let connectFailed = Code(rawValue: "connect-failed")
    /// The name servers could not be asked for the host.
    public static let hostLookupFailed = Code(rawValue: "host-lookup-failed")
    /// The address could not be reached in time.
    public static let connectTimedOut = Code(rawValue: "connect-timed-out")
    /// No encrypted connection could be established.
    public static let tlsFailed = Code(rawValue: "tls-failed")
    /// HTTP/2 was asked for, and the server doesn't speak it.
    public static let http2Unavailable = Code(rawValue: "http2-unavailable")
    /// The server's certificate is not trusted.
    public static let certificateRefused = Code(rawValue: "certificate-refused")
    /// The server refused the client's certificate, or demanded one.
    public static let clientCertificateRefused = Code(rawValue: "client-certificate-refused")
    /// The server has another public key than ``TLSSettings/pin``.
    public static let publicKeyMismatch = Code(rawValue: "public-key-mismatch")
    /// The proxy did not pass the request on.
    public static let proxyRefused = Code(rawValue: "proxy-refused")
    /// The interface or address of this machine can't be used; see
    /// ``TransferSession/Configuration/localInterface``.
    public static let interfaceUnusable = Code(rawValue: "interface-unusable")
    /// A file that the session needs for TLS can't be used.
    public static let tlsFileUnusable = Code(rawValue: "tls-file-unusable")
    /// The connection ended before the response was complete.
    public static let connectionLost = Code(rawValue: "connection-lost")
    /// No byte was sent or received for too long.
    public static let stalled = Code(rawValue: "stalled")
    /// The body was sent, and no response arrived in time.
    public static let responseTimedOut = Code(rawValue: "response-timed-out")
    /// The attempt exceeded its time limit.
    public static let timedOut = Code(rawValue: "timed-out")
    /// The response's status is not one of the accepted ones.
    public static let statusRefused = Code(rawValue: "status-refused")
    /// The server reported success before it had the complete body.
    public static let respondedEarly = Code(rawValue: "responded-early")
    /// The upload can't go on where it broke; see ``TransferOptions/resumption``.
    public static let resumptionFailed = Code(rawValue: "resumption-failed")
    /// The file that keeps an upload can't be used, or is used by another process.
    public static let resumeFileUnusable = Code(rawValue: "resume-file-unusable")
    /// The server takes only bodies whose length is announced; see ``TransferOptions/spoolsBody``.
    public static let lengthRequired = Code(rawValue: "length-required")
    /// The server redirected the request, and the redirect was not followed.
    public static let redirectRefused = Code(rawValue: "redirect-refused")
    /// There were too many redirects.
    public static let tooManyRedirects = Code(rawValue: "too-many-redirects")
    /// The body would have to be sent again, but can be read only once.
    public static let notReplayable = Code(.notReplayable)
    /// The response is not HTTP, or its framing is not valid.
    public static let malformedResponse = Code(rawValue: "malformed-response")
    /// The response's headers, or its body, exceed a limit.
    public static let responseTooLarge = Code(rawValue: "response-too-large")
    /// The response can't be decompressed; see ``ResponseCompression``.
    public static let decompressionFailed = Code(rawValue: "decompression-failed")
    /// The response could not be stored.
    public static let responseNotStored = Code(rawValue: "response-not-stored")
    /// The destination of a download exists already.
    public static let destinationExists = Code(rawValue: "destination-exists")
    /// A download doesn't have the expected digest.
    public static let digestMismatch = Code(rawValue: "digest-mismatch")
    /// A file changed after it was measured.
    public static let sourceChanged = Code(.sourceChanged)
    /// The body's source failed, or broke its contract.
    public static let streamFailed = Code(.streamFailed)
    /// The body's source ended before its announced length.
    public static let streamTooShort = Code(.streamTooShort)
    /// The body's source has more bytes than its announced length.
    public static let streamTooLong = Code(.streamTooLong)
    /// The body could not be stored in a temporary file; see ``TransferOptions/spoolsBody``.
    public static let spoolFailed = Code(.spoolFailed)
    /// The request was cancelled.
    public static let cancelled = Code(rawValue: "cancelled")
    /// The session no longer starts requests; see ``TransferSession/finish()``.
    public static let sessionFinished = Code(rawValue: "session-finished")
    /// The system has no memory or threads left, or libcurl doesn't work as expected.
    public static let engineFailed = Code(rawValue: "engine-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// What the failure is about: a URL, a header, a path, a part's name.
  public let subject: String
  /// The error that caused this one; nil if there is none.
  public let underlying: (any Error)?
  /// A sentence that says what failed, and what to do.
  public var description: String { message.description }
  /// The sentence in ``description``, with settings as values instead of text.
  package private(set) var message: Message
  /// The outcome and the response. They are in an object of their own because errors are copied often.
  private var ending: Ending?

  private final class Ending: Sendable {
    let outcome: TransferResult.Outcome
    let response: TransferResponse?

    init(_ outcome: TransferResult.Outcome, _ response: TransferResponse?) {
      self.outcome = outcome
      self.response = response
    }
  }

  /// What became of the request: above all, whether the server may have carried it out. Nil if the error is not about a
  /// request, for example if a URL is not valid.
  public var outcome: TransferResult.Outcome? { ending?.outcome }
  /// The final response, such as the one that refused the request; nil if none arrived. If its body didn't go to the response's
  /// target, up to 1 MiB of the body is kept.
  public var response: TransferResponse? { ending?.response }
  /// The response's status; nil if no response arrived.
  public var status: Int? { response?.status }

  package init(
    _ code: Code, on subject: String, _ message: Message, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.message = message
    self.underlying = underlying
  }

  /// Creates an error, for tests of code that handles one.
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - subject: what the failure is about, such as a URL.
  ///   - description: a sentence that says what failed.
  ///   - outcome: what became of the request; nil if the error is not about a request.
  ///   - response: the response that refused the request.
  public init(
    _ code: Code, on subject: String, description: String, outcome: TransferResult.Outcome? = nil,
    response: TransferResponse? = nil
  ) {
    self.init(code, on: subject, Message(description))
    if let outcome { ending = Ending(outcome, response) }
  }

  /// This error with another sentence at its end.
  func adding(_ sentence: Message) -> TransferError {
    var error = self
    error.message = "\(message) \(sentence)"
    return error
  }

  /// This error with the outcome and the response of its request.
  package func ending(
    as outcome: TransferResult.Outcome, _ response: TransferResponse?
  ) -> TransferError {
    var error = self
    error.ending = Ending(outcome, response)
    return error
  }

  /// A failure of the body, with the encoder's code and description. If a source of the caller failed, the source's error is
  /// the underlying one.
  init(_ error: MultipartError) {
    if let coded = error.underlying as? GzipSource.Failure {
      self.init(coded.error)
      return
    }
    var cause: any Error = error
    if error.code == .streamFailed, let source = error.underlying { cause = source }
    self.init(
      Code(error.code), on: error.subject, error.message, underlying: cause)
  }
}

extension TransferError: CustomStringConvertible {}
