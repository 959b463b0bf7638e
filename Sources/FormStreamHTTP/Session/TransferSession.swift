import FormStreamPlatform

/// Sends requests. A session owns the connections and the threads that drive them, and remembers what it learned about
/// servers.
///
/// ```swift
/// let session = try TransferSession()
/// let response = try await session.send(TransferRequest(.post, url, body: .form(form)))
/// ```
///
/// One session is enough for a program. It may be used from any thread. When the session and the tasks that it started are
/// released, its idle connections are closed and its threads end; requests that are being sent keep the session alive.
public final class TransferSession: Sendable {
  /// The settings that the session was created with.
  public var configuration: Configuration { sharedConfiguration.value }
  let sharedConfiguration: Shared<Configuration>

  let engines: [Engine]
  /// Nil if there is no limit.
  let connectionLimit: ConnectionLimit?
  /// The index of the engine that was used last.
  private let lastEngine = Guarded(0)
  private let started = Guarded(StartedTasks())
  let budget: RetryBudget
  let knownServers = KnownServers()
  /// The program's decisions on servers' certificates; nil if the platform's check decides.
  let serverTrust: ServerTrustDecisions?
  let protectionSpaces = ProtectionSpaces()
  let refusedCredentials = RefusedCredentials()
  let answeredCredentials = AnsweredCredentials()
  /// Nil if the session keeps no cookies.
  let cookieJar: CookieJar?

  /// Creates a session, and starts its threads.
  ///
  /// - Throws: `invalidSetting`; `tlsFileUnusable`; `cookiesUnusable`; `engineFailed`; the errors of reading the cookie file.
  public init(_ configuration: Configuration = Configuration()) throws(TransferError) {
    try configuration.check()
    sharedConfiguration = Shared(configuration)
    serverTrust = configuration.serverTrust.map { ServerTrustDecisions($0) }
    budget = RetryBudget(configuration.retryBudget)
    cookieJar = try CookieJar(configuration.cookies)
    connectionLimit = configuration.maximumConnectionsPerHost.map {
      ConnectionLimit($0, engines: configuration.engines)
    }
    var engines: [Engine] = []
    for index in 0..<configuration.engines {
      // With `maximumHostConnections`, libcurl closes an idle connection to make room for a new one within the limit. With a
      // proxy, libcurl would count the connections of all hosts together, so a host that hangs would hold up requests to
      // others.
      engines.append(
        try Engine(
          sharedConfiguration,
          maximumHostConnections: configuration.proxy.isNone ? connectionLimit?.parts[index] : nil))
    }
    self.engines = engines
  }

  deinit {
    for engine in engines { engine.stop() }
    configuration.testServer?.stop()
  }

  /// Starts a request and returns at once.
  public func start(_ request: TransferRequest) -> TransferTask<TransferResult> {
    start(TransferRun(request, session: self, engine: nextEngine()))
  }

  /// Starts a request whose response is read by tasks as it arrives.
  func start(
    _ request: TransferRequest, readBy response: ArrivingResponse
  ) -> TransferTask<TransferResult> {
    start(TransferRun(request, readBy: response, session: self, engine: nextEngine()))
  }

  /// The requests that have been started and have not ended, in the order of their start. ``downloads`` has the downloads; the
  /// requests that a download sends are in neither list.
  public var tasks: [TransferTask<TransferResult>] {
    // A program that paused or cancelled a download's own request would make the download fail.
    let (all, ofDownloads) = started.withLock { ($0.tasks, $0.requestsOfDownloads) }
    return all.filter { !ofDownloads.contains($0.key) }.values
      .compactMap { $0 as? TransferTask<TransferResult> }.sorted { $0.id < $1.id }
  }

  /// The downloads that have been started and have not ended, in the order of their start.
  ///
  /// The ``TransferTask/id`` of a download and the ids of ``tasks`` say which was started first.
  public var downloads: [TransferTask<DownloadResult>] {
    allTasks.compactMap { $0 as? TransferTask<DownloadResult> }
  }

  /// The requests and the downloads that have been started and have not ended, in the order of their start, with the requests
  /// of downloads.
  private var allTasks: [any StartedTask] {
    started.withLock { $0.tasks.values.sorted { $0.id < $1.id } }
  }

  /// Cancels all requests that have been started and have not ended.
  public func cancelAll() {
    // A download was started before its requests. So the download is cancelled first, and starts no other requests.
    for task in allTasks { task.cancel() }
  }

  /// Waits until all requests that have been started have ended, including requests that wait for a connection. From this call
  /// on, new requests fail with `sessionFinished`. If the waiting task is cancelled, the requests go on.
  public func finish() async {
    started.withLock { $0.areRefused = true }
    for task in allTasks { await task.end() }
  }

  /// Sends a request and waits for its result, whether it succeeds or fails. If the waiting task is cancelled, so is the
  /// request.
  ///
  /// - Parameters:
  ///   - request: the request. It can be sent any number of times.
  ///   - progress: receives the progress. The closure is called on a thread of the session, where it may block, one call at a
  ///     time. The last call ends before this function returns. While the closure runs, only the newest state is kept for the
  ///     next call; see ``ProgressPace``.
  nonisolated(nonsending) public func result(
    of request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async -> TransferResult {
    await result(
      of: TransferRun(request, session: self, engine: nextEngine()), progress: progress)
  }

  nonisolated(nonsending) func result<Work: TransferWork>(
    of run: Work, progress: ProgressHandler?
  ) async -> Work.Success {
    // If the task is already cancelled, nothing is sent.
    if Task.isCancelled { run.cancel() }
    guard let progress else { return await start(run).result }
    // The updates are requested before the start, so that no update is missed.
    let updates = run.publisher.updates()
    return await start(run).result(passing: updates, to: progress)
  }

  /// Sends a request and returns the response that confirms it.
  ///
  /// - Throws: a ``TransferError`` if the outcome is not `ok`. Its ``TransferError/outcome`` says whether the server may have
  ///   carried out the request, and its ``TransferError/response`` is the response of a server that refused the request. An
  ///   error with the outcome `ok` says that the server accepted the request, but that the response is not complete here: the
  ///   response could not be stored, or has more bytes than its target keeps (`responseTooLarge`). `CancellationError` if the
  ///   request was cancelled, by the waiting task or otherwise; to learn how much of the request was sent, use
  ///   ``result(of:progress:)``.
  @discardableResult
  nonisolated(nonsending) public func send(
    _ request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws -> TransferResponse {
    try await result(of: request, progress: progress).confirmingResponse()
  }

  /// Starts a request of a download that is already running, even after ``finish()`` was called.
  func startRequest(ofDownload request: TransferRequest) -> TransferTask<TransferResult> {
    start(TransferRun(request, session: self, engine: nextEngine()), isOfDownload: true)
  }

  /// Starts a request or a download, unless ``finish()`` was called.
  ///
  /// - Parameter isOfDownload: whether a download sends this request. It is started even after ``finish()`` was called, and the
  ///   session's closure gets the progress of the download alone.
  func start<Work: TransferWork>(
    _ run: Work, isOfDownload: Bool = false
  ) -> TransferTask<Work.Success> {
    started.withLock { started in
      guard isOfDownload || !started.areRefused else {
        return TransferTask(run) { await $0.refuse(.sessionFinished) }
      }
      // The task can't end before this lock is released, because its end is noted under the same lock.
      let progress = isOfDownload ? nil : configuration.progress
      let task = TransferTask(run) { [started = self.started] run in
        let result = await run.perform(passingProgressTo: progress)
        started.withLock { started in
          started.tasks[ObjectIdentifier(run)] = nil
          started.requestsOfDownloads.remove(ObjectIdentifier(run))
        }
        return result
      }
      started.tasks[ObjectIdentifier(run)] = task
      if isOfDownload { started.requestsOfDownloads.insert(ObjectIdentifier(run)) }
      return task
    }
  }

  /// The index of the engine for the next request.
  func nextEngine() -> Int {
    lastEngine.withLock { index in
      index = (index + 1) % engines.count
      return index
    }
  }
}

/// The requests and the downloads of a session that have not ended.
private struct StartedTasks {
  var tasks: [ObjectIdentifier: any StartedTask] = [:]
  /// The requests that downloads have sent. A request that still runs keeps its identifier.
  var requestsOfDownloads: Set<ObjectIdentifier> = []
  /// Whether new tasks are refused.
  var areRefused = false
}

/// A task with any type of result.
private protocol StartedTask: Sendable {
  var id: Int { get }
  func cancel()
  func end() async
}

extension TransferTask: StartedTask {}

extension TransferResult {
  /// The response of a request that succeeded.
  func confirmingResponse() throws -> TransferResponse {
    guard error == nil, var response else { try fail() }
    response.outcome = outcome
    return response
  }

  /// Throws the reason why no response confirms the request.
  func fail() throws -> Never {
    if error?.code == .cancelled { throw CancellationError() }
    throw error ?? .endedWithoutResponse(url)
  }
}
