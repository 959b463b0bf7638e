/// What is known about an attempt, and decides the next step.
package struct AttemptFacts: Sendable {
  /// The properties of the final response that decide the next step.
  package struct Response: Sendable {
    package var status: Int
    package var location: String?
    package var retryAfter: Duration?
    /// Whether a part of the body is missing.
    package var isTruncated: Bool

    package init(
      status: Int, location: String? = nil, retryAfter: Duration? = nil, isTruncated: Bool = false
    ) {
      self.status = status
      self.location = location
      self.retryAfter = retryAfter
      self.isTruncated = isTruncated
    }
  }

  /// The response; nil if its head didn't arrive completely.
  package var response: Response?
  /// Why there is no complete response.
  package var failure: TransferError?
  /// Whether another attempt may succeed: the server wasn't reached, or the connection broke.
  package var isTransient: Bool
  package var stage: AttemptStage
  /// The number of body bytes that were handed over before the response began.
  package var handedOverAtResponse: Int64
  /// Whether the complete request was handed over before the response began: only then can the response refer to
  /// all of it.
  package var isResponseToCompleteRequest: Bool
  package var isEncrypted: Bool
  /// Whether the server refused `Expect: 100-continue` with 417, and received no byte of the body.
  package var expectRejected: Bool
  /// How the same request is sent again at once, as the server has not looked at it; nil if that isn't certain.
  package var repetition: Repetition?

  package init(
    response: Response? = nil, failure: TransferError? = nil, isTransient: Bool = false,
    stage: AttemptStage = .sent, handedOverAtResponse: Int64 = 0,
    isResponseToCompleteRequest: Bool = true, isEncrypted: Bool = false,
    expectRejected: Bool = false, repetition: Repetition? = nil
  ) {
    self.response = response
    self.failure = failure
    self.isTransient = isTransient
    self.stage = stage
    self.handedOverAtResponse = handedOverAtResponse
    self.isResponseToCompleteRequest = isResponseToCompleteRequest
    self.isEncrypted = isEncrypted
    self.expectRejected = expectRejected
    self.repetition = repetition
  }
}

extension AttemptFacts {
  /// The facts at the end of an attempt.
  init(_ result: ExchangeResult) {
    self.init(
      response: result.response.map { response in
        Response(
          status: response.status, location: response.headers["Location"],
          retryAfter: RetryAfter.duration(response.headers), isTruncated: response.isTruncated)
      },
      failure: result.failure, isTransient: result.isTransient, stage: result.stage,
      handedOverAtResponse: result.handedOverAtResponse ?? result.handedOver,
      isResponseToCompleteRequest: result.isResponseToCompleteRequest,
      isEncrypted: result.isEncrypted, expectRejected: result.expectRejected,
      repetition: result.repetition)
  }

  /// The facts when a response's head has arrived, if everything goes well from there: the body arrives completely,
  /// and the response refers to the complete request. Whether a 417 rejects only `Expect` isn't known yet.
  package init(headWithStatus status: Int, _ headers: HTTPHeaders) {
    self.init(response: Response(status: status, location: headers["Location"]))
  }
}
