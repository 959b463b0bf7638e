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
    var history = DownloadHistory(RetryLoop(request.options.retry, budget: session.budget))
    let partial: ResumableFile
    do throws(TransferError) {
      partial = try await prepare()
    } catch {
      return await conclude(
        history, nil, .init(error.code == .cancelled ? .cancelled : .failed, error))
    }
    history.begin(partial.size)
    if control.isCancelled {
      return await conclude(history, partial, .init(.cancelled, .cancelledBeforeResponse))
    }
    while true {
      await control.waitWhilePaused()
      let sink = DownloadSink(partial, limit: request.options.maximumResponseSize)
      let sizeBefore = partial.size
      let (result, arrived) = await send(sink, history)
      await onWorker { partial.end(sink) }
      history.note(result, arrived: arrived, sink, partial.size, replaced: sizeBefore)
      switch next(after: result, history, sink, partial) {
      case .complete: return await complete(history, partial)
      case .unchanged: return await conclude(history, partial, .init(.ok, nil))
      case .startAgain(let reason):
        note("Starting again: \(reason)")
        partial.startAgain()
      case .goOn: break
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

  /// Checks the request, and takes a partial file that was left.
  private func prepare() async throws(TransferError) -> ResumableFile {
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
    let (settings, publisher, control) = (settings, publisher, control)
    let prepared = await control.performBlocking(atMost: nil, grace: Self.takingTime) {
      Result { () throws(TransferError) in
        let partial = try ResumableFile(url, settings) { size, total in
          publisher.advance(
            .init(phase: nil, read: 0, handedOver: 0, received: size, responseTotal: total),
            acknowledged: nil)
        }
        do {
          try partial.hashWhatIsThere(while: { !control.isCancelled })
        } catch {
          partial.release()
          throw error as? TransferError
            ?? .downloadNotStored(partial.destination, from: url, error)
        }
        return partial
      }
    }
    guard let prepared else { throw .cancelledBeforeResponse }
    return try prepared.get()
  }

  /// Sends a request for the complete file, or for the rest. Also returns how many bytes of the last response's body arrived.
  private func send(
    _ sink: DownloadSink, _ history: DownloadHistory
  ) async -> (result: TransferResult, arrived: Int64) {
    var request = request
    // A continued response must have the same bytes, and not another coding of them.
    request.headers.set("Accept-Encoding", "identity")
    var accepted = request.options.statusesOfCompleteResource
    if let validator = sink.demand.validator {
      request.headers.set("Range", "bytes=\(sink.demand.offset)-")
      request.headers.set("If-Range", validator)
      accepted.insert(206)
    }
    request.options.acceptedStatuses = accepted
    request.options.responseTarget = .download(sink)
    if let willRetry = request.options.willRetry {
      let before = history.attempts
      request.options.willRetry = { retry in
        willRetry(
          TransferRetry(
            error: retry.error, delay: retry.delay, attempt: before + retry.attempt, tag: retry.tag))
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
    let watching = Task(executorPreference: engine) {
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
    return (result, progress.current.received)
  }

  private enum Step {
    /// The file is complete.
    case complete
    /// The server says that the caller has the current version (304), or the caller doesn't want the body of this response.
    case unchanged
    case startAgain(String)
    /// The next request asks for the rest, at once.
    case goOn
    /// Another request after a wait, if another attempt is allowed.
    case retry(AttemptDecision.Verdict)
    case conclude(AttemptDecision.Verdict)
  }

  /// Decides what follows a request.
  private func next(
    after result: TransferResult, _ history: DownloadHistory, _ sink: DownloadSink,
    _ partial: ResumableFile
  ) -> Step {
    if control.isCancelled, result.outcome != .ok {
      return .conclude(.init(.cancelled, cancellation(of: result, history)))
    }
    switch sink.state {
    case .mismatched(let reason): return .startAgain(reason)
    case .failed(let error): return .conclude(.init(.failed, error))
    case .unchanged: return unchanged(result, history)
    case .waiting:
      // RFC 9110 §15.5.17: a 416 "SHOULD" have a Content-Range with the length of the resource.
      if sink.demand.validator != nil, result.status == 416, let response = result.response {
        if let error = partial.contradiction(in: response) {
          return .conclude(.init(.failed, error))
        }
        guard partial.isComplete(by: response) else {
          return .startAgain("the server doesn't have the rest of what is there (416)")
        }
        if let limit = request.options.maximumResponseSize, partial.size > limit {
          return .conclude(.init(.failed, .responseTooLarge(response.url, limit)))
        }
        return .complete
      }
      if let response = result.response, request.options.leavesOutBody?(response) == true,
        result.outcome == .ok
      {
        return unchanged(result, history)
      }
      // An accepted response opens the sink.
      guard result.outcome != .ok else {
        return .conclude(.init(.failed, .downloadWithoutStoredResponse))
      }
      return .conclude(.init(result.outcome, result.error))
    case .storing(let end):
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
      return .complete
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

  /// Runs code on a worker thread, where the code may block. Waits for the code even if the download is cancelled.
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
      response.map { response in
        DownloadedFile(
          path: stored.path, size: stored.size, sha256: stored.sha256,
          resumedFrom: history.resumedFrom, isEndKnown: !response.hasUnknownEnd,
          response: response)
      }
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
