import FormStream
import FormStreamReceiver
import FormStreamTransfer
import Foundation

/// A server on this machine, whose paths choose the response: `/` is accepted, and `/busy` refused with 503.
final class ProbeServer: Sendable {
  private let receiver: Receiver
  let url: String

  init() throws {
    receiver = try Receiver.start(
      handler: DiscardHandler().responding { upload in
        upload.request.target.hasPrefix("/busy")
          ? try UploadResponse(status: 503, text: "Busy.") : nil
      })
    url = receiver.url
  }

  func stop() async { await receiver.stop(grace: .zero) }
}

/// The settings of requests.
func requestCells(_ server: ProbeServer) -> [Cell] {
  func option<Value: Sendable>(
    _ name: String, _ values: [Value], to path: String = "", body: TransferBody? = .bytes([1]),
    _ set: @escaping @Sendable (inout TransferOptions, Value) -> Void
  ) -> [Cell] {
    Cell.each("TransferOptions.\(name)", values) { value in
      var request = try TransferRequest(.post, server.url + path, body: body)
      set(&request.options, value)
      return try await send(request, in: TransferSession())
    }
  }
  // Its length is not known, so it is read ahead.
  let stream = TransferBody.writing { try await $0.write("abc") }
  var cells = option("maximumResponseSize", Extremes.int64s) {
    $0.maximumResponseSize = $1
    $0.responseTarget = .stream { _ in }
  }
  cells += option("acceptedStatuses", Extremes.integers) { $0.acceptedStatuses = [$1] }
  cells += option("maximumRate", Extremes.int64s) { $0.maximumRate = $1 }
  cells += option(
    "maximumRate of an empty request", Extremes.int64s.filter { $0 < 1 || $0 > 1000 }, body: nil
  ) {
    $0.maximumRate = $1
  }
  cells += option("readAhead", Extremes.integers, body: stream) { $0.readAhead = $1 }
  cells += option("readAhead with a temporary file", Extremes.integers, body: stream) {
    $0.readAhead = $1
    $0.spoolsBody = true
  }
  cells += option("responseTarget", Extremes.integers) { $0.responseTarget = .memory(limit: $1) }
  cells += option("responseCompression", Extremes.int64s) {
    $0.responseCompression = ResponseCompression(limit: $1)
  }
  cells += option("redirects.limit", Extremes.integers) { $0.redirects.limit = $1 }
  cells += option("expectation.timeout", Extremes.durations) {
    $0.expectation = .always
    $0.expectation.timeout = $1
  }
  cells += option("progressPace", Extremes.durations) { $0.progressPace = .atMost(every: $1) }
  cells += option("progressPace of a stream", Extremes.durations, body: stream) {
    $0.readAhead = 100
    $0.progressPace = .atMost(every: $1)
  }
  cells += option("timeLimits.connect", Extremes.durations) { $0.timeLimits.connect = $1 }
  cells += option("timeLimits.stall", Extremes.durations) { $0.timeLimits.stall = $1 }
  cells += option("timeLimits.response", Extremes.durations) { $0.timeLimits.response = $1 }
  cells += option("timeLimits.attempt", Extremes.durations) { $0.timeLimits.attempt = $1 }
  cells += option("limits of a stream that is read ahead", Extremes.durations, body: stream) {
    $0.readAhead = 100
    $0.timeLimits.attempt = $1
    $0.timeLimits.stall = $1
  }
  // Each of these waits between attempts; the third attempt cancels the request.
  cells += option("retry.attempts", Extremes.integers, to: "busy") {
    $0.retry.attempts = $1
    $0.retry.fixedDelay = .zero
  }
  for name in ["baseDelay", "maximumDelay", "fixedDelay", "maximumRetryAfter", "timeLimit"] {
    cells += option("retry.\(name)", Extremes.durations, to: "busy") { options, value in
      options.retry.attempts = 3
      options.retry.baseDelay = .nanoseconds(1)
      switch name {
      case "baseDelay":
        (options.retry.baseDelay, options.retry.maximumDelay) = (value, .milliseconds(2))
      case "maximumDelay": options.retry.maximumDelay = value
      case "fixedDelay": options.retry.fixedDelay = value
      case "maximumRetryAfter": options.retry.maximumRetryAfter = value
      default: (options.retry.timeLimit, options.timeLimits.attempt) = (value, value)
      }
    }
  }
  cells += option("all limits and delays at once", Extremes.durations, to: "busy") {
    $0.retry.attempts = 3
    ($0.retry.fixedDelay, $0.retry.timeLimit) = ($1, $1)
    ($0.timeLimits.connect, $0.timeLimits.stall) = ($1, $1)
    ($0.timeLimits.response, $0.timeLimits.attempt) = ($1, $1)
  }
  return cells + readingCells(server)
}

/// Responses that are read as they arrive.
private func readingCells(_ server: ProbeServer) -> [Cell] {
  @Sendable func open() async throws -> OpenResponse {
    let session = try TransferSession()
    return try await session.open(TransferRequest(.post, server.url, body: .bytes([1])))
  }
  var cells = Cell.each("OpenResponse.collect(upTo:)", Extremes.integers) { limit in
    try await open().collect(upTo: limit).count
  }
  cells += Cell.each("OpenResponse.text(upTo:)", Extremes.integers) { limit in
    try await open().text(upTo: limit).count
  }
  cells += Cell.each("OpenResponse.decoded(upTo:)", Extremes.integers) { limit in
    try await open().decoded(as: [String: String].self, upTo: limit)
  }
  cells += Cell.each("ResponseBody.lines(upTo:)", Extremes.integers) { limit in
    var count = 0
    for try await _ in try await open().body.lines(upTo: limit) { count += 1 }
    return count
  }
  return cells
}

/// The settings of sessions.
func sessionCells(_ server: ProbeServer) -> [Cell] {
  func setting<Value: Sendable>(
    _ name: String, _ values: [Value],
    _ set: @escaping @Sendable (inout TransferSession.Configuration, Value) -> Void
  ) -> [Cell] {
    Cell.each("TransferSession.Configuration.\(name)", values) { value in
      var configuration = TransferSession.Configuration()
      set(&configuration, value)
      let session = try TransferSession(configuration)
      let request = try TransferRequest(.post, server.url, body: .bytes([1]))
      var outcomes: [String] = []
      for _ in 0..<2 { outcomes.append(await send(request, in: session)) }
      return outcomes
    }
  }
  return setting("engines", Extremes.integers) { $0.engines = $1 }
    + setting("idleLimit", Extremes.durations) { $0.idleLimit = $1 }
    + setting("maximumConnectionsPerHost", Extremes.integers) { $0.maximumConnectionsPerHost = $1 }
    + setting("maximumConnectionsPerHost of 3 engines", Extremes.integers) {
      $0.engines = 3
      $0.maximumConnectionsPerHost = $1
    }
    + setting("maximumIdleConnections", Extremes.integers) { $0.maximumIdleConnections = $1 }
    + setting("uploadBufferSize", Extremes.integers) { $0.uploadBufferSize = $1 }
    + setting("keepAliveTime", Extremes.durations) { $0.keepAliveTime = $1 }
    + setting("retryBudget", Extremes.integers) { $0.retryBudget = $1 }
}

/// Sends a request, and cancels it before its third attempt, or once it waits for the second for more than a moment.
private func send(_ request: TransferRequest, in session: TransferSession) async -> String {
  var request = request
  let (waits, continuation) = AsyncStream.makeStream(of: TransferRetry.self)
  request.options.willRetry = { continuation.yield($0) }
  let task = session.start(request)
  let watching = Task {
    for await retry in waits where retry.attempt > 2 || retry.delay > .milliseconds(100) {
      // Let the wait begin: what comes of it doesn't depend on that.
      try? await Task.sleep(for: .milliseconds(5))
      task.cancel()
    }
  }
  for await _ in task.progress {}
  let result = await task.result
  continuation.finish()
  await watching.value
  return "\(result.outcome) \(result.error?.description ?? "")"
}
