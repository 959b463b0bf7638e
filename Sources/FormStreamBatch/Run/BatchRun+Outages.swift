import FormStreamHTTP

/// A server that doesn't respond while it keeps an upload that can go on: the upload waits for it, as long as the policy's patience
/// allows. Meanwhile, files whose uploads have not begun wait, too: otherwise all of them would fail one by one.
extension BatchRun {
  /// A number for the files of a request.
  func makeNumber() -> Int {
    state.withLock { state in
      state.lastNumber &+= 1
      return state.lastNumber
    }
  }

  /// Makes a request say when it begins to wait for the server, and when the server has responded.
  func followOutages(of request: inout TransferRequest, _ number: Int) {
    guard request.options.retry.patience != nil else { return }
    let own = request.options.willRetry
    request.options.willRetry = { [weak self] retry in
      if retry.timeLeft != nil { self?.beginWait(of: number, after: retry) }
      own?(retry)
    }
    request.options.noteServerReached = { [weak self] in self?.endWait(of: number) }
  }

  /// Notes that a request waits for its server, and reports it if it is the first one.
  private func beginWait(of number: Int, after retry: TransferRetry) {
    let (isFirst, task) = state.withLock { state in
      state.waiting.insert(number)
      let isFirst = retry.beginsOutage && !state.isOutageReported
      if isFirst { state.isOutageReported = true }
      // The run may have been stopped meanwhile.
      return (isFirst, state.isStopped ? state.inFlight.values.first { $0.number == number }?.task : nil)
    }
    if let task { return task.cancel() }
    if isFirst { reportOutage(retry) }
  }

  /// Notes that an upload has broken off that is about to go on.
  func beginWait(of number: Int, after result: TransferResult) {
    guard plan.retry.patience != nil, result.status == nil, result.resumeData?.uploadURL != nil else { return }
    state.withLock { _ = $0.waiting.insert(number) }
  }

  /// Notes that the server has responded, or that the files don't wait any more.
  func endWait(of number: Int) {
    state.withLock { state in
      state.waiting.remove(number)
      if state.waiting.isEmpty { state.isOutageReported = false }
    }
  }

  /// Notes the result of a request. If nothing accepts connections while uploads wait, it doesn't count as an attempt.
  func noteOutage(_ result: TransferResult, _ loop: inout RetryLoop) {
    if result.isUnreachable, state.withLock({ !$0.waiting.isEmpty }) { loop.noteOutage() } else { loop.endOutage() }
  }
}
