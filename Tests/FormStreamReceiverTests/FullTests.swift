import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What happens when all connections are in use. The time limits are far longer than a test may take.
@Suite struct FullTests {
  private static let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"

  private static func server(
    _ setUp: @escaping (inout Receiver.Limits) -> Void = { _ in }
  ) throws -> TestServer {
    try TestServer {
      $0.limits.connections = 4
      $0.limits.headTime = .seconds(3600)
      $0.limits.idleTime = .seconds(3600)
      setUp(&$0.limits)
    }
  }

  /// Regression: good clients waited until `headTime` was over.
  @Test func `the connection that has been idle for longest makes room for a client`() async throws
  {
    let server = try Self.server()
    let statuses = try await onNewThread {
      let clients = try (0..<4).map { _ in try server.client() }
      // These three have been used since.
      for client in clients.dropFirst() {
        try client.send(Self.head + "abc")
        #expect(try client.response().status == 200)
      }
      let good = try server.client()
      try good.send(Self.head + "abc")
      let status = try good.response().status
      #expect(try clients[0].responsesToEnd().isEmpty)
      for client in clients.dropFirst() {
        try client.send(Self.head + "abc")
        #expect(try client.response().status == 200)
      }
      return [status]
    }
    #expect(statuses == [200])
  }

  /// Regression: good clients waited until `idleTime` was over.
  @Test func `the slowest body below the minimum rate makes room for a client`() async throws {
    let server = try Self.server { $0.minimumRate = 1_000_000 }
    let responses = try await onNewThread {
      let clients = try (0..<4).map { _ in try server.client() }
      for (number, client) in clients.enumerated() {
        try client.send("PUT /\(number) HTTP/1.1\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n")
        // The first sends nothing, and has had the longest time for it.
        if number != 0 { try client.send(String(repeating: "x", count: 1_000_000)) }
      }
      let good = try server.client()
      try good.send(Self.head + "abc")
      #expect(try good.response().status == 200)
      return try clients[0].responsesToEnd()
    }
    #expect(responses.map(\.status) == [408])
    #expect(responses.first?.text.contains("while another client waited") == true)
    let reported = try await server.reportedRequests(2)
    #expect(
      reported.first { $0.target == "/0" }?.json == responses.first?.text,
      "the log has what the client has")
  }

  @Test func `uploads that are fast enough are not cut off for another client`() async throws {
    let server = try Self.server { $0.minimumRate = 0 }
    let statuses = try await onNewThread {
      let busy = try (0..<4).map { _ in try server.client() }
      for client in busy { try client.send(Self.head) }
      let waiting = try server.client()
      try waiting.send(Self.head + "abc")
      #expect(!waiting.canReceive(within: .seconds(2)))
      for client in busy { try client.send("abc") }
      let statuses = try busy.map { try $0.response().status }
      return statuses + [try waiting.response().status]
    }
    #expect(statuses == [200, 200, 200, 200, 200])
  }

  @Test func `an address with too many busy connections gets no more, but others do`() async throws
  {
    let server = try Self.server {
      $0.connectionsPerAddress = 2
      $0.minimumRate = 0
    }
    let place = try TemporaryDirectory()
    let busy = try (0..<2).map { _ in SendableBox(try server.client()) }
    for client in busy { try client.value.send(Self.head) }
    #expect(await eventually { server.handler.openUploads == 2 })
    let statuses = try await onNewThread {
      #expect(try server.client().responsesToEnd().isEmpty)
      let other = try run(
        program: "/usr/bin/curl",
        [
          "-sS", "--interface", "127.0.0.2", "-d", "a=b", "-o", "answer", "-w", "%{http_code}",
          server.receiver.url,
        ], in: place)
      #expect(other.output == "200", "\(other.stderr)")
      for client in busy { try client.value.send("abc") }
      return try busy.map { try $0.value.response().status }
    }
    #expect(statuses == [200, 200])
  }
}
