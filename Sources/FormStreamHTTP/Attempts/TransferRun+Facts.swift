import FormStreamMultipart

/// The facts at the end of an attempt, and what the session learns from them.
extension TransferRun {
  /// The facts at the end of an attempt.
  nonisolated(nonsending) func facts(
    of result: ExchangeResult, _ next: NextAttempt, _ history: AttemptHistory
  ) async -> AttemptFacts {
    if let question = result.trustQuestion {
      return await facts(of: result, decidedOn: question, next.url, history)
    }
    var facts = result.facts
    guard let host = result.unresolvedHost, facts.failure?.code == .hostNotFound else {
      return facts
    }
    let isTemporary: Bool?
    if let known = result.mayResolveLater {
      isTemporary = known
    } else {
      let family = session.configuration.addressFamily
      isTemporary = await control.performBlocking(atMost: HostLookup.timeLimit) {
        HostLookup.isTemporaryFailure(host, family)
      }
    }
    if control.isCancelled {
      facts.failure = .cancelledBeforeResponse
      return facts
    }
    guard isTemporary ?? true else { return facts }
    (facts.failure, facts.isTransient) = (.hostLookupFailed(next.url, host, facts.failure), true)
    return facts
  }

  /// Asks the program about certificates that it has not seen. Nothing was sent yet, and the engine serves other requests
  /// meanwhile.
  nonisolated(nonsending) func facts(
    of result: ExchangeResult, decidedOn question: ServerTrust, _ url: HTTPURL,
    _ history: AttemptHistory
  ) async -> AttemptFacts {
    var facts = result.facts
    facts.isTransient = false
    guard history.trustQuestions <= Self.maximumTrustQuestions else {
      facts.failure = .tooManyCertificates(url)
      return facts
    }
    // Other requests may use the connection meanwhile.
    connection.release()
    let limit = request.options.timeLimits.attempt
    let decision = await control.wait(atMost: limit) { end in
      session.serverTrust?.ask(about: question) { _ = end($0) }
    }
    switch decision {
    case .trust: facts.repetition = .onNewConnection
    case .refuse: facts.failure = .certificateRefusedByProgram(question, url)
    case nil:
      facts.failure =
        if let limit, !control.isCancelled {
          .notTrustedInTime(limit, url)
        } else {
          .cancelledBeforeResponse
        }
    }
    return facts
  }

  /// How many different certificates a request asks the program about: several machines with the same name may have different
  /// certificates.
  private static let maximumTrustQuestions = 8

  func learn(from result: ExchangeResult, _ next: NextAttempt) {
    let origin = next.url.origin
    if let proxy = try? proxy(for: next.url),
      (result.facts.failure?.underlying as? WireFailure)?.areProxyCredentialsRefused == true
        || result.response?.status == 407 && isPassedOn(next.url, proxy)
    {
      session.refusedCredentials.note(proxy)
    }
    if result.hasContinued {
      session.knownServers.note(origin, ignoresExpect: false)
    } else if result.expectIgnored || result.facts.expectRejected {
      session.knownServers.note(origin, ignoresExpect: true)
    }
    if result.facts.repetition == .overHTTP2 {
      session.knownServers.note(origin, refusesHTTP11: true)
    }
    if let response = result.response {
      // Even a server that responded over HTTP/1.1 may speak HTTP/2: a long body is not sent over HTTP/2.
      if response.version == "2" { session.knownServers.note(origin, speaksHTTP2: true) }
      let peer = peer(of: next.url, try? proxy(for: next.url))
      session.knownServers.note(peer, speaksHTTP10: response.version == "1.0")
      if response.status < 500, response.status != 429 { session.budget.noteSuccess() }
      if response.status == 401, !request.options.accepts(401),
        let credentials = next.authorization.credentials,
        next.authorization.isRefused(by: OfferedScheme.all(in: response.headers))
      {
        session.refusedCredentials.note(credentials, at: origin)
      }
      if let challenge = next.authorization.challenge,
        let nonce = OfferedScheme.nextNonce(in: response.headers)
      {
        session.protectionSpaces.replaceNonce(of: challenge, with: nonce, at: origin)
      }
    }
  }
}
