import FormStreamPlatform
import FormStreamMultipart

extension Attempt {
  /// Decides what follows the attempt.
  package func decision(on facts: AttemptFacts) -> AttemptDecision {
    if let repetition = facts.repetition { return .repeatAtOnce(repetition) }
    if let demand = facts.demandedHTTP11 { return decisionOnDemand(demand, facts) }
    let decision =
      isPage ? decisionOnPage(facts) : decisionOnThisAttempt(facts).after(earlierDoubt)
    return options.retry.retriesAllFailures ? repeatingFailure(decision, facts) : decision
  }

  /// Retries a failed request that only reads, even after failures that are not transient.
  private func repeatingFailure(
    _ decision: AttemptDecision, _ facts: AttemptFacts
  ) -> AttemptDecision {
    let codes: Set<TransferError.Code> = [
      .statusRefused, .malformedResponse, .decompressionFailed, .connectionLost, .hostNotFound,
      .tlsFailed, .certificateRefused, .proxyRefused,
    ]
    guard case .conclude(let verdict) = decision, verdict.outcome == .failed, !isPage,
      !changesSomething, let code = verdict.error?.code, codes.contains(code)
    else { return decision }
    // Bytes can't be taken back from a stream.
    let isPassedOn = facts.response.map { options.accepts($0.status) && $0.isTruncated } ?? false
    return isPassedOn && options.responseTarget.isStream ? decision : retry(verdict)
  }

  private func decisionOnThisAttempt(_ facts: AttemptFacts) -> AttemptDecision {
    switch facts.failure?.code {
    case .cancelled: return decisionOnCancelling(facts)
    case .sourceChanged: return .conclude(.sourceChanged, facts.failure)
    default: break
    }
    switch step {
    case .options: return decisionOnOptions(facts)
    case .creation: return decisionOnCreation(facts)
    case .offset: return decisionOnOffset(facts)
    case .request, .page, .append: break
    }
    if let response = facts.response { return decisionWithResponse(response, facts) }
    return resuming(decisionWithoutResponse(facts), facts)
  }

  private func decisionWithResponse(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision {
    // RFC 9110 §15.5.18: a 417 rejects the expectation, not the request.
    if facts.expectRejected { return .repeatWithoutExpect }
    if let decision = decisionOnUpload(response, facts) { return decision }
    if options.accepts(response.status) { return decisionOnSuccess(response, facts) }
    // Browsers and curl ignore an empty Location. A 303 says that the request was carried out, even if its Location is empty.
    if (300...399).contains(response.status), let location = response.location,
      !location.isEmpty || response.status == 303 && changesSomething
    {
      return redirection(response.status, location, facts)
    }
    return decisionOnRefusal(response, facts)
  }

  private func decisionOnSuccess(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision {
    if missingLength != nil, facts.speaksHTTP10 {
      // If the body is sent again with its length, the response shows whether the server has the complete body.
      if missingLength == .measurable, isSafeToRepeat { return .repeatWithLength }
      return .conclude(.unknown, .chunksOverHTTP10(url, response.status))
    }
    guard facts.isResponseToCompleteRequest else {
      return .conclude(
        .unknown,
        .respondedEarly(url, response.status, after: facts.handedOverAtResponse, of: bodyLength))
    }
    // A request that only reads has failed if the response is incomplete.
    if response.isTruncated, let failure = facts.failure, !changesSomething {
      let verdict = AttemptDecision.Verdict(facts.isTransient ? .retryable : .failed, failure)
      // A failure that another attempt can't mend is final, such as a full disk. So is the failure of a response that goes to a
      // stream: its bytes can't be taken back.
      guard facts.isTransient, !options.responseTarget.isStream else { return .conclude(verdict) }
      return retry(verdict)
    }
    return .conclude(.ok, facts.failure)
  }

  func decisionOnRefusal(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision {
    let refused = TransferError.statusRefused(url, response.status, to: sentMethod)
    if response.isFromFailedGateway(isPassedOn: isPassedOn) {
      // If sending the request twice is harmless, the outcome is `retryable`: the gateway may reach its server the next time.
      if isHarmlessTwice { return retry(.init(.retryable, refused)) }
      guard facts.isResponseToCompleteRequest else { return .conclude(.retryable, refused) }
      let unknown = AttemptDecision.Verdict(.unknown, refused.perhapsPassedOn)
      return isSafeToRepeat ? retry(unknown) : .conclude(unknown)
    }
    switch response.status {
    case 401: return decisionOnChallenge(response, refused)
    // RFC 9110 §15.5.12: "the server refuses to accept the request without a defined Content-Length". RFC 9112 §6.1: "A
    // server that receives a request message with a transfer coding it does not understand SHOULD respond with 501".
    case 411, 501:
      switch missingLength {
      case .measurable: return .repeatWithLength
      case .oneShot: return .conclude(.failed, refused.refusingChunks(response.status))
      case nil: return .conclude(.failed, refused)
      }
    // RFC 9110 §15.5.8: "the client needs to authenticate itself in order to use a proxy for this request".
    case 407 where isPassedOn:
      return .conclude(.failed, .credentialsDemandedByProxy(url))
    case let status where RetryPolicy.refusalsBeforeWork.contains(status):
      return retry(.init(.retryable, refused), retryAfter: response.retryAfter)
    case let status where RetryPolicy.unclearRefusals.contains(status):
      return isSafeToRepeat ? retry(.init(.retryable, refused)) : .conclude(.failed, refused)
    case 415 where options.bodyCoding != .none:
      return .conclude(.failed, refused.refusingCompressedBody)
    default: return .conclude(.failed, refused)
    }
  }

  func decisionWithoutResponse(_ facts: AttemptFacts) -> AttemptDecision {
    // Another attempt doesn't help if the body's source fails.
    if facts.failure?.code == .streamFailed || facts.failure?.underlying is MultipartError {
      return .conclude(.failed, facts.failure)
    }
    switch facts.stage {
    case .notSent:
      guard facts.isTransient else { return .conclude(.failed, facts.failure) }
      return retry(.init(.retryable, facts.failure))
    case .partlySent:
      // A server that closes the connection early has usually sent a response before. With TLS, this response can be lost.
      return retry(.init(facts.isEncrypted && mayBeCarriedOut ? .unknown : .retryable, facts.failure))
    case .sent:
      // If the response can't be read, another attempt gets the same response.
      guard facts.isTransient else {
        return .conclude(mayBeCarriedOut ? .unknown : .failed, facts.failure)
      }
      let verdict = AttemptDecision.Verdict(
        mayBeCarriedOut ? .unknown : .retryable, facts.failure)
      return isSafeToRepeat ? retry(verdict) : .conclude(verdict)
    }
  }

  /// RFC 9113 §8.7: only REFUSED_STREAM and GOAWAY prove that a request was not processed. HTTP_1_1_REQUIRED is such a proof
  /// only if a part of the request was not sent: a server can't carry out a part of a request.
  private func decisionOnDemand(_ demand: HTTP11Demand, _ facts: AttemptFacts) -> AttemptDecision {
    let isInDoubt = facts.stage == .sent && mayBeCarriedOut
    if demand == .allowed, !hasUsedOneShot, !isInDoubt || isSafeToRepeat {
      return .repeatOverHTTP11
    }
    if isPage { return .keepEarlierResponse }
    return .conclude(
      AttemptDecision.Verdict(isInDoubt ? .unknown : .failed, facts.failure).after(earlierDoubt))
  }

  /// Cancelling ends the attempt, but the server may still carry out the request.
  private func decisionOnCancelling(_ facts: AttemptFacts) -> AttemptDecision {
    if mayBeCarriedOut, let response = facts.response {
      switch step == .creation ? decisionOnCreation(facts) : decisionWithResponse(response, facts) {
      case .conclude(let verdict) where verdict.outcome == .ok || verdict.outcome == .unknown:
        return .conclude(verdict.outcome, facts.failure)
      case .fetchPage: return .conclude(.ok, facts.failure)
      default: break
      }
    }
    if doubt(on: facts) == .none { return .conclude(.cancelled, facts.failure) }
    return .conclude(.unknown, facts.failure?.afterCompleteRequest)
  }

  /// RFC 9110 §15.4.4: a 303 says that the request was carried out, and names a page that describes the result. If the page
  /// can't be fetched, the request was carried out nevertheless.
  private func decisionOnPage(_ facts: AttemptFacts) -> AttemptDecision {
    guard let response = facts.response else { return .keepEarlierResponse }
    if (300...399).contains(response.status), let location = response.location,
      case .follow(let target) = redirection(response.status, location, facts)
    {
      return .follow(target)
    }
    if response.status == 401, mayAuthenticate { return .authenticate(.init(.ok, nil)) }
    // If the page goes to a stream, the stream has already received the beginning of an incomplete page.
    guard options.accepts(response.status), facts.failure == nil || options.responseTarget.isStream
    else { return .keepEarlierResponse }
    return .conclude(.ok, facts.failure)
  }

  /// Retries if the policy and the body allow it.
  func retry(
    _ verdict: AttemptDecision.Verdict, retryAfter: Duration? = nil
  ) -> AttemptDecision {
    guard tries < options.retry.attempts else { return .conclude(verdict) }
    guard hasUsedOneShot else { return .retry(verdict, retryAfter: retryAfter) }
    guard let error = verdict.error else { return .conclude(verdict) }
    return .conclude(verdict.outcome, error.notRetried(length: bodyLength))
  }

  /// Whether the server is allowed to carry out the request twice.
  var isSafeToRepeat: Bool { options.permitTwice(method) }

  /// Whether a server that doesn't get the idempotency key is allowed to carry out the request twice.
  var isSafeWithoutKey: Bool { options.permitTwice(method, getsKey: false) }
}

extension Attempt {
  /// Whether carrying out the request twice has the same effect as carrying it out once.
  var isHarmlessTwice: Bool { method.isIdempotent || options.idempotencyKey != nil || isSettledByRepetition }
}

// The rule of safety: which requests may be sent again. Batches also use this rule. They count their attempts themselves,
// because the files of a request can change.
extension TransferOptions {
  /// Whether a server is allowed to carry out a request twice.
  ///
  /// - Parameter getsKey: whether the server gets the idempotency key, if there is one.
  package func permitTwice(_ method: HTTPMethod, getsKey: Bool = true) -> Bool {
    method.isIdempotent || retry.retriesUnsafe || getsKey && idempotencyKey != nil
  }

  /// Whether a request that ended with an outcome may be sent again.
  func permitRepetition(
    of method: HTTPMethod, after outcome: TransferResult.Outcome, getsKey: Bool
  ) -> Bool {
    switch outcome {
    case .retryable: true
    case .unknown: permitTwice(method, getsKey: getsKey)
    case .ok, .failed, .sourceChanged, .cancelled: false
    }
  }
}
