import FormStreamMultipart
import FormStreamDigest

/// A request from its first attempt to its result.
///
/// An `Exchange` sends one attempt, an `Attempt` decides what follows it, and this type carries the decision out. The request
/// waits for a connection before the body is measured. So requests begin in the order in which they were started, and the files
/// of a waiting request may still change.
///
/// The steps around an attempt have files of their own: the connection and the proxy, the facts at its end, the decisions of
/// the program, the page of a 303, and the result.
final class TransferRun: Sendable {
  /// The caller's request.
  let originalRequest: TransferRequest
  let sharedRequest: Shared<TransferRequest>
  let session: TransferSession
  /// Where the request's own tasks run.
  let engine: Engine
  let publisher: ProgressPublisher
  let control: TransferControl

  let connection: ConnectionLease
  /// The wait for the bytes of the body, from the body's preparation until all bytes are read.
  let bodyWait: WaitingRequest
  /// How much of its time limit the next attempt has already used.
  let time: AttemptTime
  /// What another request would need to continue the upload.
  let keeper: UploadKeeper
  let tracer: Tracer?
  /// Stores the response if its target is `.download`; nil if the response can't get such a target.
  let responseDownload: ResponseDownload?

  /// - Parameter response: gets the response in place of the request's own target; nil if the request's own target gets
  ///   the response.
  init(
    _ request: TransferRequest, readBy response: ArrivingResponse? = nil, session: TransferSession,
    engine: Int
  ) {
    originalRequest = request
    var request = request.prepared(in: session.configuration)
    if let response { request.options.responseTarget = .reader(response) }
    let mayBecomeDownload =
      request.options.responseTarget.isResumableFile
      || request.options.decisions.or(session.configuration.decisions).responseHead != nil
    responseDownload = mayBecomeDownload ? ResponseDownload(request) : nil
    request.options.responseTarget = request.options.responseTarget.storing(in: responseDownload)
    let options = request.options
    sharedRequest = Shared(request)
    self.session = session
    self.engine = session.engines[engine]
    connection = ConnectionLease(
      session.connectionLimit, on: engine, at: .init(hasBegun: options.continuesDownload, priority: options.priority),
      isWaitedFor: WaitingRequest.areWaiting(in: session))
    bodyWait = WaitingRequest(in: ObjectIdentifier(session))
    publisher = ProgressPublisher(pace: options.progressPace, tag: request.tag)
    control = TransferControl(self.engine)
    keeper = UploadKeeper(options)
    time = AttemptTime(limit: options.timeLimits.attempt)
    tracer = options.trace.map { Tracer(request, report: $0) }
  }

  /// The request with the target that its response goes to.
  var request: TransferRequest { sharedRequest.value }

  /// Sends the request, as often as needed, and returns its result.
  nonisolated(nonsending) func perform() async -> TransferResult {
    var history = AttemptHistory(RetryLoop(request.options.retry, budget: session.budget))
    var next: NextAttempt
    do throws(TransferError) {
      let url = try request.checked(in: session.configuration)
      // The body is not measured yet, and may turn out to need a connection that is not shared.
      try await takeConnection(
        to: url, mayShare: session.configuration.version != .http11, history)
      let earlier = try await earlierUpload()
      next = try await NextAttempt.first(of: self, to: url, continuing: earlier.data)
      if let verdict = try await keepUpload(&next, earlier, &history) {
        return await conclude(history, verdict)
      }
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
        // A step that could not be noted in the resume file was not taken, and can be taken later.
        let isStep = error.code == .resumeFileUnusable && keeper.isNoted
        let verdict = AttemptDecision.Verdict(isStep ? .retryable : .afterFailedPreparation(error), error)
        return await conclude(history, verdict.after(history.doubt))
      }
      if next.sendsBody || next.step == .creation { history.noteSent(withKey: next.isKeyed) }
      let earlierDoubt = history.doubt
      if result.response != nil { request.options.noteServerReached?() }
      if next.step.isQuestion {
        history.noteQuestion(result)
      } else {
        history.note(result)
      }
      next.note(
        result, at: attempt(next, history, earlierDoubt, result).resourceURL(result.facts.upload))
      if result.facts.upload.isComplete != nil || next.step != .request {
        history.hideUpload(
          at: result.facts.upload.resource ?? next.resource?.url, hidesAny: next.step == .creation)
      }
      let facts = await facts(of: result, next, history)
      learn(from: result, next)
      let attempt = attempt(next, history, earlierDoubt, result)
      if next.beginsUpload { history.noteNewUpload() }
      history.note(attempt.doubt(on: facts))
      keeper.didSend(next, facts.upload, history)
      switch attempt.decision(on: facts) {
      case .conclude(let verdict):
        if verdict.outcome != .failed, attempt.hasLostUpload(facts) { keeper.noteLost() }
        if next.step.isQuestion {
          if verdict.outcome == .ok { history.noteAnswer(result) } else { history.noteFailedQuestion() }
        }
        return await conclude(history, verdict)
      case .keepEarlierResponse: return await conclude(history, .init(.ok, nil))
      case .fetchPage(let url):
        if let verdict = await follow(url, isCarriedOut: true, &next, result) {
          return await conclude(history, verdict.after(history.doubt))
        }
        return await fetchPage(next, history)
      case .follow(let url):
        if let verdict = await follow(url, isCarriedOut: false, &next, result) {
          return await conclude(history, verdict.after(history.doubt))
        }
        noteUnusedCredentials(of: url)
        history.noteRedirect(sendsKey: next.isKeyed)
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
        if repetition == .afterLoss { history.noteRepetition() } else { history.noteNotLookedAt() }
      case .repeatOverHTTP11:
        next.repeatOverHTTP11()
        publisher.update { $0.attempt = history.attempts + 1 }
      case .retry(let verdict, let retryAfter):
        if next.step.isQuestion { history.noteFailedQuestion() }
        history.endOutage()
        if let end = await wait(after: verdict, retryAfter, next, &history) {
          return await conclude(history, end)
        }
        next.retry()
      case .resume(let verdict, let url, let retryAfter):
        history.endOutage()
        if let end = await wait(after: verdict, retryAfter, next, &history) {
          return await conclude(history, end)
        }
        next.askForOffset(at: url)
      case .awaitServer(let verdict, let url, let retryAfter):
        if next.step.isQuestion { history.noteFailedQuestion() }
        history.noteOutage(result)
        if let end = await wait(after: verdict, retryAfter, next, &history) {
          return await conclude(history, end)
        }
        if next.step == .offset { next.retry() } else { next.askForOffset(at: url) }
      case .beginAgain(let verdict):
        if next.step.isQuestion { history.noteFailedQuestion() }
        history.endOutage()
        if let end = await wait(after: verdict, nil, next, &history) {
          return await conclude(history, end)
        }
        next.beginAgain()
      case .begin(let start):
        if attempt.isExcludedByDigest(result.facts.upload) {
          request.options.noteMissingResumption?(.digestWithoutResumption(next.url))
        }
        history.noteRepetition()
        next.begin(start)
      case .append(let offset):
        let answersQuestion = next.step == .offset
        let hasMore = next.append(from: offset)
        if answersQuestion {
          history.noteOffset(
            hasMore: hasMore, isIncomplete: offset < next.body?.contentLength ?? 0)
        } else {
          history.noteStep(hasMore: hasMore)
        }
        publisher.noteConfirmed(offset)
      }
      publisher.begin(next.body, phase: .connecting)
    }
  }

  /// Waits before another attempt. Returns the verdict if there is no other attempt.
  private func wait(
    after verdict: AttemptDecision.Verdict, _ retryAfter: Duration?, _ next: NextAttempt,
    _ history: inout AttemptHistory
  ) async -> AttemptDecision.Verdict? {
    let attempt = history.attempts + 1
    let loop = history.loop
    let wait = await loop.wait(after: verdict, retryAfter: retryAfter, control) {
      connection.release()
      let retry = TransferRetry(
        error: verdict.error, delay: $0, attempt: attempt, timeLeft: loop.patienceLeft(),
        beginsOutage: loop.outage?.failures == 1, tag: request.tag)
      tracer?.note(retry.note)
      await control.announce(retry, to: request.options.willRetry)
      publisher.begin(next.body, phase: .retrying)
    }
    switch wait {
    case .over: break
    case .ended(var verdict):
      if loop.outage != nil {
        history.noteEndOfPatience()
        verdict.error = verdict.error?.sayingWhetherUploadGoesOn(isKept: keeper.writes)
      }
      return verdict
    case .cancelled: return .cancelled.after(history.doubt)
    }
    publisher.update { $0.attempt = attempt }
    return nil
  }

  // MARK: An attempt

  nonisolated(nonsending) func send(
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
    let (options, sendsExpect) = (request.sharedOptions, expectation.isSent)
    // If a response to this attempt has arrived, reading a one-shot body has begun. The exception is a response that came in
    // place of a 100: the body was not begun then.
    let attempt = next.attempt(
      tries: history.loop.tries + 1, redirects: history.redirects,
      hasUsedOneShot: next.body?.isReplayable == false && !sendsExpect,
      earlierDoubt: history.doubt, asksForCredentials: decisions.challenge != nil,
      isPassedOn: isPassedOn(next.url, proxy))
    let choosesTarget = chooseTarget != nil
    let wireRequest = next.wireRequest(
      expectTimeout: sendsExpect ? expectation.timeout : nil,
      configuration: session.sharedConfiguration,
      refusesHTTP11: session.knownServers.refusesHTTP11(next.url.origin)
    ) { head in
      let decision = attempt.decision(
        on: AttemptFacts(
          headWithStatus: head.status, head.headers, version: head.version,
          sentExpect: sendsExpect, upload: head.upload))
      if case .reader(let response) = options.value.responseTarget.kind { response.note(decision) }
      return (choosesTarget || !options.value.keepsInMemory(head.status)) && decision.isFinal
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
    let mayHaveEffect = next.sendsBody || attempt.mayBeCarriedOut
    if next.mayResume, mayHaveEffect || next.step == .creation && keeper.hasFile {
      keeper.willSend(next, hasEffect: mayHaveEffect, isLast: attempt.mayBeCarriedOut, history)
      do throws(TransferError) {
        try await writeUpload()
      } catch {
        keeper.didNotSend()
        throw error
      }
    }
    wireRequest.noteUpload = noteUpload(attempt)
    let exchange: any Exchange =
      wireRequest.usesSocket
      ? SocketExchange(wireRequest, publisher: publisher, tracer: tracer)
      : try CurlExchange(wireRequest, publisher: publisher, tracer: tracer)
    var result = await control.run(exchange, on: session.engines[connection.engine])
    result.response?.tag = request.tag
    return result
  }

  /// Checks a body of length 0 whose files may block.
  nonisolated(nonsending) private func checkEmptiness(_ next: NextAttempt) async throws(TransferError) {
    guard next.sendsBody, let body = next.body, body.contentLength == 0, !body.hasStreams,
      body.mustBeWaitedFor
    else { return }
    try await prepareBody(by: .measuring) { () throws(TransferError) in
      try body.checkEmptiness()
    }
  }

  /// The attempt that was just made and noted.
  func attempt(
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
