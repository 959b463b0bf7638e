import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// The maximum number of connections to a host, and the requests that wait because of it.
@Suite(.timeLimit(.minutes(2))) struct ConnectionLimitTests {
  private func session(limit: Int?, engines: Int = 1) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.maximumConnectionsPerHost = limit
    configuration.engines = engines
    return try TransferSession(configuration)
  }

  private func requests(_ count: Int, to server: ScriptedServer) throws -> [TransferRequest] {
    try (0..<count).map { try makeRequest(server.url + "/\($0)", .bytes(noise(2000))) }
  }

  /// How many requests a server serves at the same time, and the most.
  private final class Load: Sendable {
    private let counts = Guarded((now: 0, most: 0))
    var most: Int { counts.withLock(\.most) }

    func begin() {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
    }

    func end() { counts.withLock { $0.now -= 1 } }
  }

  @Test(arguments: [(6, 1), (6, 2), (1, 1), (2, 4)])
  func `200 requests to a host use no more connections than the limit, and all succeed`(
    limit: Int, engines: Int
  ) async throws {
    let load = Load()
    let server = try ScriptedServer { _ in
      [.call(load.begin), .readBody, .call(load.end), .respond(200)]
    }
    let session = try session(limit: limit, engines: engines)
    let tasks = try requests(200, to: server).map(session.start)
    for task in tasks { #expect(await task.result.outcome == .ok) }
    // All that were ever opened: each was kept for the next request.
    #expect(server.connections.count <= limit)
    #expect(load.most <= limit)
    #expect(server.requests.count == 200)
    #expect(server.faults.isEmpty)
    #expect(session.tasks.isEmpty)
  }

  @Test func `requests that wait are sent in the order in which they were started`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try session(limit: 1)
    // Different kinds of bodies take different times to be measured.
    let place = try TemporaryDirectory()
    let file = try place.write("file", noise(2000))
    let bodies: [TransferBody?] = [
      .bytes(noise(2000)), nil, .file(file), .form(Form { Part.file("a", file) }),
    ]
    let tasks = try (0..<200).map {
      session.start(try makeRequest(server.url + "/\($0)", bodies[$0 % 4]))
    }
    for task in tasks { #expect(await task.result.outcome == .ok) }
    #expect(server.requests.map(\.target) == (0..<200).map { "/\($0)" })
    #expect(tasks.map(\.id) == tasks.map(\.id).sorted())
  }

  @Test func `without a limit, requests don't wait`() async throws {
    let (goOn, reached) = (try Gate(), try (0..<20).map { _ in try Gate() })
    let server = try ScriptedServer { [reached] request in
      [.open(reached[request.number]), .waitFor(goOn)] + .good()
    }
    let session = try session(limit: nil)
    let tasks = try requests(20, to: server).map(session.start)
    #expect(await onNewThread { reached.allSatisfy { $0.wait() } })
    goOn.open()
    for task in tasks { #expect(await task.result.outcome == .ok) }
  }

  @Test(arguments: [1, 2])
  func `a host that hangs holds up no other`(engines: Int) async throws {
    let goOn = try Gate()
    let hanging = try ScriptedServer { _ in [.waitFor(goOn)] + .good() }
    let server = try ScriptedServer { _ in .good() }
    let session = try session(limit: 2, engines: engines)
    let held = try requests(20, to: hanging).map(session.start)
    let others = try requests(20, to: server).map(session.start)
    for task in others { #expect(await task.result.outcome == .ok) }
    #expect(held.allSatisfy { $0.state != .done })
    goOn.open()
    for task in held { #expect(await task.result.outcome == .ok) }
    #expect(hanging.connections.count <= 2)
  }

  @Test func `a request that waits says so, and can be cancelled at once`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let session = try session(limit: 1)
    let tasks = try requests(3, to: server).map(session.start)
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { tasks.map(\.state) == [.running, .waiting, .waiting] })
    #expect(tasks[1].progress.current.phase == .queued)
    #expect(session.tasks == tasks)
    tasks[1].cancel()
    let cancelled = await tasks[1].result
    #expect(cancelled.outcome == .cancelled)
    #expect(cancelled.attempts == 0)
    #expect(tasks[1].state == .done)
    #expect(session.tasks == [tasks[0], tasks[2]])
    goOn.open()
    #expect(await tasks[0].result.outcome == .ok)
    #expect(await tasks[2].result.outcome == .ok)
    #expect(server.requests.map(\.target) == ["/0", "/2"])
    #expect(session.tasks.isEmpty)
  }

  @Test func `the time that a request waits counts`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let session = try session(limit: 1)
    let held = session.start(try makeRequest(server.url))
    #expect(await onNewThread { reached.wait() })
    var request = try makeRequest(server.url)
    request.options.timeLimits.attempt = .milliseconds(100)
    let result = await session.result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .timedOut)
    #expect(result.error?.description.contains("TimeLimits.attempt) or") == true)
    #expect(result.error?.description.contains("maximumConnectionsPerHost") == true)
    #expect(result.attempts == 0)
    request.options.timeLimits.attempt = nil
    request.options.retry.timeLimit = .milliseconds(100)
    let late = await session.result(of: request)
    #expect(late.error?.code == .timedOut)
    #expect(late.error?.description.contains("RetryPolicy.timeLimit) or") == true)
    goOn.open()
    #expect(await held.result.outcome == .ok)
    #expect(server.requests.count == 1)
  }

  @Test func `a request that is paused while it waits lets others go first`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      (request.target == "/0" ? [.open(reached), .waitFor(goOn)] : []) + .good()
    }
    let session = try session(limit: 1)
    let tasks = try requests(3, to: server).map(session.start)
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { tasks[1].state == .waiting })
    tasks[1].pause()
    #expect(tasks[1].state == .paused)
    goOn.open()
    #expect(await tasks[2].result.outcome == .ok)
    #expect(tasks[1].state == .paused)
    tasks[1].resume()
    #expect(await tasks[1].result.outcome == .ok)
    #expect(server.requests.map(\.target) == ["/0", "/2", "/1"])
  }

  @Test func `retries and redirects keep to the limit`() async throws {
    let load = Load()
    let seen = Guarded<Set<String>>([])
    let server = try ScriptedServer { request in
      let isFirst = seen.withLock { $0.insert(request.target).inserted }
      let number = request.target.split(separator: "-").last ?? ""
      let steps: [ScriptedStep] =
        switch (request.target.hasPrefix("/first"), isFirst) {
        case (true, _): [.respond(307, headers: [("Location", "/again-\(number)")])]
        case (false, true): [.close]
        case (false, false): [.respond(200)]
        }
      return [.call(load.begin), .readBody, .call(load.end)] + steps
    }
    let session = try session(limit: 3)
    let tasks = try (0..<60).map { number in
      var request = try makeRequest(.put, server.url + "/first-\(number)")
      request.options.retry.attempts = 2
      request.options.retry.baseDelay = .milliseconds(1)
      return session.start(request)
    }
    for task in tasks { #expect(await task.result.outcome == .ok) }
    #expect(load.most <= 3)
  }

  /// With six engines, each of them has one connection.
  @Test(arguments: [(1, 1), (2, 1), (6, 6)])
  func `over HTTP 2, requests share a connection after the first response`(
    limit: Int, engines: Int
  ) async throws {
    let certificates = try TestCertificates()
    let (goOn, reached) = (try Gate(), try (0..<21).map { _ in try Gate() })
    let server = try ScriptedHTTP2Server { [reached] request in
      request.number == 0
        ? .good() : [.open(reached[request.number]), .waitFor(goOn)] + .good()
    }
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.tls.authorities = LocalPath(certificates.authority)
    configuration.maximumConnectionsPerHost = limit
    configuration.engines = engines
    let session = try TransferSession(configuration)
    #expect(await session.result(of: try makeRequest(.get, proxy.url, nil)).outcome == .ok)
    let tasks = try (0..<20).map { number in
      session.start(
        try makeRequest(proxy.url, number % 2 == 0 ? nil : .bytes(Array("small".utf8))))
    }
    #expect(await onNewThread { reached.dropFirst().allSatisfy { $0.wait() } })
    goOn.open()
    for task in tasks { #expect(await task.result.outcome == .ok) }
    // A request without a response can't share yet, and an engine can't use the connections of another.
    #expect(server.connections.count <= limit)
    #expect(server.faults == [])
  }

  @Test func `a limit below 1 is refused`() throws {
    let error = #expect(throws: TransferError.self) { try session(limit: 0) }
    #expect(error?.code == .invalidSetting)
  }
}
