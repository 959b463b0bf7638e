import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Glibc
import Testing

/// Slow clients. The limits are small here, and the tests wait for their effects.
@Suite struct TimeTests {
  private static func server(
    _ handler: InMemoryHandler = InMemoryHandler(),
    _ setUp: (inout Receiver.Limits) -> Void
  ) throws -> TestServer {
    try TestServer(handler) { setUp(&$0.limits) }
  }

  @Test func `hundreds of slow clients are cut off while a good upload succeeds`() async throws {
    let directory = try TemporaryDirectory()
    let log = Guarded<[ReportedRequest]>([])
    var configuration = Receiver.Configuration()
    configuration.limits.connections = 400
    configuration.limits.idleTime = .milliseconds(400)
    // A slow machine must have read the heads by then, or there is nothing to report.
    configuration.limits.headTime = .seconds(8)
    // No machine reaches this rate byte by byte.
    configuration.limits.minimumRate = 10_000_000
    let receiver = try Receiver.start(
      configuration, handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    let port = receiver.port
    let goodStatus = try await onNewThread {
      let silent = try (0..<50).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      let heads = try (0..<50).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      let bodies = try (0..<200).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      for client in bodies {
        try client.send("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n")
      }
      let good = try curl(
        "-F", "f=@/etc/passwd", "-w", "%{http_code}", "-o", "/dev/null", receiver.url)
      // One byte at a time, a hundred times a second, until all are cut off.
      var (openBodies, openHeads) = (bodies, heads)
      var head = Array("POST / HTTP/1.1\r\nX: ".utf8)[...]
      while !(openBodies.isEmpty && openHeads.isEmpty) {
        let byte = head.popFirst() ?? 0x78
        openBodies = openBodies.filter { (try? $0.send([0x78])) != nil }
        openHeads = openHeads.filter { (try? $0.send([byte])) != nil }
        usleep(10_000)
      }
      for client in silent { #expect(try client.responsesToEnd().isEmpty) }
      return good.output
    }
    #expect(goodStatus == "200")
    #expect(await eventually { log.withLock(\.count) >= 201 })
    await receiver.stop()
    let reported = log.withLock(\.self)
    #expect(reported.count == 201)
    #expect(reported.filter { $0.error?.code == "too-slow" && $0.status == 408 }.count == 200)
    #expect(directory.names.count == 1)
  }

  @Test func `a client that pauses in a body is refused with 408`() async throws {
    let server = try Self.server { $0.idleTime = .milliseconds(50) }
    let response = try await server.response(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
    #expect(response.status == 408)
    #expect(response.closes)
    #expect(response.text.contains("\"code\":\"too-slow\""))
    #expect(response.text.contains("\"body_bytes\":3,"))
    #expect(response.text.contains("\"framing\":\"content-length\",\"content_length\":100,"))
    let reported = try await server.reportedRequests(1)
    #expect(reported.map(\.error?.code) == ["too-slow"])
    #expect(reported.map(\.bodyBytes) == [3])
    #expect(server.handler.openUploads == 0)
  }

  @Test func `a client that never sends the announced body is refused with 408`() async throws {
    let server = try Self.server { $0.idleTime = .milliseconds(50) }
    let responses = try await server.responses(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
    #expect(responses.map(\.status) == [100, 408])
  }

  @Test func `bytes of the framing do not count as the body`() async throws {
    let server = try Self.server { $0.idleTime = .milliseconds(50) }
    let responses = try await onNewThread {
      let client = try server.client()
      try client.send(
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;")
      // An endless chunk extension, more slowly than it could fill the connection's memory.
      var sent = 0
      while sent < 20_000, !client.canReceive(within: .milliseconds(1)) {
        try client.send("x")
        sent += 1
      }
      return try client.responsesToEnd()
    }
    #expect(responses.map(\.status) == [408])
    let reported = try await server.reportedRequests(1)
    #expect(reported.map(\.error?.code) == ["too-slow"])
    #expect(reported.map(\.bodyBytes) == [0])
  }

  @Test(arguments: InMemoryHandler.Call.allCases)
  func `the time that a handler takes does not count as the client's`(
    _ blocking: InMemoryHandler.Call
  ) async throws {
    let gate = try Gate()
    let handler = InMemoryHandler { call, _ in
      if call == blocking { _ = gate.wait() }
    }
    let server = try Self.server(handler) {
      $0.idleTime = .milliseconds(10)
      $0.headTime = .milliseconds(2000)
      $0.responseTime = .milliseconds(2000)
      $0.minimumRate = 1
    }
    // Another client is cut off in the meantime: the limits are enforced.
    async let response = server.response(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
    let silent = try server.client()
    let responses = try await onNewThread { [silent = SendableBox(silent)] in
      try silent.value.responsesToEnd()
    }
    #expect(responses.isEmpty)
    gate.open()
    #expect(try await response.status == 200)
  }

  @Test func `a client that does not read its response is cut off`() async throws {
    let server = try Self.server { $0.responseTime = .milliseconds(50) }
    let body = String(repeating: "a=1&", count: 9000)
    let request =
      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    // Each response has more than a megabyte: soon the sockets' buffers are full.
    _ = try await onNewThread { try server.client().sendUntilClosed(request) }
    // The last upload was accepted, but its response could not be sent.
    #expect(await eventually { server.reportedRequests.last?.status == .some(nil) })
    #expect(!server.reportedRequests.contains { !$0.isComplete })
    #expect(server.handler.openUploads == 0)
  }

  /// Regression: only the time of each response was limited, and each of many short ones was short.
  @Test func `a client that reads its responses below the minimum rate is cut off`() async throws {
    let server = try Self.server {
      $0.idleTime = .milliseconds(200)
      $0.minimumRate = 1_000_000_000
      $0.responseTime = .seconds(3600)
      $0.headTime = .seconds(3600)
    }
    let request = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
    _ = try await onNewThread {
      let client = try RawClient(
        .ip("127.0.0.1", port: server.receiver.port), receiveBuffer: 4096)
      client.sendUntilClosed(String(repeating: request, count: 100))
    }
    let good = try await server.response(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    #expect(good.status == 200)
  }

  @Test func `a connection is used for several requests`() async throws {
    let server = try TestServer()
    let statuses = try await onNewThread {
      let client = try server.client()
      return try (0..<5).map { _ in
        try client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
        return try client.response().status
      }
    }
    #expect(statuses == [200, 200, 200, 200, 200])
    #expect(Set(server.reportedRequests.map(\.peer)).count == 1)
  }

  @Test func `a connection that stays idle after a response is closed`() async throws {
    let server = try Self.server { $0.headTime = .seconds(1) }
    let responses = try await server.responses(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
    #expect(responses.map(\.status) == [200])
  }

  @Test func `under TLS a silent client is cut off, even before the handshake`() async throws {
    let server = try TestServer {
      $0.tls = try? .forTests()
      $0.limits.headTime = .milliseconds(50)
    }
    let responses = try await onNewThread { try server.client().responsesToEnd() }
    #expect(responses.isEmpty)
  }
}
