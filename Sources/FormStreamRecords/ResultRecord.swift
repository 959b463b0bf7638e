package import FormStreamDigest

/// What became of one request: `formstream.result/1`. A failure is the same object as a success.
///
/// The texts are as they may be shown: whoever fills this in takes secrets out of the URL and repairs what
/// was not UTF-8. No field has a default, so none is forgotten.
package struct ResultRecord: Hashable, Sendable {
  /// The URL that was asked for; redirects don't change it.
  package var url: String
  /// The request's method, such as `POST`.
  package var method: String
  /// The final answer's status, where one came.
  package var status: Int?
  /// What can be said of the request.
  package var outcome: Outcome
  /// How often it was sent, or begun.
  package var attempts: Int
  /// How many redirects were followed.
  package var redirects: Int
  /// The length that was announced for the request's body, where one was.
  package var contentLength: Int64?
  /// How the request's end was marked.
  package var framing: Framing
  /// How many bytes of the body went out in the last attempt.
  package var bytesSent: Int64
  /// How many bytes of the body went out in all attempts.
  package var wireBytes: Int64
  /// How long all of it took.
  package var seconds: Double
  /// The digest of the request's body, where one was made.
  package var sha256: SHA256.Digest?
  /// The final answer, where one came.
  package var response: Response?
  /// Why the outcome is not `ok`.
  package var error: RecordFailure?

  package init(
    url: String, method: String, status: Int?, outcome: Outcome, attempts: Int, redirects: Int,
    contentLength: Int64?, framing: Framing, bytesSent: Int64, wireBytes: Int64, seconds: Double,
    sha256: SHA256.Digest?, response: Response?, error: RecordFailure?
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
    self.response = response
    self.error = error
  }

  package var json: JSONValue {
    [
      "schema": "formstream.result/1",
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
      "response": response?.json ?? .null,
      "error": error?.json ?? .null,
    ]
  }
}
