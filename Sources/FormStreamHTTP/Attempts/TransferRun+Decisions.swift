import FormStreamMultipart

/// The questions that the program is asked between two attempts. The request releases its connection meanwhile, because the
/// program may send requests itself before it decides.
extension TransferRun {
  var decisions: Decisions { request.options.decisions.or(session.configuration.decisions) }

  /// Asks the program for the target of the last response; nil if the program is not asked.
  var chooseTarget: (@Sendable (TransferResponse) async throws -> ResponseTarget?)? {
    switch request.options.responseTarget.kind {
    // The caller who reads a response, or downloads it, has chosen already.
    case .reader, .download: return nil
    case .memory, .file, .stream, .resumableFile: break
    }
    guard let choose = decisions.responseHead else { return nil }
    return { [responseDownload, tag = request.tag] head in
      var head = head
      head.tag = tag
      return try await choose(head)?.storing(in: responseDownload)
    }
  }

  /// Prepares another attempt with the credentials that a 401 asks for. Returns nil if there are such credentials, and
  /// otherwise the verdict that ends the request.
  ///
  /// - Parameter verdict: the verdict if there are no credentials.
  func authenticate(
    _ next: inout NextAttempt, _ result: ExchangeResult, or verdict: AttemptDecision.Verdict
  ) async -> AttemptDecision.Verdict? {
    guard let response = result.response else { return verdict }
    let offers = OfferedScheme.all(in: response.headers)
    if next.answer(offers, session.protectionSpaces) { return nil }
    guard let decide = decisions.challenge else { return verdict }
    connection.release()
    let challenge = AuthenticationChallenge(
      url: next.url, offers: offers, failureCount: next.refusals, response: response.withoutBody)
    let answer = await session.answeredCredentials.answer(
      for: answeredRequests(next), realm: challenge.realm, refused: next.authorization.credentials,
      control
    ) { try await decide(challenge) }
    switch answer {
    case nil: return .cancelled
    case .failure(let error):
      return .init(.failed, .decisionFailed(.challenge, next.url, error))
    case .success(let credentials):
      guard let credentials, next.use(credentials, for: offers, session.protectionSpaces) else {
        return verdict
      }
      return nil
    }
  }

  /// Follows a redirect, if the program allows it. Returns nil if it is followed, and otherwise the verdict that ends the request.
  ///
  /// - Parameter isCarriedOut: whether the request was carried out, so that the redirect only names a page to get.
  func follow(
    _ target: HTTPURL, isCarriedOut: Bool, _ next: inout NextAttempt, _ result: ExchangeResult
  ) async -> AttemptDecision.Verdict? {
    var following = next
    if isCarriedOut, !next.isPage { following.fetchPage(target) } else { following.follow(target) }
    guard let decide = decisions.redirect, let response = result.response else {
      next = following
      return nil
    }
    connection.release()
    let proposed = ProposedRedirect(
      source: next.url, target: target, method: following.method, headers: following.changeableHeaders,
      response: response.withoutBody)
    switch await control.ask({ try await decide(proposed) }) {
    case nil: return isCarriedOut ? .init(.ok, .cancelledDuringResponse) : .cancelled
    case .failure(let error):
      return .init(
        isCarriedOut ? .ok : .failed, .decisionFailed(.redirect, next.url, error))
    case .success(let choice):
      switch choice.kind {
      case .follow(nil): break
      case .follow(let change?):
        do throws(TransferError) {
          try following.check(change, in: session.configuration)
        } catch {
          return .init(isCarriedOut ? .ok : .failed, .decisionFailed(.redirect, next.url, error))
        }
        tracer?.hide(change.headers)
        following.use(change)
      case .keep:
        return isCarriedOut
          ? .init(.ok, nil) : .init(.failed, .redirectKept(from: next.url, response.status))
      }
      next = following
      return nil
    }
  }

  // MARK: Credentials

  /// What the next attempt sends to authenticate itself.
  func authorization(for next: NextAttempt) throws(TransferError) -> Authorization {
    var credentials = next.givenCredentials
    if credentials == nil, decisions.challenge != nil, next.prefersAnsweredCredentials {
      credentials = session.answeredCredentials.latest(for: answeredRequests(next))
    }
    guard credentials != nil || !next.sendsOwnAuthorization else { return Authorization(credentials: nil) }
    if credentials == nil, decisions.challenge == nil, let own = credentialsOfSession(next),
      session.refusedCredentials.contains(own, at: next.url.origin)
    {
      throw .credentialsRefusedBefore(next.url)
    }
    let authorization = try session.protectionSpaces.authorization(
      credentials ?? next.ownCredentials(session.configuration.netrc), next.method, next.url)
    if authorization.header != nil, authorization.challenge == nil,
      request.options.requiresEncryptionForCredentials,
      session.configuration.exposesSecrets(to: next.url.origin)
    {
      throw .credentialsNotEncrypted(next.url)
    }
    return authorization
  }

  /// The credentials of a request, if they were given once for all requests; nil if the request has credentials of its own, or
  /// none.
  private func credentialsOfSession(_ next: NextAttempt) -> Credentials? {
    let configuration = session.configuration
    let own = next.ownCredentials(configuration.netrc)
    let isOfAll = configuration.sharesCredentials || own != nil && next.ownCredentials(nil) != own
    return isOfAll ? own : nil
  }

  private func answeredRequests(_ next: NextAttempt) -> AnsweredCredentials.Requests {
    .init(origin: next.url.origin, own: next.ownCredentials(session.configuration.netrc))
  }

  // MARK: Expect

  /// Whether an attempt sends `Expect: 100-continue`, whether the body must wait for the 100, and how long the body waits.
  ///
  /// A body that can be read only once is not begun before the server had the chance to ask for credentials. If the server
  /// sends no response, the body is not sent. So the server gets more time than for other bodies.
  func expectation(
    _ next: NextAttempt
  ) throws(TransferError) -> (isSent: Bool, isRequired: Bool, timeout: Duration) {
    let policy = request.options.expectation
    guard let body = next.body, next.sendsBody else { return (false, false, .zero) }
    let isAllowed = next.mayExpect && policy.kind != .never
    if !body.isReplayable, next.authorization.awaitsChallenge {
      guard isAllowed else { throw .bodyCannotWait(next.url, length: body.contentLength) }
      return (true, true, policy.timeout * 10)
    }
    // RFC 9110 §10.1.1: "A client MUST NOT generate a 100-continue expectation in a request that does not include content."
    guard isAllowed, body.contentLength != 0 else { return (false, false, .zero) }
    guard policy.kind == .automatic else { return (true, false, policy.timeout) }
    let isLarge = body.contentLength.map { $0 > ContinuePolicy.largestUnasked } ?? true
    let isSent = isLarge && !session.knownServers.ignoresExpect(next.url.origin)
    return (isSent, false, policy.timeout)
  }
}

extension AttemptDecision.Verdict {
  static let cancelled = Self(.cancelled, .cancelledBeforeResponse)
}
