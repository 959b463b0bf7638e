import FormStreamMultipart

/// The end of a request: its response is delivered, and its result is made.
extension TransferRun {
  /// The result of a request that is not begun.
  nonisolated(nonsending) func refuse(_ error: TransferError) async -> TransferResult {
    await conclude(AttemptHistory(RetryLoop(request.options.retry)), .init(.failed, error))
  }

  /// Delivers a response that was held back from the caller's target. Returns the error if the delivery fails.
  nonisolated(nonsending) private func deliverHeldResponse(_ history: inout AttemptHistory) async -> TransferError? {
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

  nonisolated(nonsending) func conclude(
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
    let resumeData = await endUpload(verdict, history)
    // If the request was cancelled, or exceeds a time limit, the last bytes may still be written.
    if let responseDownload, responseDownload.isOpen {
      let limit = TransferControl.closingTime
      await control.performBlocking(atMost: limit, grace: limit) {
        responseDownload.waitForEnd(atMost: limit)
      }
    }
    let stored = responseDownload?.end
    if let left = stored?.left, left.resumeData != nil, verdict.error?.code != .responseNotStored {
      verdict.error = verdict.error?.leaving(left.size, in: left.path)
    }
    if verdict.outcome == .ok, verdict.error == nil, stored?.stored == nil, let response = history.response,
      (history.chosenTarget ?? request.options.responseTarget).isResumableFile
    {
      verdict.error = .nothingToStore(response)
    }
    var result = TransferResult(
      url: request.url, method: request.method, outcome: verdict.outcome,
      response: history.response,
      idempotencyKey: history.sendsKey ? request.options.idempotencyKey : nil,
      attempts: history.attempts, redirects: history.redirects,
      contentLength: history.announcedLength, framing: history.framing,
      bytesSent: history.bytesSent, totalBytesSent: history.totalBytesSent,
      duration: history.loop.start.duration(to: .now), sha256: history.sha256,
      isServerVerified: history.isServerVerified, metrics: history.metrics,
      newConnections: history.newConnections, tag: request.tag,
      error: verdict.error?.ending(as: verdict.outcome, history.response),
      mayBeSentAgain: resumeData?.uploadURL != nil
        || request.options.permitRepetition(
          of: request.method, after: verdict.outcome, getsKey: history.sendsKey),
      resumeData: resumeData, mayBeCarriedOut: history.doubt != .none, isOutOfPatience: history.isOutOfPatience)
    result.downloadResumeData = stored?.left?.resumeData
    if let stored = stored?.stored, let response = history.response {
      result.downloadedFile = DownloadedFile(stored, resumedFrom: 0, response)
    }
    if case .reader(let response) = request.options.responseTarget.kind { response.end(result) }
    return result
  }
}

extension AttemptDecision.Verdict {
  /// Adds why a held response is not delivered completely.
  fileprivate mutating func note(_ failure: TransferError) {
    guard failure.code == .responseTooLarge, outcome != .ok else {
      return error = error ?? failure
    }
    // The request was already refused, so a response that is too long is not another failure.
    error = error?.keepingBeginningOfResponse
  }
}
