import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Which connections are kept for later requests, and for how long.
@Suite(.timeLimit(.minutes(2))) struct KeptConnectionTests {
  private func session(
    idleLimit: Duration = .seconds(600), _ set: (inout TransferSession.Configuration) -> Void = { _ in }
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = idleLimit
    set(&configuration)
    return try TransferSession(configuration)
  }

  private func get(_ server: ScriptedServer, by session: TransferSession) async throws {
    let result = try await session.result(of: makeRequest(.get, server.url, nil))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  // MARK: Which

  /// A response, and whether its connection may be used again.
  private static let responses: [(String, isKept: Bool)] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true),
    ("HTTP/1.1 204 No Content\r\n\r\n", true),
    ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok", true),
    ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: foo, CLOSE\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=100\r\n\r\nok", true),
    // The limit is kept to less a second.
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=1\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=0, max=5\r\n\r\nok", false),
  ]

  @Test(arguments: responses)
  func `a connection is kept if its response permits that`(response: String, isKept: Bool) async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(response)] }
    let session = try session()
    for _ in 0..<3 { try await get(server, by: session) }
    #expect(server.connections.count == (isKept ? 1 : 3))
    #expect(server.requests.count == 3)
  }

  @Test func `a connection on which a body was not sent to its end is not kept`() async throws {
    let server = try ScriptedServer { request in
      request.connection == 0 ? [.respond(413, body: "too large"), .skipBody, .readBody] : .good()
    }
    let session = try session()
    var request = try makeRequest(server.url, .bytes(noise(8_000_000)))
    request.options.expectation = .never
    let refused = await session.result(of: request)
    #expect(refused.status == 413)
    try await get(server, by: session)
    #expect(server.connections.count == 2)
  }

  @Test func `a connection whose request was cancelled is not kept`() async throws {
    let server = try ScriptedServer { request in
      request.connection == 0 ? [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .stall] : .good()
    }
    let session = try session()
    let task = try session.start(makeRequest(.get, server.url, nil))
    #expect(await onNewThread { server.waitForRequests(1) })
    task.cancel()
    #expect(await task.result.error?.code == .cancelled)
    try await get(server, by: session)
    #expect(server.connections.count == 2)
  }

  // MARK: How long

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", Duration.milliseconds(50)),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=2\r\n\r\nok", .seconds(600)),
  ])
  func `a connection that is idle for too long is closed`(response: String, idleLimit: Duration) async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(response)] }
    let session = try session(idleLimit: idleLimit)
    try await get(server, by: session)
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.connections.map(\.end) == [.closedByClient])
    withExtendedLifetime(session) {}
  }

  @Test(arguments: [
    ScriptedStep.close, .closeWrite, .reset, .send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"),
  ])
  func `an idle connection is closed as soon as the server says something or ends it`(_ step: ScriptedStep) async throws {
    let hasArrived = try Gate()
    let server = try ScriptedServer { request in
      request.connection == 0 ? .good() + [.waitFor(hasArrived), step] : .good()
    }
    let session = try session()
    try await get(server, by: session)
    hasArrived.open()
    #expect(await onNewThread { server.waitForEnds() })
    try await get(server, by: session)
    #expect(server.connections.count == 2)
    #expect(server.requests.count == 2)
  }

  @Test func `the connection with the shortest time is closed first, whenever it was kept`() async throws {
    let lasting = try ScriptedServer { _ in .good() }
    let short = try ScriptedServer { _ in .good(headers: [("Keep-Alive", "timeout=2")]) }
    let session = try session()
    for server in [lasting, short] { try await get(server, by: session) }
    #expect(await onNewThread { short.waitForEnds() })
    try await get(lasting, by: session)
    #expect(lasting.connections.count == 1)
  }

  // MARK: How many

  @Test(arguments: [(0, 4), (1, 3), (3, 1), (64, 0)])
  func `no more idle connections are kept than the maximum`(maximum: Int, closed: Int) async throws {
    let all = try Gate()
    let server = try ScriptedServer { request in
      request.connection < 4 && request.index == 0 ? [.readBody, .waitFor(all), .respond(200)] : .good()
    }
    let session = try session { $0.maximumIdleConnections = maximum }
    let tasks = try (0..<4).map { _ in try session.start(makeRequest(.get, server.url, nil)) }
    #expect(await onNewThread { server.waitForRequests(4) })
    all.open()
    for task in tasks { #expect(await task.result.outcome == .ok) }
    #expect(await eventually { server.connections.count { $0.end != nil } == closed })
    #expect(server.connections.count == 4)
  }

  @Test func `the connection that was used the longest time ago makes room`() async throws {
    let servers = try (0..<3).map { _ in try ScriptedServer { _ in .good() } }
    let session = try session { $0.maximumIdleConnections = 2 }
    for server in servers { try await get(server, by: session) }
    #expect(await onNewThread { servers[0].waitForEnds() })
    for server in servers.reversed() { try await get(server, by: session) }
    #expect(servers.map(\.connections.count) == [2, 1, 1])
  }

  @Test func `a session that ends closes its connections`() async throws {
    let server = try ScriptedServer { _ in .good() }
    do { try await get(server, by: session()) }
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.connections.map(\.end) == [.closedByClient])
  }
}
