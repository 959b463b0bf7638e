/// Whether the server may have carried out a request, as far as its attempts show.
package enum Doubt: Comparable, Sendable {
  /// No attempt was carried out.
  case none
  /// A server responded that it had failed, to a request that may be sent again. The server may have carried out a part of that
  /// request.
  case serverFailed
  /// An attempt was sent completely, and no response says what became of it.
  case open
}

extension AttemptDecision.Verdict {
  /// The verdict on all attempts, if earlier ones left a doubt. Only a wanted status ends the doubt: a later refusal, a broken
  /// connection or a cancelled wait says nothing about an earlier attempt.
  func after(_ doubt: Doubt) -> Self {
    switch (outcome, doubt) {
    case (.ok, _), (.unknown, _), (_, .none), (.retryable, .serverFailed): return self
    default: break
    }
    return Self(.unknown, error?.afterDoubtfulAttempt)
  }
}

extension AttemptDecision {
  /// The same decision, but its verdict covers all attempts.
  func after(_ doubt: Doubt) -> Self {
    switch self {
    case .conclude(let verdict): .conclude(verdict.after(doubt))
    case .retry(let verdict, let retryAfter):
      .retry(verdict.after(doubt), retryAfter: retryAfter)
    case .authenticate(let verdict): .authenticate(verdict.after(doubt))
    case .repeatWithoutExpect, .repeatWithLength, .repeatAtOnce, .repeatOverHTTP11, .follow,
      .fetchPage,
      .keepEarlierResponse:
      self
    }
  }
}

extension Attempt {
  /// Whether the server may have carried out this attempt, if the attempt doesn't succeed.
  package func doubt(on facts: AttemptFacts) -> Doubt {
    guard changesSomething, !isPage, facts.repetition == nil else { return .none }
    guard let response = facts.response else { return facts.stage == .sent ? .open : .none }
    // The server may have taken the body for an empty one.
    if missingLength != nil, facts.speaksHTTP10, options.accepts(response.status) { return .open }
    guard facts.isResponseToCompleteRequest else { return .none }
    if response.isFromFailedGateway(isPassedOn: isPassedOn) {
      return isHarmlessTwice ? .serverFailed : .open
    }
    return response.status == 500 ? .serverFailed : .none
  }
}
