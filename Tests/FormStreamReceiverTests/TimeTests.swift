import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Clients that take their time. The limits are small here; what is waited for is what comes of them.
@Suite struct TimeTests {
  private static func stand(
    _ handler: KeepingHandler = KeepingHandler(),
    _ setUp: (inout Receiver.Limits) -> Void
  ) throws -> Stand {
    try Stand(handler) { setUp(&$0.limits) }
  }

  @Test func `a crowd of slow ones is cut, and a good upload goes through`() async throws {
    let directory = try TemporaryDirectory()
    let log = Guarded<[Told]>([])
    var configuration = Receiver.Configuration()
    configuration.limits.connections = 400
    configuration.limits.idleTime = .milliseconds(400)
    // A slow machine must have read the heads by then, or there is nothing to tell of.
    configuration.limits.headTime = .seconds(3)
    // However fast this machine is, nobody gets there byte by byte.
    configuration.limits.minimumRate = 10_000_000
    let receiver = try Receiver.start(
      configuration, handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    let port = receiver.port
    let lives = try await onNewThread {
      let silent = try (0..<50).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      let heads = try (0..<50).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      let bodies = try (0..<200).map { _ in try RawClient(.ip("127.0.0.1", port: port)) }
      for client in bodies {
        try client.send("POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n")
      }
      let good = try curl(
        "-F", "f=@/etc/passwd", "-w", "%{http_code}", "-o", "/dev/null", receiver.url)
      // One byte at a time, until all are cut.
      var (openBodies, openHeads) = (bodies, heads)
      var head = Array("POST / HTTP/1.1\r\nX: ".utf8)[...]
      while !(openBodies.isEmpty && openHeads.isEmpty) {
        let byte = head.popFirst() ?? 0x78
        openBodies = openBodies.filter { (try? $0.send([0x78])) != nil }
        openHeads = openHeads.filter { (try? $0.send([byte])) != nil }
      }
      for client in silent { #expect(try client.answersUpToEnd().isEmpty) }
      return good.output
    }
    #expect(lives == "200")
    #expect(await eventually { log.withLock(\.count) >= 201 })
    await receiver.stop()
    let told = log.withLock(\.self)
    #expect(told.count == 201)
    #expect(told.filter { $0.error?.code == "too-slow" && $0.status == 408 }.count == 200)
    #expect(names(in: directory).count == 1)
  }

  @Test func `who is silent in a body is told so`() async throws {
    let stand = try Self.stand { $0.idleTime = .milliseconds(50) }
    let answer = try await stand.answer(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc")
    #expect(answer.status == 408)
    #expect(answer.closes)
    #expect(answer.text.contains("\"code\":\"too-slow\""))
    #expect(answer.text.contains("\"body_bytes\":3,"))
    #expect(answer.text.contains("\"framing\":\"content-length\",\"content_length\":100}"))
    let told = try await stand.told(1)
    #expect(told.map(\.error?.code) == ["too-slow"])
    #expect(told.map(\.bodyBytes) == [3])
    #expect(stand.handler.alive == 0)
  }

  @Test func `who never sends what was announced is told so`() async throws {
    let stand = try Self.stand { $0.idleTime = .milliseconds(50) }
    let answers = try await stand.answers(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
    #expect(answers.map(\.status) == [100, 408])
  }

  @Test func `framing is no body`() async throws {
    let stand = try Self.stand { $0.idleTime = .milliseconds(50) }
    let statuses = try await onNewThread {
      let client = try stand.client()
      try client.send(
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;")
      // An extension without an end.
      while (try? client.send("x")) != nil {}
      return try client.answersUpToEnd().map(\.status)
    }
    // What libmicrohttpd says where its memory is full, or nothing, where the reset was first.
    #expect([[], [408], [413], [500], [400]].contains(statuses), "\(statuses)")
    #expect(try await stand.told(1).count == 1)
  }

  @Test(arguments: KeepingHandler.Place.allCases)
  func `the handler's time is not the client's`(_ place: KeepingHandler.Place) async throws {
    let gate = try Gate()
    let handler = KeepingHandler { where_, _ in
      if where_ == place { _ = gate.wait() }
    }
    let stand = try Self.stand(handler) {
      $0.idleTime = .milliseconds(10)
      $0.headTime = .milliseconds(2000)
      $0.responseTime = .milliseconds(2000)
      $0.minimumRate = 1
    }
    // Another one is cut in the meantime: the limits are watched.
    async let answer = stand.answer(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
    let silent = try stand.client()
    let answers = try await onNewThread { [silent = Unsent(silent)] in
      try silent.value.answersUpToEnd()
    }
    #expect(answers.isEmpty)
    gate.open()
    #expect(try await answer.status == 200)
  }

  @Test func `who does not read is cut`() async throws {
    let stand = try Self.stand { $0.responseTime = .milliseconds(50) }
    let body = String(repeating: "a=1&", count: 9000)
    let request =
      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    try await onNewThread {
      let client = try stand.client()
      // Each answer is of more than a megabyte; nothing can be sent when the socket's room is used up.
      while (try? client.send(request)) != nil {}
    }
    await stand.receiver.stop(grace: .zero)
    #expect(stand.handler.alive == 0)
  }

  @Test func `a connection is kept`() async throws {
    let stand = try Stand()
    let statuses = try await onNewThread {
      let client = try stand.client()
      return try (0..<5).map { _ in
        try client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
        return try client.answer().status
      }
    }
    #expect(statuses == [200, 200, 200, 200, 200])
    #expect(Set(stand.told.map(\.peer)).count == 1)
  }

  @Test func `a connection that is idle behind an answer is closed`() async throws {
    let stand = try Self.stand { $0.headTime = .seconds(1) }
    let answers = try await stand.answers(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
    #expect(answers.map(\.status) == [200])
  }

  @Test func `under TLS a silent one is cut, also before it shakes hands`() async throws {
    let stand = try Stand {
      $0.tls = try? .testing()
      $0.limits.headTime = .milliseconds(50)
    }
    let answers = try await onNewThread { try stand.client().answersUpToEnd() }
    #expect(answers.isEmpty)
  }
}
