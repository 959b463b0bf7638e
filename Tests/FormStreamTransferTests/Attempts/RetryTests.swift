import FormStream
import Foundation
import FormStreamTestSupport
import Glibc
import Testing
import FormStreamTransfer

/// When a request is retried, and when not.
@Suite struct RetryTests {
  @Test func `if nothing is listening, it retries, and sends nothing`() async throws {
    let port = try ReservedPort()
    let result = try await makeSession().result(
      of: makeRequest("http://127.0.0.1:\(port.number)/", attempts: 3))
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectFailed)
    #expect(result.attempts == 3)
    #expect(result.totalBytesSent == 0)
    #expect(result.response == nil)
  }

  @Test(arguments: [false, true])
  func `a server that starts late receives the body, even a one-shot one`(isOnce: Bool) async throws {
    let port = try ReservedPort()
    let late = LateServer(port)
    let body = isOnce ? oneShot("important".utf8) : .bytes("important".utf8)
    var request = try makeRequest("http://127.0.0.1:\(port.number)/", body, attempts: 3)
    // The trace reports the retry: then the server starts.
    request.options.trace = { trace in
      if trace.kind == .note, trace.text.hasPrefix("Trying again") { late.begin() }
    }
    let result = try await makeSession().result(of: request)
    let server = try #require(late.server)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(server.requests.map(\.bodyText) == ["important"])
    expectConsistency(result, at: server, bodies: 1)
  }

  @Test(arguments: ["reset", "close"])
  func `a body sent in part is sent again completely`(end: String) async throws {
    let bytes = noise(8_000_000)
    let server = try ScriptedServer(requests: [
      [.readBody(upTo: 1000), end == "reset" ? .reset : .close], .good(201),
    ])
    var request = try makeRequest(server.url, .bytes(bytes), attempts: 2)
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.status == 201)
    #expect(result.attempts == 2)
    #expect(result.bytesSent == 8_000_000)
    #expect(result.totalBytesSent > result.bytesSent)
    #expect(server.requests.last?.body == bytes)
    expectConsistency(result, at: server, bodies: 1)
  }

  @Test func `a one-shot body is not retried, and the error says so`() async throws {
    let server = try ScriptedServer(requests: [[.readBody(upTo: 1000), .reset]])
    var request = try makeRequest(
      server.url, oneShot(noise(8_000_000), length: 8_000_000), attempts: 3)
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectionLost)
    #expect(result.error?.description.contains("can be read once") == true)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server, bodies: 0)
  }

  @Test(arguments: [429, 503], [HTTPMethod.post, .put, .get])
  func `429 and 503 are retried with every method`(status: Int, method: HTTPMethod)
    async throws
  {
    let server = try ScriptedServer(requests: [.good(status), .good(status), .good()])
    let body: TransferBody? = method == .get ? nil : .bytes("b".utf8)
    let session = try makeSession()
    let result = try await session.result(of: makeRequest(method, server.url, body, attempts: 3))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 3)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [429, 503])
  func `a refused one-shot body stays refused`(status: Int) async throws {
    let server = try ScriptedServer { _ in .good(status, body: "later") }
    let result = try await makeSession().result(
      of: makeRequest(server.url, oneShot("b".utf8), attempts: 3))
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .statusRefused)
    #expect(result.error?.description.contains("can be read once") == true)
    #expect(result.response?.text == "later")
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test(
    arguments: [
      (500, HTTPMethod.post, false, 1, .failed), (502, .post, false, 1, .unknown),
      (504, .post, false, 1, .unknown), (524, .post, false, 1, .unknown),
      (502, .patch, false, 1, .unknown), (408, .post, false, 1, .failed),
      (425, .post, false, 1, .failed), (500, .patch, false, 1, .failed),
      (500, .put, false, 2, .retryable), (502, .put, false, 2, .retryable),
      (504, .put, false, 2, .retryable), (408, .put, false, 2, .retryable),
      (425, .put, false, 2, .retryable), (500, .get, false, 2, .retryable),
      (504, .get, false, 2, .retryable), (502, .delete, false, 2, .retryable),
      (500, .post, true, 2, .retryable), (502, .post, true, 2, .retryable),
      (400, .put, false, 1, .failed), (401, .put, false, 1, .failed),
      (403, .get, false, 1, .failed),
      (404, .get, false, 1, .failed), (409, .put, false, 1, .failed),
      (413, .put, false, 1, .failed), (422, .put, true, 1, .failed), (501, .put, false, 1, .failed),
      (505, .get, false, 1, .failed), (507, .put, false, 1, .failed),
    ] as [(Int, HTTPMethod, Bool, Int, TransferResult.Outcome)])
  func `other temporary statuses are retried if that is safe`(
    status: Int, method: HTTPMethod, hasKey: Bool, attempts: Int, outcome: TransferResult.Outcome
  ) async throws {
    let server = try ScriptedServer { _ in .good(status) }
    let hasBody = method != .get && method != .delete
    var request = try makeRequest(
      method, server.url, hasBody ? .bytes("b".utf8) : nil, attempts: 2)
    if hasKey { request.options.idempotencyKey = .random() }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == outcome)
    #expect(result.error?.code == .statusRefused)
    #expect(result.attempts == attempts)
    #expect(server.requests.count == attempts)
    expectConsistency(result, at: server)
  }

  /// A gateway's 503 can mean that it lost its connection to the server that it had passed the request on to.
  @Test(arguments: ["Via", "Proxy-Status"])
  func `a 503 of a gateway is unknown, unless it says when to come again`(header: String)
    async throws
  {
    let headers = [(header, "1.1 gateway")]
    let server = try ScriptedServer { request in
      .good(503, headers: request.target == "/" ? headers : headers + [("Retry-After", "0")])
    }
    let session = try makeSession()
    let post = try await session.result(of: makeRequest(server.url, attempts: 2))
    #expect(post.outcome == .unknown)
    #expect(post.attempts == 1)
    let put = try await session.result(of: makeRequest(.put, server.url, attempts: 2))
    #expect(put.outcome == .retryable)
    #expect(put.attempts == 2)
    let told = try await session.result(of: makeRequest(server.url + "/told", attempts: 2))
    #expect(told.outcome == .retryable)
    #expect(told.attempts == 2)
    #expect(server.faults == [])
  }

  @Test(arguments: [502, 503, 504])
  func `a gateway that responds before the end of the body can't have passed it on`(status: Int)
    async throws
  {
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: 1000),
        .respond(status, headers: [("Via", "1.1 gateway"), ("Connection", "close")]), .finish,
      ]
    }
    var request = try makeRequest(server.url, .bytes(noise(30_000_000)))
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.status == status)
  }

  @Test func `unsafe requests are repeated if the policy says so`() async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close], .good(500), .good()])
    var request = try makeRequest(server.url, attempts: 3)
    let session = try makeSession()
    request.options.retry.retriesUnsafe = true
    let result = await session.result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.attempts == 3)
    expectConsistency(result, at: server)
  }

  @Test func `by default, a POST without a response is not repeated`() async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close]])
    let result = try await makeSession().result(of: makeRequest(server.url, attempts: 3))
    #expect(result.outcome == .unknown)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [HTTPMethod.put, .get, .delete])
  func `a request without a response is repeated if that is safe`(method: HTTPMethod) async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close], .good()])
    let result = try await makeSession().result(
      of: makeRequest(
        method, server.url, method == .put ? .bytes("b".utf8) : nil, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    expectConsistency(result, at: server)
  }

  @Test(arguments: ["0", "00", "Thu, 01 Jan 1970 00:00:00 GMT", "-1", "soon", "", "1.5", "1e9 s"])
  func `after a Retry-After of zero, in the past or malformed, it backs off as usual`(text: String)
    async throws
  {
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", text)]) }
    var request = try makeRequest(server.url, attempts: 2)
    request.options.retry.baseDelay = .seconds(1_000_000)
    request.options.retry.maximumDelay = .seconds(1_000_000)
    let note = ReceivedText()
    request.options.trace = { if $0.kind == .note { note.append($0.text) } }
    let task = try makeSession().start(request)
    for await step in task.progress where step.phase == .retrying { break }
    task.cancel()
    _ = await task.result
    #expect(note.text.contains("Trying again in "))
    #expect(!note.text.contains("Trying again in 0 s"))
    #expect(server.faults == [])
  }

  @Test(arguments: [
    "121", "99999999999", "99999999999999999999999999", "Fri, 31 Dec 2100 23:59:59 GMT",
  ])
  func `a Retry-After over the maximum ends the transfer`(text: String) async throws {
    let server = try ScriptedServer { _ in .good(429, headers: [("Retry-After", text)]) }
    let result = try await makeSession().result(of: makeRequest(server.url, attempts: 3))
    #expect(result.outcome == .retryable)
    #expect(result.response?.headers["Retry-After"] == text)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test func `a Retry-After beyond the time limit ends the transfer`() async throws {
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", "60")]) }
    var request = try makeRequest(server.url, attempts: 3)
    request.options.retry.timeLimit = .seconds(30)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  // A process that is stopped during the wait (SIGSTOP, a laptop's lid) began an attempt long after the limit.
  @Test func `no attempt begins if the wait was longer than it was to be`() async throws {
    // The time limit began before this.
    let arrival = Guarded<ContinuousClock.Instant?>(nil)
    let server = try ScriptedServer { _ in
      arrival.withLock { $0 = $0 ?? .now }
      return .good(503)
    }
    var request = try makeRequest(server.url, attempts: 3)
    let limit = Duration.seconds(1)
    request.options.retry.timeLimit = limit
    request.options.retry.fixedDelay = .zero
    // It is called before the wait, whose length was chosen.
    request.options.willRetry = { _ in
      while let start = arrival.withLock(\.self), start.duration(to: .now) <= limit { usleep(1000) }
    }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.status == 503)
    #expect(result.attempts == 1)
    #expect(server.requests.count == 1)
  }

  @Test func `no attempt begins after the time limit`() async throws {
    let server = try ScriptedServer { _ in .good(503) }
    var request = try makeRequest(server.url, attempts: 1_000_000)
    request.options.retry.timeLimit = .zero
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test func `if a server stays down, a session retries no more than its budget allows`()
    async throws
  {
    let server = try ScriptedServer { _ in .good(503) }
    var configuration = TransferSession.Configuration()
    configuration.retryBudget = 20
    let session = try TransferSession(configuration)
    let request = try makeRequest(server.url, attempts: 5)
    let results = await withTaskGroup(of: TransferResult.self) { group in
      for _ in 0..<200 { group.addTask { await session.result(of: request) } }
      var results: [TransferResult] = []
      for await result in group { results.append(result) }
      return results
    }
    #expect(results.allSatisfy { $0.outcome == .retryable && $0.status == 503 })
    let attempts = results.map(\.attempts).reduce(0, +)
    #expect(attempts == 220)
    #expect(server.completeBodyCount == attempts)
    #expect(server.faults == [])
  }

  @Test func `successes refill the budget for retries`() async throws {
    let server = try ScriptedServer { $0.target == "/ok" ? .good() : .good(503) }
    var configuration = TransferSession.Configuration()
    configuration.retryBudget = 1
    let session = try TransferSession(configuration)
    func attempts() async throws -> Int {
      try await session.result(of: makeRequest(server.url, attempts: 5)).attempts
    }
    #expect(try await attempts() == 2)
    #expect(try await attempts() == 1)
    for _ in 0..<10 {
      #expect(try await session.result(of: makeRequest(server.url + "/ok")).outcome == .ok)
    }
    #expect(try await attempts() == 2)
    #expect(try await attempts() == 1)
    #expect(server.faults == [])
  }

  @Test func `send throws the result's error`() async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/silent": [.readBody, .close]
      case "/moved": .good(302, headers: [("Location", "/")])
      case "/ok": .good(body: "here")
      default: .good(404)
      }
    }
    let session = try makeSession()
    for (path, code) in [
      ("/silent", TransferError.Code.connectionLost), ("/moved", .redirectRefused),
      ("/missing", .statusRefused),
    ] {
      let request = try makeRequest(server.url + path)
      let error = await #expect(throws: TransferError.self) {
        _ = try await session.send(request)
      }
      #expect(error?.code == code)
    }
    #expect(try await session.send(makeRequest(server.url + "/ok")).text == "here")
    #expect(server.faults == [])
  }
}

/// A server that a callback starts.
private final class LateServer: @unchecked Sendable {
  private let port: ReservedPort
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var begun: ScriptedServer?

  init(_ port: ReservedPort) { self.port = port }

  var server: ScriptedServer? { lock.withLock { begun } }

  func begin() {
    lock.withLock {
      begun =
        begun ?? (try? ScriptedServer(on: port.address()) { _ in .good() })
    }
  }
}
