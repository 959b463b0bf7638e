import FormStreamMultipart

/// Decides how an upload goes on that the server keeps.
///
/// The server's word is never taken for more than it can know: an offset must lie between the bytes that the server has confirmed
/// and the bytes that were read for it. Otherwise a hole, or a piece of another upload, would become a part of the body.
extension Attempt {
  /// Where the server keeps the upload; nil if the upload can't go on. Only the request that creates the upload can name the
  /// resource. The resource is subject to the rules for redirects, so that a server can't send the body to somebody else.
  func resourceURL(_ notes: UploadNotes) -> HTTPURL? {
    guard mayResume else { return nil }
    guard step == .request || step == .creation else { return resource?.url }
    guard let named = notes.resource else { return nil }
    return obstacleBeyondLimit(to: named) == nil ? named : nil
  }

  /// The decision after a broken attempt, if the server keeps what it has received.
  func resuming(_ decision: AttemptDecision, _ facts: AttemptFacts) -> AttemptDecision {
    guard facts.isTransient, let url = resourceURL(facts.upload) else { return decision }
    // The server could not be reached. Otherwise attempts count: a server that breaks each request has answered before.
    if facts.stage == .notSent, waitsForServer { return .awaitServer(.init(.retryable, facts.failure), url) }
    return resuming(decision, at: url)
  }

  /// Whether a server that keeps the upload is tried for a while, and not only for a number of attempts.
  private var waitsForServer: Bool { options.retry.patience != nil }

  /// Whether a response says that the server will go on with the upload at a time that it names. A server that was started again, for
  /// example, can't yet if its predecessor still holds the upload.
  private func isRefusedForNow(_ response: AttemptFacts.Response) -> Bool {
    waitsForServer && response.status == 503 && response.retryAfter.map { $0 > .zero } ?? false
  }

  private func resuming(_ decision: AttemptDecision, at url: HTTPURL) -> AttemptDecision {
    switch decision {
    case .conclude(let verdict): resume(verdict, at: url)
    case .retry(let verdict, let retryAfter): resume(verdict, at: url, retryAfter: retryAfter)
    default: decision
    }
  }

  private func resume(
    _ verdict: AttemptDecision.Verdict, at url: HTTPURL, retryAfter: Duration? = nil
  ) -> AttemptDecision {
    guard tries < options.retry.attempts else { return .conclude(verdict) }
    return .resume(verdict, url, retryAfter: retryAfter)
  }

  /// The decision after the server has lost an unfinished upload, or has ended it: it is sent from the start, if the server may
  /// carry it out twice, or can't have carried it out.
  private func beginningAgain(_ status: Int) -> AttemptDecision {
    let verdict = AttemptDecision.Verdict(.retryable, .uploadLost(url, status))
    guard createsUpload else { return .conclude(.failed, verdict.error) }
    guard earlierDoubt == .none || isSafeToRepeat else { return .conclude(.unknown, verdict.error) }
    return tries < options.retry.attempts ? .beginAgain(verdict) : .conclude(verdict)
  }
}

// MARK: Beginning

extension Attempt {
  /// Decides on the response to the question which protocol the server knows. A server that doesn't answer it knows none.
  func decisionOnOptions(_ facts: AttemptFacts) -> AttemptDecision {
    guard let response = facts.response else { return decisionOnNoAnswer(facts) }
    let refused = TransferError.statusRefused(url, response.status, to: sentMethod)
    switch response.status {
    case 401 where mayAuthenticate: return decisionOnChallenge(response, refused)
    case let status where RetryPolicy.refusalsBeforeWork.contains(status):
      return retry(.init(.retryable, refused), retryAfter: response.retryAfter)
    case 200...299: return beginning(facts.upload)
    default: return beginning(UploadNotes())
    }
  }

  /// A request can't be sent in pieces to a server that knows no protocol, and only tus tells metadata.
  private func beginning(_ upload: UploadNotes) -> AttemptDecision {
    let (start, obstacle) = start(upload)
    if start != .creation(.tus), !options.resumption.metadata.isEmpty {
      let error = upload.start == .creation(.tus) ? obstacle?.adding(.onlyTusTellsMetadata) : nil
      return .conclude(.failed, error ?? .metadataNotKnown(to: url))
    }
    if start == .request, let piece = options.resumption.pieceSize, let length = bodyLength, length > piece {
      return .conclude(.failed, obstacle?.adding(.piecesNeedProtocol(of: piece)) ?? .piecesNotKnown(to: url, of: piece, length))
    }
    return .begin(start)
  }

  /// How the upload begins, and why not by the protocol that the server names; the reason is nil if it begins so, or if the server names
  /// none. A server may accept a longer body than it keeps of an upload.
  private func start(_ upload: UploadNotes) -> (UploadStart, obstacle: TransferError?) {
    guard let start = upload.start else { return (.request, nil) }
    if let largest = upload.largestUpload, let length = bodyLength, length > largest {
      return (.request, .uploadTooLong(url, length, limit: largest))
    }
    return isExcludedByDigest(upload) ? (.request, .digestNotByTus(url)) : (start, nil)
  }

  /// Whether the digest keeps an upload from going on: tus has no header for it. The digest wins, because it shows what arrived.
  func isExcludedByDigest(_ upload: UploadNotes) -> Bool {
    upload.start == .creation(.tus) && options.sendsDigest
  }

  /// Decides on the response to a request that creates an upload.
  func decisionOnCreation(_ facts: AttemptFacts) -> AttemptDecision {
    guard let response = facts.response else {
      return mayBeCarriedOut ? decisionWithoutResponse(facts) : decisionOnNoAnswer(facts)
    }
    switch response.status {
    case 200...299:
      guard let named = facts.upload.resource else {
        return .conclude(
          mayBeCarriedOut ? .unknown : .failed, .uploadNotCreated(url, response.status, by: uploadProtocol))
      }
      if mayBeCarriedOut { return .conclude(.ok, nil) }
      if let obstacle = obstacleBeyondLimit(to: named) {
        return .conclude(.failed, .uploadElsewhere(url, named, because: obstacle))
      }
      return .append(from: 0)
    case 500...599 where mayBeCarriedOut: return decisionOnRefusal(response, facts)
    default: return decisionOnRefusedStep(response, facts)
    }
  }

  /// Decides on an attempt that has no response, and of which there is nothing to carry out.
  private func decisionOnNoAnswer(_ facts: AttemptFacts) -> AttemptDecision {
    guard facts.isTransient else { return .conclude(.failed, facts.failure) }
    return retry(.init(.retryable, facts.failure))
  }

  /// Decides on the refusal of a request of which there is nothing to carry out.
  private func decisionOnRefusedStep(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision {
    let refused = TransferError.statusRefused(url, response.status, to: sentMethod)
    switch response.status {
    case 307, 308:
      guard let location = response.location, !location.isEmpty else {
        return .conclude(.failed, refused)
      }
      return redirection(response.status, location, facts)
    case 401: return decisionOnChallenge(response, refused)
    case 407 where isPassedOn: return .conclude(.failed, .credentialsDemandedByProxy(url))
    // tus: 423 says that another request still holds the upload.
    case 408, 423, 425, 429, 500, 502, 503, 504, 507:
      return retry(.init(.retryable, refused), retryAfter: response.retryAfter)
    default: return .conclude(.failed, refused)
    }
  }
}

// MARK: Going on

extension Attempt {
  /// Decides on a response that is about the upload's bytes, and not about the complete request. Nil if the response is the one
  /// that the request itself would have got.
  func decisionOnUpload(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts
  ) -> AttemptDecision? {
    guard mayResume else { return nil }
    let url = resourceURL(facts.upload)
    guard case .append(let start, let end) = step else { return decisionOnOffer(response, facts, at: url) }
    return url.flatMap { decisionOnPiece(start..<max(start, end), response, facts, at: $0) }
  }

  /// Decides on the response to the request itself, if it says something about the upload.
  ///
  /// "The value of true means that the semantics of the targeted resource apply, and the value of false means that the
  /// semantics of the resumable upload protocol apply."
  private func decisionOnOffer(
    _ response: AttemptFacts.Response, _ facts: AttemptFacts, at url: HTTPURL?
  ) -> AttemptDecision? {
    let upload = facts.upload
    if let contradiction = contradiction(response, upload) { return contradiction }
    if upload.deniesAmongOthers, isSuccess(response.status) {
      return .conclude(.unknown, .uploadCompleteAndNot(self.url, response.status))
    }
    if upload.isComplete == false, isSuccess(response.status) { return decisionOnKept(response, upload, at: url) }
    guard let url, upload.isComplete != true else { return nil }
    switch response.status {
    case 408, 425: return resume(.init(.retryable, refusal(response)), at: url)
    case 500...599 where upload.isComplete == false:
      return resume(.init(.retryable, refusal(response)), at: url, retryAfter: response.retryAfter)
    case 500...599: return resuming(decisionOnRefusal(response, facts), at: url)
    case 413 where isTooLong(0..<(bodyLength ?? 0), facts):
      return resume(.init(.failed, refusal(response)), at: url)
    default: return nil
    }
  }

  /// The decision if a server says that it has kept what has arrived, and that this is not the complete upload. So it has not
  /// carried the request out.
  private func decisionOnKept(
    _ response: AttemptFacts.Response, _ upload: UploadNotes, at url: HTTPURL?
  ) -> AttemptDecision {
    if let url { return resume(.init(.retryable, .uploadNotCompleted(self.url, response.status)), at: url) }
    if let named = upload.resource, let obstacle = obstacleBeyondLimit(to: named) {
      return .conclude(.failed, .uploadElsewhere(self.url, named, because: obstacle))
    }
    return .conclude(.failed, .uploadWithoutURL(self.url, response.status))
  }

  /// The decision if a server responds as to a complete upload, but names another number of bytes; nil if it doesn't.
  private func contradiction(_ response: AttemptFacts.Response, _ upload: UploadNotes) -> AttemptDecision? {
    guard let length = bodyLength, let other = otherBytes(response, upload) else { return nil }
    return .conclude(.unknown, .uploadOfOtherBytes(url, other, of: length))
  }

  /// The other number of bytes that a server names, although it responds as to a complete upload; nil if it names none.
  func otherBytes(_ response: AttemptFacts.Response, _ upload: UploadNotes) -> Int64? {
    guard mayResume, uploadProtocol == .http, upload.isComplete ?? isSuccess(response.status) else { return nil }
    return [upload.offset, upload.length].compactMap(\.self).first { $0 != bodyLength }
  }

  private func refusal(_ response: AttemptFacts.Response) -> TransferError {
    .statusRefused(url, response.status, to: sentMethod)
  }

  /// Whether the server names a limit for the bytes of one request that this attempt exceeded.
  private func isTooLong(_ piece: Range<Int64>, _ facts: AttemptFacts) -> Bool {
    facts.upload.largestPiece.map { $0 < piece.upperBound - piece.lowerBound } ?? false
  }

  private func decisionOnPiece(
    _ piece: Range<Int64>, _ response: AttemptFacts.Response, _ facts: AttemptFacts, at url: HTTPURL
  ) -> AttemptDecision? {
    let isLast = piece.upperBound == bodyLength
    if uploadProtocol == .http, facts.upload.isComplete == true {
      guard !isLast else { return contradiction(response, facts.upload) }
      return .conclude(
        .unknown, .uploadEndedEarly(self.url, at: piece.upperBound, of: bodyLength ?? piece.upperBound))
    }
    switch response.status {
    case 200...299:
      return decisionOnAppended(piece, isLast: isLast, response, facts, at: url)
    case 503 where isRefusedForNow(response):
      return .awaitServer(.init(.retryable, refusal(response)), url, retryAfter: response.retryAfter)
    // The next answer to a question about the offset counts, and not what this response says about it. 408 and 425 say that the
    // request was too slow, or too early: the upload itself goes on.
    case 408, 409, 423, 425, 460: return resume(.init(.retryable, refusal(response)), at: url)
    case 413 where isTooLong(piece, facts): return resume(.init(.failed, refusal(response)), at: url)
    case 404, 410: return beginningAgain(response.status)
    // `?0`: the request was not carried out, and the upload is kept.
    case 500...599 where uploadProtocol == .http && facts.upload.isComplete == false:
      return resume(.init(.retryable, refusal(response)), at: url, retryAfter: response.retryAfter)
    // A gateway that has lost the last piece's response doesn't know whether the request was carried out.
    case 500...599 where isLast && response.isFromFailedGateway(isPassedOn: isPassedOn):
      return resuming(decisionOnRefusal(response, facts), at: url)
    case let status where RetryPolicy.refusalsBeforeWork.contains(status):
      return resume(.init(.retryable, refusal(response)), at: url, retryAfter: response.retryAfter)
    case 500...599 where !isLast: return resume(.init(.retryable, refusal(response)), at: url)
    case 500...599: return resuming(decisionOnRefusal(response, facts), at: url)
    default: return decisionOnOtherStatus(isLast: isLast, response, facts, at: url)
    }
  }

  /// Only the response to the last piece is the response to the request. Whatever a server says to another piece, the request is
  /// not carried out; to tus, it never has a response of its own.
  private func decisionOnOtherStatus(
    isLast: Bool, _ response: AttemptFacts.Response, _ facts: AttemptFacts, at url: HTTPURL
  ) -> AttemptDecision? {
    let isRepeated = options.redirects.repeatingStatuses.contains(response.status)
    if isLast, uploadProtocol == .http {
      guard isSuccess(response.status), !isRepeated else { return nil }
      return resume(.init(.unknown, .uploadNotCompleted(self.url, response.status)), at: url)
    }
    if (300...399).contains(response.status), response.status != 303 || isRepeated,
      let location = response.location, !location.isEmpty
    {
      return redirection(response.status, location, facts)
    }
    let decision = decisionOnRefusedStep(response, facts)
    guard case .retry(let verdict, let retryAfter) = decision else { return decision }
    return resume(verdict, at: url, retryAfter: retryAfter)
  }

  private func decisionOnAppended(
    _ piece: Range<Int64>, isLast: Bool, _ response: AttemptFacts.Response, _ facts: AttemptFacts,
    at url: HTTPURL
  ) -> AttemptDecision? {
    switch uploadProtocol {
    case .tus:
      guard facts.isResponseToCompleteRequest, let offset = facts.upload.offset else {
        return resume(.init(isLast ? .unknown : .retryable, .offsetMissing(self.url)), at: url)
      }
      if isLast, offset == bodyLength, impossibility(in: facts.upload) == nil { return nil }
      return decisionOnConfirmed(facts.upload, after: piece, response, at: url)
    case .http where isLast:
      let outcome: TransferResult.Outcome = facts.upload.isComplete == false ? .retryable : .unknown
      return resume(.init(outcome, .uploadNotCompleted(self.url, response.status)), at: url)
    case .http:
      guard facts.isResponseToCompleteRequest else {
        return resume(.init(.retryable, .uploadNotCompleted(self.url, response.status)), at: url)
      }
      // "A 2xx (Successful) status code indicates that representation data was appended". The offset need not be in the response.
      var notes = facts.upload
      notes.offset = notes.offset ?? piece.upperBound
      return decisionOnConfirmed(notes, after: piece, response, at: url)
    }
  }

  /// Decides on a response that says how much of a piece was appended. If that is nothing, the same piece would be sent at once,
  /// again and again.
  private func decisionOnConfirmed(
    _ notes: UploadNotes, after piece: Range<Int64>, _ response: AttemptFacts.Response, at url: HTTPURL
  ) -> AttemptDecision {
    let decision = decisionOnConfirmed(notes)
    guard case .append(let offset) = decision, offset <= piece.lowerBound else { return decision }
    return resume(.init(.retryable, .nothingAppended(self.url, response.status, at: offset)), at: url)
  }

  /// Decides on the response to the question for the offset.
  func decisionOnOffset(_ facts: AttemptFacts) -> AttemptDecision {
    guard let response = facts.response else {
      guard facts.isTransient else { return .conclude(.retryable, facts.failure) }
      return waitsForServer
        ? .awaitServer(.init(.retryable, facts.failure), url) : retry(.init(.retryable, facts.failure))
    }
    if hasLostUpload(facts) { return beginningAgain(response.status) }
    if isRefusedForNow(response) {
      return .awaitServer(.init(.retryable, refusal(response)), url, retryAfter: response.retryAfter)
    }
    guard (200...299).contains(response.status) else { return decisionOnRefusedStep(response, facts) }
    return decisionOnConfirmed(facts.upload)
  }

  /// Whether the response says that the server no longer keeps the upload.
  func hasLostUpload(_ facts: AttemptFacts) -> Bool {
    guard step == .offset || step.isAppending, let status = facts.response?.status else { return false }
    // tus: "the Server SHOULD return either the 404 Not Found, 410 Gone or 403 Forbidden status".
    return [404, 410].contains(status) || status == 403 && step == .offset && uploadProtocol == .tus
  }

  private func decisionOnConfirmed(_ upload: UploadNotes) -> AttemptDecision {
    if let impossible = impossibility(in: upload) {
      // Nothing is known about an upload that may be complete: neither does a server count that has denied it before.
      let isSentWhole = resource.map { $0.mostSent >= bodyLength ?? .max } ?? false
      let isInDoubt = mayBeCarriedOut || earlierDoubt != .none || isSentWhole
      return isInDoubt ? .conclude(.unknown, impossible) : .conclude(.failed, impossible.sendingUploadAgain)
    }
    guard let length = bodyLength, let offset = upload.offset else { return .conclude(.failed, .offsetMissing(url)) }
    if upload.isComplete == true, offset < length {
      return .conclude(.unknown, .uploadEndedEarly(url, at: offset, of: length))
    }
    // To tus, an upload with all its bytes is complete, and there is no other response. But the server must know its length.
    if uploadProtocol == .tus, offset == length, step.isAppending || !upload.lacksLength(isGiven: !createsUpload) {
      return .conclude(.ok, nil)
    }
    return .append(from: offset)
  }

  /// Why what a server says about the upload can't be true; nil if it can.
  func impossibility(in upload: UploadNotes) -> TransferError? {
    guard let resource, let length = bodyLength, let offset = upload.offset else { return .offsetMissing(url) }
    if let announced = upload.length, announced != length {
      return .uploadHasOtherLength(url, announced, insteadOf: length)
    }
    if offset < resource.confirmed { return .offsetWentBack(url, to: offset, from: resource.confirmed) }
    let most = min(resource.mostSent, length)
    return offset > most ? .offsetBeyondSent(url, offset, sent: most) : nil
  }
}
