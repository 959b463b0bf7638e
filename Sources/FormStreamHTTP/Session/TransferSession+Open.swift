extension TransferSession {
  /// Sends a request, and returns as soon as the head of its response has arrived; the body can then be read as it
  /// arrives.
  ///
  /// ```swift
  /// let response = try await session.open(request).accepted()
  /// for try await line in response.body.lines { print(line) }
  /// ```
  ///
  /// The response is the final one, whatever its status: redirects and retries come before it. After the head has arrived,
  /// nothing is sent again. A server can respond before it has the complete request; sending then goes on, and
  /// ``OpenResponse/result`` says what became of the request.
  ///
  /// - Parameters:
  ///   - request: the request. Its ``TransferOptions/responseTarget`` is not used.
  ///   - progress: receives the progress until the end of the response, one call after the other, on an unspecified
  ///     thread.
  /// - Throws: the ``TransferError`` of a request that got no response; `CancellationError` if the request was cancelled,
  ///   by the waiting task or otherwise.
  nonisolated(nonsending) public func open(
    _ request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> OpenResponse {
    try Task.checkCancellation()
    let arriving = ArrivingResponse()
    let task = start(request, readBy: arriving)
    if let progress {
      let updates = task.progress
      Task { for await update in updates { progress(update) } }
    }
    let reading = ResponseReading(task, arriving, request)
    let head = await head(of: task, arriving)
    try Task.checkCancellation()
    guard let head else { try await task.result.fail() }
    return OpenResponse(head, reading)
  }

  private func head(
    of task: TransferTask<TransferResult>, _ response: ArrivingResponse,
    isolation actor: isolated (any Actor)? = #isolation
  ) async -> TransferResponse? {
    await withTaskCancellationHandler {
      await response.head(isolation: actor)
    } onCancel: {
      task.cancel()
    }
  }
}
