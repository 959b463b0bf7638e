/// Whether the server may have carried out a request, judging by the request's attempts.
package enum Doubt: Comparable, Sendable {
  /// No attempt was carried out.
  case none
  /// A server responded that it had failed. The server may have carried out a part of the request, but the request may be sent
  /// again.
  case serverFailed
  /// An attempt was sent completely, and no response shows whether it was carried out.
  case open
}

extension AttemptDecision.Verdict {
  /// The verdict on all attempts, if earlier attempts may have been carried out. Only an accepted status ends the doubt: a
  /// later refusal, a broken connection or a cancelled wait says nothing about an earlier attempt.
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
    case .resume(let verdict, let url, let retryAfter):
      .resume(verdict.after(doubt), url, retryAfter: retryAfter)
    case .awaitServer(let verdict, let url, let retryAfter):
      .awaitServer(verdict.after(doubt), url, retryAfter: retryAfter)
    case .authenticate(let verdict): .authenticate(verdict.after(doubt))
    case .beginAgain(let verdict): .beginAgain(verdict.after(doubt))
    case .repeatWithoutExpect, .repeatWithLength, .repeatAtOnce, .repeatOverHTTP11, .follow,
      .fetchPage, .begin, .append, .keepEarlierResponse:
      self
    }
  }
}

extension Attempt {
  /// Whether the server may have carried out this attempt, if the attempt doesn't succeed.
  package func doubt(on facts: AttemptFacts) -> Doubt {
    guard mayBeCarriedOut, facts.repetition == nil else { return .none }
    // A server that appends the rest must say whether the upload is complete. One that doesn't say so may have carried it out.
    if step.isAppending, !saysIfComplete(facts.upload), let status = facts.response?.status, isSuccess(status) {
      return .open
    }
    // Nothing is known after a response as to a complete upload that is about other bytes.
    if let response = facts.response, otherBytes(response, facts.upload) != nil { return .open }
    // A server that says yes and no may have carried it out.
    if mayResume, uploadProtocol == .http, facts.upload.deniesAmongOthers, facts.response.map({ isSuccess($0.status) }) == true
    {
      return .open
    }
    // A server that says that the upload is not complete has not carried it out.
    if mayResume, uploadProtocol == .http, facts.response != nil, facts.upload.isComplete == false { return .none }
    // By tus, the response to the creation of an empty upload must name it.
    if step == .creation, facts.upload.resource == nil, let status = facts.response?.status, isSuccess(status) {
      return .open
    }
    guard let response = facts.response else { return facts.stage == .sent ? .open : .none }
    // A server that speaks only HTTP/1.0 doesn't know chunks, and may have read an empty body.
    if missingLength != nil, facts.speaksHTTP10, options.accepts(response.status) { return .open }
    guard facts.isResponseToCompleteRequest else { return .none }
    if response.isFromFailedGateway(isPassedOn: isPassedOn) {
      return isHarmlessTwice ? .serverFailed : .open
    }
    guard response.status == 500 else { return .none }
    // An upload whose last piece got a 500 may be asked about, but not sent once more.
    return isSafeToRepeat ? .serverFailed : .open
  }

  /// Whether the response to the last bytes says something about the upload that can be true.
  private func saysIfComplete(_ upload: UploadNotes) -> Bool {
    switch uploadProtocol {
    case .http: upload.isComplete != nil
    case .tus: upload.offset != nil && impossibility(in: upload) == nil
    }
  }
}
