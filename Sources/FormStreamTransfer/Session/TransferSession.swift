import FormStreamPlatform

/// Sends requests. A session owns the connections and the threads that drive them, and remembers what it learned about
/// servers.
///
/// ```swift
/// let session = try TransferSession()
/// let response = try await session.send(TransferRequest(.post, url, body: .form(form)))
/// ```
///
/// One session is enough for a program. It may be used from any thread. When it is released, its idle connections are
/// closed and its threads end; requests that are being sent keep it alive.
public final class TransferSession: Sendable {
  /// The settings that the session was created with.
  public let configuration: Configuration

  private let engines: [Engine]
  /// The index of the engine that was used last.
  private let lastEngine = Guarded(0)
  let budget: RetryBudget
  let knownServers = KnownServers()

  /// Creates a session, and starts its threads.
  ///
  /// - Throws: `invalidSetting`; `tlsFileUnusable`; `engineFailed`.
  public init(_ configuration: Configuration = Configuration()) throws(TransferError) {
    try configuration.check()
    self.configuration = configuration
    budget = RetryBudget(configuration.retryBudget)
    var engines: [Engine] = []
    for _ in 0..<configuration.engines {
      engines.append(try Engine(maximumIdleConnections: configuration.maximumIdleConnections))
    }
    self.engines = engines
  }

  deinit {
    for engine in engines { engine.stop() }
  }

  /// Starts a request and returns at once.
  public func start(_ request: TransferRequest) -> TransferTask {
    TransferTask(TransferRun(request, session: self, engine: nextEngine()))
  }

  /// Sends a request and waits for its result, whether it succeeds or fails. If the waiting task is cancelled, so is the
  /// request.
  ///
  /// - Parameter progress: receives the progress. It is called on an unspecified thread, one call after the other, for
  ///   the last time before this function returns.
  public func result(
    of request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async -> TransferResult {
    let run = TransferRun(request, session: self, engine: nextEngine())
    // Created before the request starts, so that no update is missed.
    let updates = progress.map { _ in run.publisher.updates() }
    let task = TransferTask(run)
    return await withTaskCancellationHandler {
      guard let progress, let updates else { return await task.result }
      async let reports: Void = { for await update in updates { progress(update) } }()
      let result = await task.result
      await reports
      return result
    } onCancel: {
      task.cancel()
    }
  }

  /// Sends a request and returns the response that confirms it.
  ///
  /// - Throws: the result's error, if the outcome is not `ok`. To learn whether the request may have been carried out
  ///   nevertheless, use ``result(of:progress:)``.
  public func send(
    _ request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(TransferError) -> TransferResponse {
    try await result(of: request, progress: progress).confirmingResponse()
  }

  private func nextEngine() -> Engine {
    let index = lastEngine.withLock { index in
      index = (index + 1) % engines.count
      return index
    }
    return engines[index]
  }
}

extension TransferResult {
  fileprivate func confirmingResponse() throws(TransferError) -> TransferResponse {
    if let error { throw error }
    guard let response else {
      throw TransferError(
        .engineFailed, on: url.description,
        "The request to \(url) ended with neither a response nor an error.")
    }
    return response
  }
}
