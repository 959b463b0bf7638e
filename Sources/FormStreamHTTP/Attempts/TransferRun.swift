import FormStreamMultipart
import FormStreamDigest

/// A request from its first attempt to its result.
///
/// An `Exchange` sends one attempt, an `Attempt` decides what follows it, and this type carries the decision out. The request
/// waits for a connection before the body is measured: requests begin in the order in which they were started, and files of
/// requests that still wait may change.
///
/// This file is longer than 400 lines because all steps of a request use the same private state: its connection, time and
/// trace.
final class TransferRun: Sendable {
  /// The caller's request.
  let originalRequest: TransferRequest
  /// The request with the target that its response goes to.
  let request: TransferRequest
  let session: TransferSession
  /// Where the request's own tasks run.
  let engine: Engine
  let publisher: ProgressPublisher
  let control: TransferControl

  let connection: ConnectionLease
  /// The wait for the bytes of the body, from its preparation until they are read.
  let bodyWait: WaitingRequest
  /// The time that the next attempt has already used of its limit.
  let time: AttemptTime
  private let tracer: Tracer?

  /// - Parameter response: gets the response in place of the request's own target; nil if the request's own target gets it.
  init(
    _ request: TransferRequest, readBy response: ArrivingResponse? = nil, session: TransferSession,
    engine: Int
  ) {
    originalRequest = request
    var request = request
    request.options = request.options.bounded
    if let response { request.options.responseTarget = .reader(response) }
    self.request = request
    self.session = session
    self.engine = session.engines[engine]
    connection = ConnectionLease(
      session.connectionLimit, on: engine, isWaitedFor: WaitingRequest.areWaiting(in: session))
    bodyWait = WaitingRequest(in: ObjectIdentifier(session))
    publisher = ProgressPublisher(pace: request.options.progressPace)
    control = TransferControl(self.engine)
    time = AttemptTime(limit: self.request.options.timeLimits.attempt)
    tracer = request.options.trace.map { Tracer(request, report: $0) }
  }

  /// Sends the request, as often as needed, and returns its result.
  func perform() async -> TransferResult {
    var history = AttemptHistory(RetryLoop(request.options.retry, budget: session.budget))
    var next: NextAttempt
    do throws(TransferError) {
      let url = try request.checked(in: session.configuration)
      // The request's body may turn out to need a connection of its own.
      try await takeConnection(
        to: url, mayShare: session.configuration.version != .http11, history)
      next = try await NextAttempt.first(of: self, to: url)
    } catch {
      return await conclude(history, .init(.afterFailedPreparation(error), error))
    }
    history.begin(next.body)
    publisher.begin(next.body)
    while true {
      let result: ExchangeResult
      do throws(TransferError) {
        try await announceLength(&next, &history)
        result = try await send(&next, history)
      } catch {
        let verdict = AttemptDecision.Verdict(.afterFailedPreparation(error), error)
        return await conclude(history, verdict.after(history.doubt))
      }
      let earlierDoubt = history.doubt
      history.note(result)
      let facts = await facts(of: result, next, history)
      learn(from: result, next)
      let attempt = attempt(next, history, earlierDoubt, result)
      history.note(attempt.doubt(on: facts))
      switch attempt.decision(on: facts) {
      case .conclude(let verdict): return await conclude(history, verdict)
      case .keepEarlierResponse: return await conclude(history, .init(.ok, nil))
      case .fetchPage(let url):
        if let verdict = await choose(url, isCarriedOut: true, next, result) {
          return await conclude(history, verdict.after(history.doubt))
        }
        return await fetchPage(url, after: next, history)
      case .follow(let url):
        if let verdict = await choose(url, isCarriedOut: false, next, result) {
          return await conclude(history, verdict.after(history.doubt))
        }
        noteUnusedCredentials(of: url)
        next.follow(url)
        history.noteRedirect(sendsKey: next.sendsOwnHeaders)
      case .repeatWithoutExpect:
        next.repeatWithoutExpect()
        history.noteRepetition()
      case .repeatWithLength:
        next.repeatWithLength()
        history.noteRepetition()
      case .authenticate(let verdict):
        if let verdict = await authenticate(&next, result, or: verdict) {
          return await conclude(history, verdict.after(history.doubt))
        }
        history.noteRepetition()
      case .repeatAtOnce(let repetition):
        next.repeatAtOnce(repetition)
        history.noteNotLookedAt()
      case .repeatOverHTTP11:
        next.repeatOverHTTP11()
        publisher.update { $0.attempt = history.attempts + 1 }
      case .retry(let verdict, let retryAfter):
        let (body, attempt) = (next.body, history.attempts + 1)
        let wait = await history.loop.wait(after: verdict, retryAfter: retryAfter, control) {
          connection.release()
          tracer?.note("Trying again in \($0.inSeconds): \(verdict.error?.description ?? "")")
          await control.announce(
            TransferRetry(error: verdict.error, delay: $0, attempt: attempt),
            to: request.options.willRetry)
          publisher.begin(body, phase: .retrying)
        }
        switch wait {
        case .over: next.retry()
        case .ended(let verdict): return await conclude(history, verdict)
        case .cancelled: return await conclude(history, .cancelled.after(history.doubt))
        }
        publisher.update { $0.attempt = attempt }
      }
      publisher.begin(next.body, phase: .connecting)
    }
  }

  // MARK: An attempt

  private func send(
    _ next: inout NextAttempt, _ history: AttemptHistory
  ) async throws(TransferError) -> ExchangeResult {
    let mayShare = next.mayShareConnection(
      over: session.configuration.version,
      refusesHTTP11: session.knownServers.refusesHTTP11(next.url.origin))
    try await takeConnection(to: next.url, mayShare: mayShare, history)
    publisher.update { $0.phase = .connecting }
    try await checkEmptiness(next)
    next.authorization = try authorization(for: next)
    let proxy = try usableProxy(for: next.url)
    let expectation = try expectation(next)
    let (options, sendsExpect) = (request.options, expectation.isSent)
    // A response to this attempt means that the body was begun, unless the response came in place of a 100.
    let attempt = next.attempt(
      tries: history.loop.tries + 1, redirects: history.redirects,
      hasUsedOneShot: next.body?.isReplayable == false && !sendsExpect,
      earlierDoubt: history.doubt, asksForCredentials: decisions.challenge != nil,
      isPassedOn: isPassedOn(next.url, proxy))
    let choosesTarget = chooseTarget != nil
    var wireRequest = next.wireRequest(
      expectTimeout: sendsExpect ? expectation.timeout : nil,
      configuration: session.configuration,
      refusesHTTP11: session.knownServers.refusesHTTP11(next.url.origin)
    ) { status, headers, version in
      let decision = attempt.decision(
        on: AttemptFacts(
          headWithStatus: status, headers, version: version, sentExpect: sendsExpect))
      if case .reader(let response) = options.responseTarget.kind { response.note(decision) }
      return (choosesTarget || !options.keepsInMemory(status)) && decision.isFinal
    }
    wireRequest.proxy = proxy
    wireRequest.requiresContinue = expectation.isRequired
    wireRequest.cookieJar = session.cookieJar
    wireRequest.chooseTarget = chooseTarget
    wireRequest.serverTrust = session.serverTrust
    wireRequest.session = ObjectIdentifier(session)
    wireRequest.bodyWait = bodyWait
    wireRequest.activity = connection.activity
    wireRequest.needsExtraConnection = connection.isExtra
    wireRequest.waited = time.take()
    let exchange = try Exchange(wireRequest, publisher: publisher, tracer: tracer)
    return await control.run(exchange, on: session.engines[connection.engine])
  }

  /// Waits until the request may use a connection to the URL's origin, and is not paused.
  ///
  /// - Parameter mayShare: whether other requests may use the connection, too, if it speaks HTTP/2.
  private func takeConnection(
    to url: HTTPURL, mayShare: Bool, _ history: AttemptHistory
  ) async throws(TransferError) {
    let (origin, servers) = (url.origin, session.knownServers)
    let mayShare = mayShare && origin.scheme == "https"
    while true {
      if control.isPaused {
        // Other requests may have the connection meanwhile.
        connection.release()
        await control.waitWhilePaused()
      }
      let limit = timeToBegin(history.loop)
      let waitStart = ContinuousClock.now
      var isQueued = false
      let patience = request.options.timeLimits.stall
      let ending = await time.spend {
        await connection.take(
          origin, mayShare: { mayShare && servers.speaksHTTP2(origin) }, within: limit?.time,
          patience: patience, control
        ) {
          isQueued = true
          publisher.update { $0.phase = .queued }
        }
      }
      if ending == .heldUp, let patience { throw .connectionsHeldUp(patience, to: url) }
      guard ending == .taken, !control.isCancelled else {
        guard let limit, !control.isCancelled else { throw .cancelledBeforeResponse }
        throw .noConnectionInTime(limit.time, limit.setting, to: url)
      }
      // The wait for the connection took longer than its limit if the process was stopped meanwhile.
      if isQueued, let limit, limit.time < waitStart.duration(to: .now) {
        throw .noConnectionInTime(limit.time, limit.setting, to: url)
      }
      if isQueued { publisher.update { $0.phase = .connecting } }
      if !control.isPaused { return }
    }
  }

  /// Checks a body of length 0 whose files may block.
  private func checkEmptiness(_ next: NextAttempt) async throws(TransferError) {
    guard next.sendsBody, let body = next.body, body.contentLength == 0, !body.hasStreams,
      body.mustBeWaitedFor
    else { return }
    try await prepareBody(by: .measuring) { () throws(TransferError) in
      try body.checkEmptiness()
    }
  }

  /// The proxy for requests to a URL; nil if there is none.
  func proxy(for url: HTTPURL) throws(TransferError) -> Proxy? {
    // Requests go only through the Unix socket, whatever proxy the environment names.
    guard session.configuration.unixSocket == nil else { return nil }
    return try session.configuration.proxy.proxy(for: url.origin)
  }

  /// The proxy for requests to a URL. Throws if the proxy has refused its user and password before, or has demanded some.
  private func usableProxy(for url: HTTPURL) throws(TransferError) -> Proxy? {
    guard let proxy = try proxy(for: url) else { return nil }
    if session.configuration.sharesCredentials, session.refusedCredentials.contains(proxy) {
      throw .refusedBefore(by: proxy, url)
    }
    return proxy
  }

  /// The server or the proxy at the other end of a connection for a URL; its version of HTTP is the one that counts. libcurl
  /// sends requests to all http URLs over the same connections to a proxy.
  func peer(of url: HTTPURL, _ proxy: Proxy?) -> HTTPURL.Origin {
    guard let proxy, proxy.isHTTP, url.origin.scheme == "http" else { return url.origin }
    return HTTPURL.Origin(scheme: proxy.kind.rawValue, host: proxy.host, port: proxy.port)
  }

  /// Whether a proxy receives the request and passes it on.
  private func isPassedOn(_ url: HTTPURL, _ proxy: Proxy?) -> Bool {
    peer(of: url, proxy) != url.origin
  }

  /// The attempt that was just made and noted.
  private func attempt(
    _ next: NextAttempt, _ history: AttemptHistory, _ earlierDoubt: Doubt, _ result: ExchangeResult
  ) -> Attempt {
    var attempt = next.attempt(
      tries: history.loop.tries, redirects: history.redirects,
      hasUsedOneShot: history.hasUsedOneShot,
      earlierDoubt: earlierDoubt, asksForCredentials: decisions.challenge != nil,
      isPassedOn: isPassedOn(next.url, try? proxy(for: next.url)))
    if let target = result.chosenTarget { attempt.options.responseTarget = target }
    return attempt
  }

  /// The facts at the end of an attempt.
  private func facts(
    of result: ExchangeResult, _ next: NextAttempt, _ history: AttemptHistory
  ) async -> AttemptFacts {
    if let question = result.trustQuestion {
      return await facts(of: result, decidedOn: question, next.url, history)
    }
    var facts = result.facts
    guard let host = result.unresolvedHost, facts.failure?.code == .hostNotFound else {
      return facts
    }
    let family = session.configuration.addressFamily
    let isTemporary = await control.performBlocking(atMost: HostLookup.timeLimit) {
      HostLookup.isTemporaryFailure(host, family)
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
  private func facts(
    of result: ExchangeResult, decidedOn question: ServerTrust, _ url: HTTPURL,
    _ history: AttemptHistory
  ) async -> AttemptFacts {
    var facts = result.facts
    facts.isTransient = false
    guard history.trustQuestions <= Self.maximumTrustQuestions else {
      facts.failure = .tooManyCertificates(url)
      return facts
    }
    // Other requests may have the connection meanwhile.
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

  /// How many different certificates a request asks the program about: several machines with one name may each have their own.
  private static let maximumTrustQuestions = 8

  /// A redirect must not choose the user whose credentials this program sends.
  private func noteUnusedCredentials(of location: HTTPURL) {
    guard location.credentials != nil else { return }
    tracer?.note("The user and the password of the Location are not used.")
  }

  private func learn(from result: ExchangeResult, _ next: NextAttempt) {
    let origin = next.url.origin
    if let proxy = try? proxy(for: next.url),
      (result.facts.failure?.underlying as? CurlFailure)?.areProxyCredentialsRefused == true
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

  /// Gets the page that a 303 named.
  private func fetchPage(
    _ url: HTTPURL, after last: NextAttempt, _ history: AttemptHistory
  ) async -> TransferResult {
    var next = last
    // The page's own attempts are not counted in the result.
    var pageHistory = history
    next.fetchPage(url)
    pageHistory.noteRedirect(sendsKey: next.sendsOwnHeaders)
    while let result = try? await send(&next, pageHistory) {
      var facts = result.facts
      if let question = result.trustQuestion {
        pageHistory.note(result)
        facts = await self.facts(of: result, decidedOn: question, next.url, pageHistory)
      }
      switch attempt(next, pageHistory, .none, result).decision(on: facts) {
      case .follow(let url):
        if await choose(url, isCarriedOut: true, next, result) != nil {
          return await conclude(history, .init(.ok, nil))
        }
        noteUnusedCredentials(of: url)
        next.follow(url)
        pageHistory.noteRedirect(sendsKey: next.sendsOwnHeaders)
      case .conclude(let verdict):
        guard let page = result.response else { return await conclude(history, .init(.ok, nil)) }
        var history = history
        history.replaceResponse(with: page, redirects: pageHistory.redirects)
        history.chosenTarget = result.chosenTarget
        return await conclude(history, verdict)
      case .repeatAtOnce(let repetition): next.repeatAtOnce(repetition)
      case .repeatOverHTTP11: next.repeatOverHTTP11()
      case .authenticate(let verdict):
        if let verdict = await authenticate(&next, result, or: verdict) {
          return await conclude(history, verdict)
        }
      case .keepEarlierResponse, .retry, .repeatWithoutExpect, .repeatWithLength, .fetchPage:
        return await conclude(history, .init(.ok, nil))
      }
    }
    return await conclude(history, .init(.ok, nil))
  }

  // MARK: The result

  /// The result of a request that is not begun.
  func refuse(_ error: TransferError) async -> TransferResult {
    await conclude(AttemptHistory(RetryLoop(request.options.retry)), .init(.failed, error))
  }

  /// Delivers a response that was held back from the caller's target. Returns why that failed.
  private func deliverHeldResponse(_ history: inout AttemptHistory) async -> TransferError? {
    var options = request.options
    if let chooseTarget, let head = history.heldHead, !control.isCancelled {
      switch await control.ask({ try await chooseTarget(head) }) {
      case .success(let chosen?):
        options.responseTarget = chosen
        history.chosenTarget = chosen
        if case .memory(let limit) = chosen.kind { history.limitHeldResponse(to: limit) }
      case .failure(let error): return .decisionFailed(.responseHead, head.url, error)
      case .success(nil), nil: break
      }
    }
    let target = options.responseTarget
    guard let held = history.takeHeldResponse(following: options) else { return nil }
    if case .reader(let response) = target.kind {
      response.begin(held)
      return target.excess(ofHeld: held)
    }
    let limit = request.options.timeLimits.attempt
    let delivery = await control.performBlocking(atMost: limit) {
      Result { try target.deliver(held) }
    }
    switch delivery {
    case .success: return target.excess(ofHeld: held)
    case .failure(let error): return .responseNotStored(target, from: held.url, error)
    case nil:
      history.noteResponseNotDelivered()
      guard let limit, !control.isCancelled else { return .cancelledDuringResponse }
      return .notDeliveredInTime(limit, from: held.url)
    }
  }

  private func conclude(
    _ history: AttemptHistory, _ verdict: AttemptDecision.Verdict
  ) async -> TransferResult {
    var (history, verdict) = (history, verdict)
    connection.release()
    bodyWait.end()
    let heldFailure = history.heldFailure
    if let error = await deliverHeldResponse(&history) {
      verdict.note(heldFailure ?? error)
    } else if verdict.outcome == .ok {
      verdict.error = verdict.error ?? heldFailure
    }
    if verdict.outcome == .ok, verdict.error == nil, let response = history.response {
      let target = history.chosenTarget ?? request.options.responseTarget
      verdict.error = target.excess(of: response)
    }
    if verdict.outcome == .unknown { verdict.error = verdict.error?.namingServer }
    if let key = request.options.idempotencyKey, history.sendsKey,
      verdict.outcome == .unknown || verdict.outcome == .retryable && history.doubt != .none
    {
      verdict.error = verdict.error?.naming(key)
    }
    publisher.finish { progress in
      progress.phase = .done
      progress.hasResponse = history.response != nil
      if verdict.outcome == .ok, progress.acknowledged != nil {
        progress.acknowledged = progress.handedOver
      }
    }
    let result = TransferResult(
      url: request.url, method: request.method, outcome: verdict.outcome,
      response: history.response,
      idempotencyKey: history.sendsKey ? request.options.idempotencyKey : nil,
      attempts: history.attempts, redirects: history.redirects,
      contentLength: history.announcedLength, framing: history.framing,
      bytesSent: history.bytesSent, totalBytesSent: history.totalBytesSent,
      duration: history.loop.start.duration(to: .now), sha256: history.sha256,
      isServerVerified: history.isServerVerified, metrics: history.metrics,
      newConnections: history.newConnections,
      error: verdict.error?.ending(as: verdict.outcome, history.response),
      mayBeSentAgain: request.options.permitRepetition(
        of: request.method, after: verdict.outcome, getsKey: history.sendsKey))
    if case .reader(let response) = request.options.responseTarget.kind { response.end(result) }
    return result
  }
}

extension TransferRun {
  /// How long an attempt may wait before it begins, and the setting with that limit; nil if there is no limit.
  private func timeToBegin(_ loop: RetryLoop) -> (time: Duration, setting: SettingName)? {
    let ofAttempt = time.left.map { (time: $0, setting: SettingName.attemptLimit) }
    let ofRetries = loop.timeLeft.map { (time: $0, setting: SettingName.retryTimeLimit) }
    return [ofAttempt, ofRetries].compactMap(\.self).min { $0.time < $1.time }
  }
}

extension AttemptDecision.Verdict {
  /// Adds why a held response is not delivered completely.
  fileprivate mutating func note(_ failure: TransferError) {
    guard failure.code == .responseTooLarge, outcome != .ok else {
      return error = error ?? failure
    }
    // The request was refused already, so a response that is too long is no failure of its own.
    error = error?.keepingBeginningOfResponse
  }
}

extension TransferResult.Outcome {
  fileprivate static func afterFailedPreparation(_ error: TransferError) -> Self {
    switch error.code {
    case .cancelled: .cancelled
    case .sourceChanged: .sourceChanged
    case .timedOut, .stalled: .retryable
    default: .failed
    }
  }
}
