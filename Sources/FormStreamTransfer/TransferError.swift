public import Foundation
import FormStreamMultipart

/// What kept a transfer from being done, on what, and what to do about it.
public struct TransferError: Error, Sendable {
  /// The kind of failure. The set is open: later versions add to it. Where the body's source failed, the
  /// code is that of ``Multipart/MultipartError``, such as `source-changed`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records, such as `connect-failed`.
    public let rawValue: String

    /// Takes a code by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The URL is none, or not one of http or https.
    public static let invalidURL = Code(rawValue: "invalid-url")
    /// The method is no token.
    public static let invalidMethod = Code(rawValue: "invalid-method")
    /// A header has a bad name or value, or is one that is derived.
    public static let invalidHeader = Code(rawValue: "invalid-header")
    /// A setting contradicts another, or is out of its range.
    public static let invalidSetting = Code(rawValue: "invalid-setting")
    /// What is to be sent or received as JSON is none.
    public static let invalidJSON = Code(rawValue: "invalid-json")
    /// There is no such host, for all the resolver knows.
    public static let hostNotFound = Code(rawValue: "host-not-found")
    /// Nobody could be reached at the address.
    public static let connectFailed = Code(rawValue: "connect-failed")
    /// Nobody answered at the address in time.
    public static let connectTimedOut = Code(rawValue: "connect-timed-out")
    /// No encrypted connection came about.
    public static let tlsFailed = Code(rawValue: "tls-failed")
    /// The server's certificate is not to be trusted.
    public static let certificateRefused = Code(rawValue: "certificate-refused")
    /// A file that the session needs for TLS can't be used.
    public static let tlsFileUnusable = Code(rawValue: "tls-file-unusable")
    /// The connection ended before there was a whole answer.
    public static let connectionLost = Code(rawValue: "connection-lost")
    /// The server took no byte and sent none for too long.
    public static let stalled = Code(rawValue: "stalled")
    /// The body was sent, and no answer came in time.
    public static let responseTimedOut = Code(rawValue: "answer-timed-out")
    /// The transfer took longer than it might.
    public static let timedOut = Code(rawValue: "timed-out")
    /// The server answered with a status that is not among those wanted.
    public static let statusRefused = Code(rawValue: "status-refused")
    /// The server said that all is well before it had the whole body.
    public static let respondedEarly = Code(rawValue: "answered-early")
    /// The server sent the request elsewhere, and it was not followed.
    public static let redirectRefused = Code(rawValue: "redirect-refused")
    /// There were too many redirects.
    public static let tooManyRedirects = Code(rawValue: "too-many-redirects")
    /// The body can be read once, and would have to be sent again.
    public static let notReplayable = Code(rawValue: "not-replayable")
    /// The answer is no HTTP, or breaks its framing.
    public static let malformedResponse = Code(rawValue: "malformed-answer")
    /// The answer's headers, or what was asked to be kept of it, are over the limit.
    public static let responseTooLarge = Code(rawValue: "answer-too-large")
    /// The answer could not be stored.
    public static let responseNotStored = Code(rawValue: "answer-not-stored")
    /// A file is no longer the one that was laid out.
    public static let sourceChanged = Code(rawValue: "source-changed")
    /// The body's source failed, or broke its contract.
    public static let streamFailed = Code(rawValue: "stream-failed")
    /// The body's source ended before it had given what it promised.
    public static let streamTooShort = Code(rawValue: "stream-too-short")
    /// The body's source had more to give than it promised.
    public static let streamTooLong = Code(rawValue: "stream-too-long")
    /// Somebody called it off.
    public static let cancelled = Code(rawValue: "cancelled")
    /// There is no memory, or libcurl is not what this library was made for.
    public static let engineFailed = Code(rawValue: "engine-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// The thing that the failure is about: a URL, a header, a path, a part's name.
  public let subject: String
  /// The cause, where another error is one.
  public let underlying: (any Error)?
  /// A full sentence, and the remedy.
  public let description: String

  init(
    _ code: Code, on subject: String, _ description: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.subject = subject
    self.description = description
    self.underlying = underlying
  }

  /// What went wrong with the body, in the encoder's own words.
  init(_ error: MultipartError) {
    self.init(
      Code(rawValue: error.code.rawValue), on: error.subject, error.description, underlying: error)
  }
}

extension TransferError: CustomStringConvertible {}

extension TransferError: LocalizedError {
  /// The sentence.
  public var errorDescription: String? { description }
}
