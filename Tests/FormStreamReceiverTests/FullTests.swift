import FormStreamPlatform
import FormStreamReceiver
import FormStreamTestSupport
import Glibc
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
  @Test func `the connection that has been idle for longest makes room for a client`() async throws {
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

  @Test func `an address with too many busy connections gets no more, but others do`() async throws {
    let server = try Self.server {
      $0.connectionsPerAddress = 2
      $0.minimumRate = 0
    }
    let place = try TemporaryDirectory()
    let busy = try (0..<2).map { _ in SendableBox(try server.client()) }
    for client in busy { try client.value.send(Self.head) }
    #expect(await eventually { server.handler.openUploads == 2 })
    let statuses = try await onNewThread {
      // Regression: it was closed at once, with a reset if it had sent something.
      let third = try server.client()
      try third.send(Self.head + "abc" + Self.head + "abc")
      let refused = try third.responsesToEnd()
      #expect(refused.map(\.status) == [503])
      #expect(refused.first?.text.contains("\"overloaded\"") == true)
      #expect(refused.first?.headers("Retry-After") == ["1"])
      #expect(refused.first?.closes == true)
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

  @Test func `under TLS, too, an address with too many connections gets a response`() async throws {
    let server = try TestServer {
      $0.tls = try? .forTests()
      $0.limits.connections = 4
      $0.limits.connectionsPerAddress = 1
      $0.limits.headTime = .seconds(3600)
      $0.limits.minimumRate = 0
    }
    let place = try TemporaryDirectory()
    try place.write("large", String(repeating: "x", count: 100_000))
    let url = server.receiver.url
    let shell = Task {
      try await onNewThread {
        try run(
          program: "/bin/bash",
          [
            "-c",
            """
            mkfifo wait; curl -sk -T wait \(url)held > first & exec 3> wait
            until [ -e full ]; do sleep 0.01; done
            curl -sk -D head -o refused -T large \(url)refused; cat head refused; exec 3>&-; wait; cat first
            """,
          ], in: place
        ).output
      }
    }
    #expect(await eventually { server.handler.openUploads == 1 })
    try place.write("full", "")
    let output = try await shell.value
    #expect(output.contains(" 503 "), "\(output)")
    #expect(output.lowercased().contains("retry-after: 1\r\n"), "\(output)")
    #expect(output.contains("\"code\":\"overloaded\""), "\(output)")
    #expect(server.handler.targets == ["/held"])
  }

  /// Regression: such clients kept their connections for a minute, or as long as they read a few bytes.
  @Test func `clients that don't read their responses make room for others`() async throws {
    let server = try Self.server {
      $0.responseTime = .seconds(3600)
      $0.minimumRate = 0
    }
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let readers = try await onNewThread {
      let address = LoopbackAddress.ip("127.0.0.1", port: server.receiver.port)
      return try (0..<4).map { _ in
        let reader = try RawClient(address, receiveBuffer: 4096)
        try reader.send(String(repeating: request, count: 1500))
        return SendableBox(reader)
      }
    }
    // Before this, a connection makes room between two responses. The system may still pass some bytes on.
    var checks = 0
    let areStuck = await eventually {
      checks = readers.allSatisfy(\.value.keepsServerFromSending) ? checks + 1 : 0
      return checks == 100
    }
    #expect(areStuck)
    let status = try await onNewThread {
      let good = try server.client()
      try good.send(Self.head + "abc")
      return try good.response().status
    }
    withExtendedLifetime(readers) {}
    #expect(status == 200)
  }

  /// Regression: they were never idle for long enough to make room.
  @Test func `clients that ask again and again take turns with one that waits`() async throws {
    let server = try Self.server()
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let isServed = Guarded(false)
    defer { isServed.withLock { $0 = true } }
    let clients = try await onNewThread {
      try (0..<4).map { _ in
        let client = try server.client()
        try client.send(request)
        #expect(try client.response().closes == false)
        return SendableBox(client)
      }
    }
    let asking = clients.map { client in
      Task {
        await onNewThread {
          while !isServed.withLock(\.self), (try? client.value.send(request)) != nil,
            (try? client.value.response())?.closes == false
          {}
        }
      }
    }
    let status = try await onNewThread {
      let good = try server.client()
      try good.send(Self.head + "abc")
      return try good.response().status
    }
    #expect(status == 200)
    isServed.withLock { $0 = true }
    for task in asking { await task.value }
  }
}

extension RawClient {
  /// Whether the server, which is in this process, can send nothing more, because this client reads nothing.
  fileprivate var keepsServerFromSending: Bool {
    let own = port(descriptor, getsockname)
    return openDescriptors().contains { other in
      var watched = pollfd(fd: other, events: Int16(POLLOUT), revents: 0)
      return port(other, getpeername) == own && poll(&watched, 1, 0) == 0
    }
  }

  /// The port at an end of a socket; nil if it is no socket of IPv4.
  private func port(
    _ socket: Int32,
    _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> in_port_t? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(socket, $0, &size) }
    }
    return result == 0 && address.sin_family == AF_INET ? address.sin_port : nil
  }
}
