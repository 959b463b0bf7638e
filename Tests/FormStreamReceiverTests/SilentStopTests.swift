import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Clients that have not sent a complete request when the receiver stops.
@Suite struct SilentStopTests {
  private static let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n"

  /// Regression: those that waited to be accepted got no response, and held the stop for five seconds.
  @Test func `clients that have sent nothing are told at once, even if they waited`() async throws {
    let server = try TestServer {
      $0.limits.connections = 1
      $0.limits.minimumRate = 0
    }
    let busy = try server.client()
    try busy.send(Self.head + "abc")
    #expect(await eventually { server.handler.openUploads == 1 })
    let waiting = try (0..<5).map { _ in SendableBox(try server.client()) }
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    let told = try await onNewThread { try waiting.map { try $0.value.responsesToEnd() } }
    for responses in told {
      #expect(responses.map(\.status) == [503])
      #expect(responses.first?.headers("Retry-After") == ["5"])
      #expect(responses.first?.closes == true)
    }
    try busy.send("def")
    let responses = try await onNewThread { [busy = SendableBox(busy)] in
      try busy.value.responsesToEnd()
    }
    #expect(responses.map(\.status) == [200])
    await stopping.value
  }

  /// Regression: both directions of its connection were closed, so the rest of the request was answered with a reset.
  @Test func `a client in the middle of a head gets 503, and no reset`() async throws {
    let server = try TestServer()
    let client = SendableBox(try server.client())
    try client.value.send("POST /a HTTP/1.1\r\nHost: h\r\n")
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    let text = try await onNewThread {
      #expect(client.value.canReceive(within: .seconds(30)))
      try client.value.send("Content-Length: 6\r\n\r\nabcdef")
      // A reset would be thrown.
      return try client.value.receive()
    }
    await stopping.value
    // If it had closed before, no direction would have been left, and libmicrohttpd might not have read the rest.
    client.value.close()
    #expect(text.hasPrefix("HTTP/1.1 503 "), "\(text)")
    #expect(server.handler.targets == [])
    #expect(server.reportedRequests.map(\.status) == [503])
    #expect(server.reportedRequests.map(\.error?.code) == ["stopping"])
    #expect(server.reportedRequests.first?.json.contains("\"status\":503}") == true)
  }

  /// Regression: it had the time at which the receiver was started.
  @Test func `the 503 at the stop has the time of the stop`() async throws {
    let server = try TestServer()
    let idle = SendableBox(try server.client())
    let asking = SendableBox(try server.client())
    let request = "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n"
    let first = try await onNewThread {
      var dates: [[String]] = []
      repeat {
        try asking.value.send(request)
        dates.append(try asking.value.response().headers("Date"))
      } while dates.last == dates.first && !asking.value.canReceive(within: .milliseconds(20))
      return dates.first
    }
    #expect(first?.count == 1)
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    let last = try await onNewThread { try idle.value.responsesToEnd() }
    await stopping.value
    #expect(last.map(\.status) == [503])
    #expect(last.first?.headers("Date").count == 1)
    #expect(last.first?.headers("Date") != first)
  }
}
