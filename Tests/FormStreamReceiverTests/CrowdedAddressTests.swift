import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Addresses that have as many connections as they may have.
@Suite struct CrowdedAddressTests {
  private static let request = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"

  /// Regression: a receiver with few connections had room to refuse five clients at once. The others were reset.
  @Test(.enabled(if: hasIPv6, "this machine has one address"))
  func `thirty-two clients of several addresses are refused at once`() async throws {
    let server = try TestServer {
      $0.address = "::"
      $0.limits.connections = 4
      $0.limits.connectionsPerAddress = 1
      $0.limits.minimumRate = 0
    }
    let addresses = ["127.0.0.1", "::1"].map {
      LoopbackAddress.ip($0, port: server.receiver.port)
    }
    let busy = try addresses.map { SendableBox(try RawClient($0)) }
    for client in busy { try client.value.send(Self.request) }
    #expect(await eventually { server.handler.openUploads == 2 })
    let refused = try await onNewThread {
      let clients = try (0..<32).map { try RawClient(addresses[$0 % 2]) }
      // Each keeps its connection until all have sent their requests.
      for client in clients { try client.send(Self.request + "abc") }
      return try clients.map { try $0.responsesToEnd() }
    }
    #expect(refused.map { $0.map(\.status) } == [[Int]](repeating: [503], count: 32))
    #expect(refused.allSatisfy { $0.first?.headers("Retry-After") == ["1"] })
    let accepted = try await onNewThread {
      try busy.map {
        try $0.value.send("abc")
        return try $0.value.response().status
      }
    }
    #expect(accepted == [200, 200])
  }

  /// Regression: a connection counted until its thread noticed that the client had closed it.
  @Test func `a connection that the client has closed leaves its place to the next`() async throws {
    let gate = try Gate()
    var configuration = Receiver.Configuration()
    configuration.limits.connectionsPerAddress = 1
    // The thread of each connection waits after the response.
    let receiver = try Receiver.start(configuration, handler: InMemoryHandler()) { _ in
      _ = gate.wait()
    }
    let port = receiver.port
    // A busy system may pass on the end of a connection after the beginning of the next.
    for _ in 0..<3 { #expect(await eventually { (try? Self.upload(to: port)) == 200 }) }
    gate.open()
    await receiver.stop()
  }

  /// The status of an upload on a connection of its own, which the client closes when it has read the response.
  private static func upload(to port: UInt16) throws -> Int {
    let client = try RawClient(.ip("127.0.0.1", port: port))
    defer { client.close() }
    try client.send(request + "abc")
    return try client.response().status
  }
}
