/// What follows an attempt.
package enum AttemptDecision: Sendable {
  /// The transfer ends, with this outcome.
  case conclude(Verdict)
  /// The same request is sent again after a wait. If no other attempt is allowed, the transfer ends with the verdict.
  case retry(Verdict, retryAfter: Duration?)
  /// The same request is sent again at once, without `Expect: 100-continue`.
  case repeatWithoutExpect
  /// The same request is sent again at once, with a `Content-Length`.
  case repeatWithLength
  /// The same request is sent again at once, because the server has not processed it. The attempt is not counted.
  case repeatAtOnce(ImmediateRepeat)
  /// The same request is sent again at once with HTTP/1.1, because the server demands it. This counts as another attempt,
  /// because the server may have processed the request.
  case repeatOverHTTP11
  /// The same request is sent again at once, with credentials that the server asks for. If there are no such credentials, the
  /// transfer ends with the verdict.
  case authenticate(Verdict)
  /// The request is sent to another URL.
  case follow(HTTPURL)
  /// The request succeeded, and its response names a page to get.
  case fetchPage(HTTPURL)
  /// The upload is begun at once, in a way that the server knows.
  case begin(UploadStart)
  /// The server is asked, after a wait, how much of the unfinished upload it has. If no other attempt is allowed, the transfer
  /// ends with the verdict.
  case resume(Verdict, HTTPURL, retryAfter: Duration? = nil)
  /// A server that keeps the unfinished upload doesn't respond, or refuses for now to go on with it. The server is asked again, after a
  /// wait, how much it has: for as long as the policy's patience allows, however many attempts that takes. After that, the transfer ends
  /// with the verdict.
  case awaitServer(Verdict, HTTPURL, retryAfter: Duration? = nil)
  /// The server no longer keeps the unfinished upload: the request is sent from its start, after a wait.
  case beginAgain(Verdict)
  /// Bytes are appended to an upload at once, from the offset on that the server has confirmed.
  case append(from: Int64)
  /// The page can't be used: the transfer ends with the response that named the page.
  case keepEarlierResponse

  /// The outcome and the error that the transfer reports.
  package struct Verdict: Sendable {
    package var outcome: TransferResult.Outcome
    package var error: TransferError?

    package init(_ outcome: TransferResult.Outcome, _ error: TransferError?) {
      self.outcome = outcome
      self.error = error
    }
  }

  /// Whether the caller gets the attempt's response.
  package var isFinal: Bool { if case .conclude = self { true } else { false } }

  static func conclude(
    _ outcome: TransferResult.Outcome, _ error: TransferError?
  ) -> AttemptDecision {
    .conclude(Verdict(outcome, error))
  }
}
