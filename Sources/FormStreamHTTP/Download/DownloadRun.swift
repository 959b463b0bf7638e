import FormStreamMultipart
import FormStreamPlatform

/// A download from its first request to its result.
///
/// A `TransferRun` sends one request, for everything or for the rest; a `DownloadSink` stores its response; this type
/// decides what is asked for next.
final class DownloadRun: Sendable {
  /// The caller's request.
  let originalRequest: TransferRequest
  let request: TransferRequest
  let publisher: ProgressPublisher
  /// Where the download's own task runs.
  let engine: Engine
  let control: TransferControl
  private let settings: DownloadSettings
  private let session: TransferSession
  /// The request that is being sent; nil between two requests.
  private let sending = Guarded<TransferTask<TransferResult>?>(nil)

  init(
    _ request: TransferRequest, _ settings: DownloadSettings, session: TransferSession,
    engine: Engine
  ) {
    (originalRequest, self.settings, self.session) = (request, settings, session)
    let request = request.prepared(in: session.configuration)
    self.request = request
    self.engine = engine
    control = TransferControl(engine)
    publisher = ProgressPublisher(pace: request.options.progressPace, tag: request.tag)
  }

  // MARK: From any thread

  // The same lock covers both calls, so that the request gets the changes in their order.

  func pause() {
    sending.withLock { task in
      control.pause()
      task?.pause()
    }
  }

  func resume() {
    sending.withLock { task in
      control.resume()
      task?.resume()
    }
  }

  func cancel() {
    sending.withLock { task in
      control.cancel()
      task?.cancel()
    }
  }

  // MARK: The download

  nonisolated(nonsending) func perform() async -> DownloadResult {
    publisher.begin(nil)
    // Without these reports, the bytes before a server's pause would be reported only after the pause.
    let reports = Task(executorPreference: engine.loop) { [publisher] in await publisher.reportLate() }
    defer { reports.cancel() }
    var history = DownloadHistory(RetryLoop(request.options.retry, budget: session.budget))
    var partial: ResumableFile?
    do throws(TransferError) {
      partial = try await prepare()
    } catch {
      return await conclude(
        history, nil, .init(error.code == .cancelled ? .cancelled : .failed, error))
    }
    if let partial { history.begin(partial.size) }
    if control.isCancelled {
      return await conclude(history, partial, .init(.cancelled, .cancelledBeforeResponse))
    }
    while true {
      await control.waitWhilePaused()
      let sizeBefore = partial?.size ?? 0
      let sent = await send(partial, history)
      partial = sent.partial
      if let partial, let sink = sent.sink { await onWorker { partial.end(sink) } }
      history.note(sent, size: partial?.size ?? 0, replaced: sizeBefore)
      switch next(after: sent, history) {
      case .complete(let partial): return await complete(history, partial)
      case .unchanged: return await conclude(history, partial, .init(.ok, nil))
      case .startAgain(let reason):
        note("Starting again: \(reason)")
        partial?.startAgain()
      case .goOn: break
      case .goOnAfterChoice(let partial):
        let hashed = await onWorker { [self] in Result { () throws(TransferError) in try hash(partial) } }
        if case .failure(let error) = hashed {
          return await conclude(history, partial, .init(.failed, error))
        }
      case .retry(let verdict):
        let attempt = history.attempts + 1
        let wait = await history.loop.wait(after: verdict, control) {
          note("Continuing in \($0.inSeconds): \(verdict.error?.description ?? "")")
          await control.announce(
            TransferRetry(error: verdict.error, delay: $0, attempt: attempt, tag: request.tag),
            to: request.options.willRetry)
          publisher.update { $0.phase = .retrying }
        }
        switch wait {
        case .over: break
        case .ended(let verdict): return await conclude(history, partial, verdict)
        case .cancelled:
          return await conclude(history, partial, .init(.cancelled, .cancelledDuringResponse))
        }
      case .conclude(let verdict): return await conclude(history, partial, verdict)
      }
    }
  }

  /// How long a cancelled download waits until it has taken the partial file that was left. Without this file, the result can't
  /// say how to continue. But a disk that hangs must not hold up the download.
  private static let takingTime = Duration.milliseconds(100)

  /// Checks the request, and takes a partial file that was left. Returns nil if the place is chosen after the head of the
  /// response has arrived.
  private func prepare() async throws(TransferError) -> ResumableFile? {
    let url = try request.url.appending(request.query)
    try request.checkEncryption()
    guard request.method == .get, request.body == nil else {
      throw .downloadOfOtherThanGET
    }
    guard request.options.responseCompression == nil else {
      throw .downloadDecompressed
    }
    for name in ["Range", "If-Range"] where request.headers.contains(name) {
      throw .downloadWithHeader(name)
    }
    try settings.check()
    guard settings.destination.choice == nil else { return nil }
    let prepared = await control.performBlocking(atMost: nil, grace: Self.takingTime) {
      [self, settings] in
      Result { () throws(TransferError) -> ResumableFile in
        let partial = try takeFile(of: url, settings)
        do throws(TransferError) {
          try hash(partial)
        } catch {
          partial.release()
          throw error
        }
        return partial
      }
    }
    guard let prepared else { throw .cancelledBeforeResponse }
    return try prepared.get()
  }

  /// Takes a partial file that was left. This may block.
  private func takeFile(
    of url: HTTPURL, _ settings: DownloadSettings
  ) throws(TransferError) -> ResumableFile {
    try ResumableFile(url, settings) { [publisher] size, total in
      publisher.advance(
        .init(phase: nil, read: 0, handedOver: 0, received: size, responseTotal: total),
        acknowledged: nil)
    }
  }

  /// Hashes what was left, until the download is cancelled. This may block for long.
  private func hash(_ partial: ResumableFile) throws(TransferError) {
    do {
      try partial.hashWhatIsThere(while: { !control.isCancelled })
    } catch {
      throw error as? TransferError ?? .downloadNotStored(partial.destination, from: partial.url, error)
    }
  }

  /// The choice of the destination, if the program makes it when the head of a response has arrived.
  private func destinationChoice(_ options: TransferOptions) -> DestinationChoice? {
    guard let choose = settings.destination.choice else { return nil }
    return DestinationChoice(choose, options, on: engine.workers) {
      [self] destination throws(TransferError) in
      var settings = settings
      settings.destination = destination
      try settings.check()
      return try takeFile(of: try request.url.appending(request.query), settings)
    }
  }

  /// What a request for the complete file, or for the rest, has brought.
  struct Sent {
    let result: TransferResult
    /// How many bytes of the last response's body arrived.
    let arrived: Int64
    /// Nil if the place is still not chosen.
    let partial: ResumableFile?
    /// Nil if the place was not chosen, or has the beginning of the response.
    let sink: DownloadSink?
    let state: DownloadSink.State
  }

  /// Sends a request for the complete file, or for the rest.
  ///
  /// - Parameter partial: nil if the place is not chosen yet.
  private func send(_ partial: ResumableFile?, _ history: DownloadHistory) async -> Sent {
    let limit = request.options.maximumResponseSize
    var request = request
    // A continued response must have the same bytes, and not another coding of them.
    request.headers.set("Accept-Encoding", "identity")
    var accepted = request.options.statusesOfCompleteResource
    let sink = partial.map { DownloadSink($0, limit: limit) }
    if let demand = sink?.demand, let validator = demand.validator {
      request.headers.set("Range", "bytes=\(demand.offset)-")
      request.headers.set("If-Range", validator)
      accepted.insert(206)
    }
    request.options.acceptedStatuses = accepted
    request.options.isOfDownload = true
    request.options.responseTarget =
      sink.map { .download($0) } ?? DestinationChoice.targetOfOthers
    let choice = sink == nil ? destinationChoice(request.options) : nil
    if let choice {
      request.options.decisions.responseHead = { head in await choice.target(of: head) }
    }
    if let willRetry = request.options.willRetry {
      let before = history.attempts
      request.options.willRetry = { retry in
        willRetry(
          TransferRetry(
            error: retry.error, delay: retry.delay, attempt: before + retry.attempt, timeLeft: retry.timeLeft,
            beginsOutage: retry.beginsOutage, tag: retry.tag))
      }
    }
    request.options.retry = history.loop.remainingPolicy
    request.options.continuesDownload = history.attempts > 0
    let task = session.startRequest(ofDownload: request)
    sending.withLock { sending in
      sending = task
      if control.isPaused { task.pause() }
      if control.isCancelled { task.cancel() }
    }
    let (progress, publisher, attempts) = (task.progress, publisher, history.attempts)
    let watching = Task(executorPreference: engine.loop) {
      for await update in progress where update.phase != .done {
        publisher.update { progress in
          (progress.phase, progress.attempt) = (update.phase, attempts + update.attempt)
        }
      }
    }
    let result = await task.result
    watching.cancel()
    await watching.value
    sending.withLock { $0 = nil }
    let chosen = choice?.end()
    let used = sink ?? chosen?.sink
    return Sent(
      result: result, arrived: progress.current.received, partial: partial ?? chosen?.partial,
      sink: used, state: used?.state ?? chosen?.state ?? .waiting)
  }

  private enum Step {
    /// The file is complete.
    case complete(ResumableFile)
    /// The server says that the caller has the current version (304), or the caller doesn't want the body of this response.
    case unchanged
    case startAgain(String)
    /// The next request asks for the rest, at once.
    case goOn
    /// The chosen place has the beginning of the file. The next request asks for the rest, after what is there was hashed.
    case goOnAfterChoice(ResumableFile)
    /// Another request after a wait, if another attempt is allowed.
    case retry(AttemptDecision.Verdict)
    case conclude(AttemptDecision.Verdict)
  }

  /// Decides what follows a request.
  private func next(after sent: Sent, _ history: DownloadHistory) -> Step {
    let result = sent.result
    // A request that is cancelled while the place is chosen has been accepted (`ok`), but brings nothing.
    if control.isCancelled, result.outcome != .ok || result.error?.code == .cancelled {
      return .conclude(.init(.cancelled, cancellation(of: result, history)))
    }
    switch sent.state {
    case .mismatched(let reason): return .startAgain(reason)
    case .failed(let error): return .conclude(.init(.failed, error))
    case .unchanged: return unchanged(result, history)
    case .begunBefore: return sent.partial.map(Step.goOnAfterChoice) ?? .goOn
    case .waiting:
      // RFC 9110 §15.5.17: a 416 "SHOULD" have a Content-Range with the length of the resource.
      if let partial = sent.partial, sent.sink?.demand.validator != nil, result.status == 416,
        let response = result.response
      {
        if let error = partial.contradiction(in: response) {
          return .conclude(.init(.failed, error))
        }
        guard partial.isComplete(by: response) else {
          return .startAgain("the server doesn't have the rest of what is there (416)")
        }
        if let limit = request.options.maximumResponseSize, partial.size > limit {
          return .conclude(.init(.failed, .responseTooLarge(response.url, limit)))
        }
        return .complete(partial)
      }
      if let response = result.response, request.options.leavesOutBody?(response) == true,
        result.outcome == .ok
      {
        return unchanged(result, history)
      }
      // An accepted response opens the sink, unless the attempt has ended while the place was chosen.
      if result.outcome == .ok {
        if let error = result.error {
          let verdict = AttemptDecision.Verdict(.retryable, error)
          // Other errors, such as a response that is too large, would come again.
          return error.code == .timedOut || error.code == .stalled || error.code == .connectionLost
            ? .retry(verdict) : .conclude(verdict)
        }
        return .conclude(.init(.failed, .downloadWithoutStoredResponse))
      }
      let verdict = AttemptDecision.Verdict(result.outcome, result.error)
      // The program took longer to choose the place than the attempt may.
      let isChoiceLate = sent.partial == nil && result.error?.code == .timedOut && result.mayBeSentAgain
      return isChoiceLate ? .retry(verdict) : .conclude(verdict)
    case .storing(let end):
      guard let partial = sent.partial else {
        return .conclude(.init(.failed, .downloadWithoutStoredResponse))
      }
      let verdict = AttemptDecision.Verdict(result.outcome, result.error)
      guard result.outcome == .ok, result.error == nil else {
        return result.mayBeSentAgain ? .retry(verdict) : .conclude(verdict)
      }
      if let end, partial.size < end {
        return .retry(.init(.retryable, .rangeTooShort(partial.url, partial.size, of: end)))
      }
      // A server may send fewer bytes than it was asked for (RFC 9110 §14.2).
      if let total = partial.total, partial.size < total {
        guard history.loop.isOverdue, let limit = history.loop.policy.timeLimit else {
          return .goOn
        }
        return .conclude(
          .init(.retryable, .downloadOverdue(partial.url, partial.size, of: total, limit)))
      }
      return .complete(partial)
    }
  }

  private func unchanged(_ result: TransferResult, _ history: DownloadHistory) -> Step {
    guard result.outcome == .ok else { return .conclude(.init(result.outcome, result.error)) }
    // By sending a part of the file, the server has said that the file has changed.
    guard history.received == 0 else {
      return .conclude(.init(.failed, .contradictoryUnchanged(result.url)))
    }
    return .unchanged
  }

  /// The error of a cancelled download. It says whether any bytes of the file had arrived, in any of the download's requests,
  /// before the download was cancelled.
  private func cancellation(
    of result: TransferResult, _ history: DownloadHistory
  ) -> TransferError {
    if history.received == 0, let error = result.error, error.code == .cancelled { return error }
    return history.response == nil ? .cancelledBeforeResponse : .cancelledDuringResponse
  }

  // MARK: Between requests

  private func note(_ text: String) {
    request.options.trace?(TransferTrace(kind: .note, text: text, tag: request.tag))
  }

  /// Runs code that may block on a worker thread. Waits for the code even if the download is cancelled.
  private func onWorker<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await engine.workers.perform(body)
  }

  // MARK: The result

  private func complete(
    _ history: DownloadHistory, _ partial: ResumableFile
  ) async -> DownloadResult {
    let stored = await onWorker { Result { () throws(TransferError) in try partial.complete() } }
    switch stored {
    case .success(let stored):
      return await conclude(history, partial, .init(.ok, nil), stored)
    case .failure(let error): return await conclude(history, partial, .init(.failed, error))
    }
  }

  /// The result of a download that is not begun.
  nonisolated(nonsending) func refuse(_ error: TransferError) async -> DownloadResult {
    await conclude(DownloadHistory(RetryLoop(request.options.retry)), nil, .init(.failed, error))
  }

  private func conclude(
    _ history: DownloadHistory, _ partial: ResumableFile?, _ verdict: AttemptDecision.Verdict,
    _ stored: ResumableFile.Stored? = nil
  ) async -> DownloadResult {
    let left = await onWorker { partial?.release() }
    let response = history.response
    publisher.finish { progress in
      progress.phase = .done
      progress.hasResponse = response != nil
    }
    let file = stored.flatMap { stored in
      response.map { DownloadedFile(stored, resumedFrom: history.resumedFrom, $0) }
    }
    var error = verdict.error
    if let left, left.resumeData != nil, error?.code != .responseNotStored {
      error = error?.leaving(left.size, in: left.path)
    }
    let transfer = TransferResult(
      url: request.url, method: request.method, outcome: verdict.outcome, response: response,
      idempotencyKey: nil, attempts: history.attempts, redirects: history.redirects,
      contentLength: nil, framing: .noBody, bytesSent: 0, totalBytesSent: 0,
      duration: history.loop.start.duration(to: .now), sha256: nil,
      isServerVerified: history.isServerVerified, metrics: history.metrics,
      newConnections: history.newConnections, tag: request.tag,
      error: error?.ending(as: verdict.outcome, response))
    return DownloadResult(
      transfer: transfer, file: file, received: history.received, unstored: history.unstored,
      restarts: history.restarts,
      partialFile: left?.path, resumeData: left?.resumeData)
  }
}
