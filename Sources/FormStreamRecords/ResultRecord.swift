package import FormStreamDigest
package import FormStreamMultipart

/// The result of one request: `formstream.result/4`. A failure has the same members as a success.
///
/// The caller removes secrets from the URL and repairs text that was not UTF-8. No member has a default value, so
/// that none is forgotten.
package struct ResultRecord: Hashable, Sendable {
  /// The outcome of a request. The set is closed, because it is part of the schema.
  package enum Outcome: String, CaseIterable, Sendable {
    /// The response was a success, to a request that was sent completely.
    case ok
    /// The request failed, and would fail again.
    case failed
    /// The request failed in a way that may not happen again, and sending it again does no harm.
    case retryable
    /// An attempt may have been carried out.
    case unknown
    /// A source changed while it was read, so the body was not completed.
    case sourceChanged = "source-changed"
    /// The request was cancelled.
    case cancelled
  }

  /// How the end of the request's body was marked.
  package enum Framing: String, CaseIterable, Sendable {
    /// A Content-Length header.
    case contentLength = "content-length"
    /// Chunks with an empty one at the end: HTTP/1.1 with a body of unknown length.
    case chunked
    /// The frames of HTTP/2.
    case h2
    /// There is no body. The case is not called `none`, which would be confused with a missing optional.
    case noBody = "none"
  }

  /// The response to a request.
  package struct Response: Hashable, Sendable {
    /// All headers in their order. Bytes in them that were not UTF-8 are repaired and lost: there is no second
    /// key for them.
    package var headers: [RecordHeader]
    /// The part of the body that was kept, or nil if none was to be kept, for example because it went to a file.
    package var body: [UInt8]?
    /// Whether the body had more bytes than were kept. Text that was cut inside a character is not UTF-8, and
    /// is written in base 64.
    package var isTruncated: Bool
    /// Whether the server said where the body ends. If not, a connection that broke looks like its end.
    package var isEndKnown: Bool

    package init(headers: [RecordHeader], body: [UInt8]?, isTruncated: Bool, isEndKnown: Bool) {
      self.headers = headers
      self.body = body
      self.isTruncated = isTruncated
      self.isEndKnown = isEndKnown
    }

    package var json: JSONValue {
      let body = JSONValue.textOrBase64(body)
      return [
        "headers": .array(headers.map(\.json)),
        "body": body.text,
        "body_b64": body.base64,
        "truncated": .boolean(isTruncated),
        "end_known": .boolean(isEndKnown),
      ]
    }
  }

  /// The requested URL. Redirects don't change it.
  package var url: String
  /// The request's method, such as `POST`.
  package var method: String
  /// The status of the final response, if there was one.
  package var status: Int?
  /// The outcome of the request.
  package var outcome: Outcome
  /// How many attempts were made, failed ones included.
  package var attempts: Int
  /// How many redirects were followed.
  package var redirects: Int
  /// The announced length of the request's body, if there was one.
  package var contentLength: Int64?
  /// How the end of the request's body was marked.
  package var framing: Framing
  /// How many bytes of the body were sent in the last attempt.
  package var bytesSent: Int64
  /// How many bytes of the body were sent in all attempts.
  package var wireBytes: Int64
  /// How many seconds the request took in all.
  package var seconds: Double
  /// The digest of the request's body, if one was made.
  package var sha256: SHA256.Digest?
  /// The idempotency key that was sent, if any.
  package var idempotencyKey: String?
  /// How many bytes of the response's body arrived.
  package var bytesReceived: Int64
  /// How many bytes of the file an earlier download had left, or nil if the response became no file.
  package var resumedFrom: Int64?
  /// The file that the response became, if it became one.
  package var storedAs: LocalPath?
  /// The digest of that file, if one was made.
  package var storedSHA256: SHA256.Digest?
  /// The final response, if there was one.
  package var response: Response?
  /// Why the outcome is not `ok`, or nil if it is.
  package var error: RecordFailure?

  package init(
    url: String, method: String, status: Int?, outcome: Outcome, attempts: Int, redirects: Int,
    contentLength: Int64?, framing: Framing, bytesSent: Int64, wireBytes: Int64, seconds: Double,
    sha256: SHA256.Digest?, idempotencyKey: String?, bytesReceived: Int64,
    resumedFrom: Int64?, storedAs: LocalPath?, storedSHA256: SHA256.Digest?, response: Response?,
    error: RecordFailure?
  ) {
    self.url = url
    self.method = method
    self.status = status
    self.outcome = outcome
    self.attempts = attempts
    self.redirects = redirects
    self.contentLength = contentLength
    self.framing = framing
    self.bytesSent = bytesSent
    self.wireBytes = wireBytes
    self.seconds = seconds
    self.sha256 = sha256
    self.idempotencyKey = idempotencyKey
    self.bytesReceived = bytesReceived
    self.resumedFrom = resumedFrom
    self.storedAs = storedAs
    self.storedSHA256 = storedSHA256
    self.response = response
    self.error = error
  }

  package var json: JSONValue {
    let storedPath = JSONValue.path(storedAs)
    return [
      "schema": "formstream.result/4",
      "url": .string(url),
      "method": .string(method),
      "status": .integer(orNull: status.map(Int64.init)),
      "outcome": .string(outcome.rawValue),
      "attempts": .integer(Int64(attempts)),
      "redirects": .integer(Int64(redirects)),
      "content_length": .integer(orNull: contentLength),
      "framing": .string(framing.rawValue),
      "bytes_sent": .integer(bytesSent),
      "wire_bytes": .integer(wireBytes),
      "seconds": .fraction(rounding: seconds),
      "sha256": .string(orNull: sha256?.description),
      "idempotency_key": .string(orNull: idempotencyKey),
      "bytes_received": .integer(bytesReceived),
      "resumed_from": .integer(orNull: resumedFrom),
      "stored_as": storedPath.text,
      "stored_as_b64": storedPath.base64,
      "stored_sha256": .string(orNull: storedSHA256?.description),
      "response": response?.json ?? .null,
      "error": error?.json ?? .null,
    ]
  }
}
