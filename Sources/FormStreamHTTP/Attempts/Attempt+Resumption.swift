import FormStreamMultipart

/// Decides how an upload goes on that the server keeps.
///
/// The server's word is never taken for more than it can know: an offset must lie between the bytes that the server has confirmed
/// and the bytes that were read for it. Otherwise a hole, or a piece of another upload, would become a part of the body.
extension Attempt {
  /// Where the server keeps the upload; nil if the upload can't go on. The resource is subject to the rules for redirects, so
  /// that a server can't send the body to somebody else.
  private func resourceURL(_ facts: AttemptFacts) -> HTTPURL? {
    guard mayResume else { return nil }
    if let known = resource?.url { return known }
    guard let named = facts.upload.resource else { return nil }
    switch obstacle(to: named) {
    case nil, .limit: return named
    default: return nil
    }
  }

  /// The decision after a broken attempt, if the server keeps what it has received.
  func resuming(_ decision: AttemptDecision, _ facts: AttemptFacts) -> AttemptDecision {
    guard facts.isTransient, let url = resourceURL(facts) else { return decision }
    return resuming(decision, at: url)
  }

  private func resuming(_ decision: AttemptDecision, at url: HTTPURL) -> AttemptDecision {
    switch decision {
    case .conclude(let verdict): resume(verdict, at: url)
    case .retry(let verdict, let retryAfter): resume(verdict, at: url, retryAfter: retryAfter)
    default: decision
    }
  }

  /// Decides on a response that is about the upload's bytes, and not about the complete request. Nil if the response is the one
  /// that the request itself would have got.
  ///
  /// "The value of true means that the semantics of the targeted resource apply, and the value of false means that the
  /// semantics of the resumable upload protocol apply."
  func decisionOnUnfinishedUpload(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision? {
    guard let url = resourceURL(facts), facts.upload.isComplete != true else { return nil }
    let refused = TransferError.statusRefused(self.url, response.status, to: method)
    switch response.status {
    case 500...599: return resuming(decisionOnRefusal(response, facts), at: url)
    case 200...299 where step.isAppending || facts.upload.isComplete == false:
      let verdict = AttemptDecision.Verdict(.unknown, .uploadNotCompleted(self.url, response.status))
      return resume(verdict, at: url)
    // The next answer to a question about the offset counts, and not what this response says about it.
    case 409 where step.isAppending:
      return resume(.init(.retryable, refused), at: url)
    case 404 where step.isAppending, 410 where step.isAppending:
      return beginningAgain(response.status)
    case let status where RetryPolicy.refusalsBeforeWork.contains(status) && step.isAppending:
      return resume(.init(.retryable, refused), at: url, retryAfter: response.retryAfter)
    default: return nil
    }
  }

  /// Decides on the response to the question for the offset.
  func decisionOnOffset(_ facts: AttemptFacts) -> AttemptDecision {
    guard let response = facts.response else {
      guard facts.isTransient else { return .conclude(.retryable, facts.failure) }
      return retry(.init(.retryable, facts.failure))
    }
    let refused = TransferError.statusRefused(url, response.status, to: method)
    switch response.status {
    case 200...299: return decisionOnConfirmedOffset(facts.upload)
    case 300...399:
      guard let location = response.location, !location.isEmpty else {
        return .conclude(.retryable, refused)
      }
      return redirection(response.status, location, facts)
    case 401: return decisionOnChallenge(response, refused)
    case 404, 410: return beginningAgain(response.status)
    case 408, 423, 425, 429, 500...599:
      return retry(.init(.retryable, refused), retryAfter: response.retryAfter)
    default: return .conclude(.retryable, refused)
    }
  }

  private func decisionOnConfirmedOffset(_ upload: UploadNotes) -> AttemptDecision {
    guard let resource, let length = bodyLength else { return .conclude(.failed, nil) }
    guard let offset = upload.offset else { return .conclude(.failed, .offsetMissing(url)) }
    if let announced = upload.length, announced != length {
      return .conclude(.failed, .uploadHasOtherLength(url, announced, insteadOf: length))
    }
    guard offset >= resource.confirmed else {
      return .conclude(.failed, .offsetWentBack(url, to: offset, from: resource.confirmed))
    }
    guard offset <= min(resource.mostSent, length) else {
      return .conclude(.failed, .offsetBeyondSent(url, offset, sent: min(resource.mostSent, length)))
    }
    guard upload.isComplete != true || offset == length else {
      return .conclude(.unknown, .uploadEndedEarly(url, at: offset, of: length))
    }
    return .append(from: offset)
  }

  /// The decision after the server has lost an unfinished upload, or has ended it: it is sent from the start, if the server may
  /// carry it out twice, or can't have carried it out.
  private func beginningAgain(_ status: Int) -> AttemptDecision {
    let verdict = AttemptDecision.Verdict(.retryable, .uploadLost(url, status))
    guard earlierDoubt == .none || isSafeToRepeat, tries < options.retry.attempts else {
      return .conclude(verdict)
    }
    return .beginAgain(verdict)
  }

  private func resume(
    _ verdict: AttemptDecision.Verdict, at url: HTTPURL, retryAfter: Duration? = nil
  ) -> AttemptDecision {
    guard tries < options.retry.attempts else { return .conclude(verdict) }
    return .resume(verdict, url, retryAfter: retryAfter)
  }
}
