import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Stopping a receiver, and what remains afterwards.
@Suite struct StopTests {
  private static let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n"

  @Test func `a request in progress gets its response, and no new connection is accepted`()
    async throws
  {
    let server = try TestServer()
    let client = try server.client()
    let idle = try server.client()
    try client.send(Self.head + "abc")
    #expect(await eventually { server.handler.openUploads == 1 })
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    #expect(await eventually { (try? server.client()) == nil }, "new connections are refused")
    try client.send("def")
    let responses = try await onNewThread {
      [client = SendableBox(client), idle = SendableBox(idle)] in
      // Not only the end: a request that is on its way gets a response, too.
      let last = try idle.value.responsesToEnd()
      #expect(last.map(\.status) == [503])
      #expect(last.first?.headers("Retry-After") == ["5"])
      #expect(last.first?.closes == true)
      return try client.value.responsesToEnd()
    }
    #expect(responses.map(\.status) == [200])
    await stopping.value
    #expect(server.reportedRequests.map(\.isComplete) == [true])
    await server.receiver.stop()
  }

  @Test func `once a receiver is stopped, no further request begins on a connection`() async throws {
    let server = try TestServer()
    let client = try server.client()
    try client.send(Self.head + "abc")
    #expect(await eventually { server.handler.openUploads == 1 })
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    #expect(await eventually { (try? server.client()) == nil })
    try client.send("def" + Self.head + "ghijkl")
    let responses = try await onNewThread { [client = SendableBox(client)] in
      try client.value.responsesToEnd()
    }
    #expect([[200], [200, 503]].contains(responses.map(\.status)))
    await stopping.value
    #expect(server.handler.targets.count == 1)
    #expect(server.handler.openUploads == 0)
  }

  /// Regression: connections without a request were cut at once, with requests that were on their way.
  @Test func `requests on kept connections right after the stop are refused with 503`() async throws {
    let server = try TestServer()
    let port = server.receiver.port
    let clients = (0..<20).map { _ in
      Task {
        await onNewThread {
          var last: WireResponse?
          guard let client = try? RawClient(.ip("127.0.0.1", port: port)) else { return last }
          while (try? client.send(Self.head + "abcdef")) != nil,
            let response = try? client.response()
          {
            last = response
            if response.closes { break }
          }
          return last
        }
      }
    }
    #expect(await eventually { server.reportedRequests.count > 200 })
    await server.receiver.stop(grace: .seconds(60))
    for client in clients {
      let last = try #require(await client.value)
      #expect([200, 503].contains(last.status))
      #expect(last.closes, "the connection ended without saying so")
    }
    #expect(server.handler.openUploads == 0)
  }

  /// Regression: the listening socket was closed with them, which sends a reset: nothing said whether their requests had
  /// been carried out.
  @Test(arguments: [false, true])
  func `clients that wait for a connection are refused with 503`(usesTLS: Bool) async throws {
    let server = try TestServer {
      $0.tls = usesTLS ? try? .forTests() : nil
      $0.limits.connections = 2
      $0.limits.minimumRate = 0
    }
    let place = try TemporaryDirectory()
    let url = server.receiver.url
    let count = 60
    let shell = Task {
      try await onNewThread {
        try run(
          program: "/bin/bash",
          [
            "-c",
            """
            mkfifo wait; for i in 1 2; do curl -sk -T wait \(url)held > busy$i & done; exec 3> wait
            until [ -e full ]; do sleep 0.01; done
            waiting=
            for i in {1..\(count)}; do
              curl -sk -o r$i -w '%{http_code} %{exitcode} %{errormsg}\n' -d a=b \(url)waiting > code$i 3>&- &
              waiting+=" $!"
            done
            until [ -e stopping ]; do sleep 0.01; done
            wait $waiting; exec 3>&-; wait; cat code* | sort | uniq -c; cat busy*
            """,
          ], in: place
        ).output
      }
    }
    #expect(await eventually { server.handler.openUploads == 2 })
    try place.write("full", "")
    #expect(await eventually { Self.waitingClients(at: server.receiver.port) >= count })
    let stopping = Task { await server.receiver.stop(grace: .seconds(60)) }
    try place.write("stopping", "")
    let output = try await shell.value
    await stopping.value
    #expect(output.contains(" \(count) 503 0 "), "\(output)")
    #expect(output.contains("\"complete\":true"), "\(output)")
    #expect(server.handler.targets == ["/held", "/held"])
  }

  /// How many connections wait in the system to be accepted: the receive queue of a listening socket.
  private static func waitingClients(at port: UInt16) -> Int {
    let result = try? run(program: "/bin/bash", ["-c", "ss -Hltn sport = :\(port)"])
    return result.flatMap { Int($0.output.split(separator: " ").dropFirst().first ?? "") } ?? 0
  }

  @Test func `after the grace period requests are cut off and reported`() async throws {
    let directory = try TemporaryDirectory()
    let log = Guarded<[ReportedRequest]>([])
    let receiver = try Receiver.start(
      handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    let clients = try (0..<20).map { _ in try RawClient(.ip("127.0.0.1", port: receiver.port)) }
    for client in clients { try client.send(Self.head + "abc") }
    #expect(await eventually { directory.incompleteFiles == 20 })
    await receiver.stop(grace: .milliseconds(20))
    #expect(log.withLock { $0.map(\.error?.code) } == [String?](repeating: "stopping", count: 20))
    #expect(directory.names.isEmpty)
    #expect(log.withLock { $0.map(\.status) } == [Int?](repeating: 503, count: 20))
    for client in clients { #expect(try client.responsesToEnd().map(\.status) == [503]) }
  }

  /// The upload is reported as complete, and its response as not sent.
  @Test func `an upload that ends after the grace period is complete, but gets no response`()
    async throws
  {
    let gate = try Gate()
    let handler = InMemoryHandler { call, _ in
      if call == .end { _ = gate.wait() }
    }
    let server = try TestServer(handler)
    let client = try server.client()
    try client.send(Self.head + "abcdef")
    #expect(await eventually { handler.parts.count == 1 })
    let stopping = Task { await server.receiver.stop(grace: .milliseconds(1)) }
    let responses = try await onNewThread { [client = SendableBox(client)] in
      try client.value.responsesToEnd()
    }
    #expect(responses.isEmpty)
    gate.open()
    await stopping.value
    #expect(server.reportedRequests.map(\.isComplete) == [true])
    #expect(server.reportedRequests.map(\.status) == [nil])
  }

  @Test func `a receiver can be stopped repeatedly, and from many tasks at once`() async throws {
    let server = try TestServer()
    await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await server.receiver.stop(grace: .seconds(1)) } }
    }
    await server.receiver.stop()
    await server.receiver.wait()
    #expect((try? server.client()) == nil)
  }

  @Test func `a later stop can only shorten the grace period`() async throws {
    let server = try TestServer()
    let client = try server.client()
    try client.send(Self.head)
    #expect(await eventually { server.handler.openUploads == 1 })
    let long = Task { await server.receiver.stop(grace: .seconds(600)) }
    await server.receiver.stop(grace: .milliseconds(1))
    await long.value
    #expect(server.reportedRequests.map(\.error?.code) == ["stopping"])
  }

  @Test func `a receiver that is released stops`() async throws {
    let log = Guarded<[ReportedRequest]>([])
    let handler = InMemoryHandler()
    var receiver: Receiver? = try Receiver.start(handler: handler) { request in
      log.withLock { $0.append(request) }
    }
    let port = try #require(receiver?.port)
    let client = try RawClient(.ip("127.0.0.1", port: port))
    try client.send(Self.head)
    #expect(await eventually { handler.openUploads == 1 })
    receiver = nil
    #expect(await eventually { log.withLock { $0.map(\.error?.code) } == ["stopping"] })
    #expect(await eventually { (try? RawClient(.ip("127.0.0.1", port: port))) == nil })
    #expect(handler.openUploads == 0)
  }

  @Test func `a receiver can be stopped while many clients connect`() async throws {
    for _ in 0..<10 {
      let server = try TestServer()
      let port = server.receiver.port
      let clients = (0..<8).map { _ in
        Task {
          await onNewThread {
            var count = 0
            while let client = try? RawClient(.ip("127.0.0.1", port: port)) {
              guard (try? client.send(Self.head + "abcdef")) != nil,
                let response = try? client.response(), response.status == 200
              else { break }
              count += 1
            }
            return count
          }
        }
      }
      #expect(await eventually { server.reportedRequests.count > 20 })
      await server.receiver.stop(grace: .seconds(60))
      var responseCount = 0
      for task in clients { responseCount += await task.value }
      // Every request that got a response was reported.
      #expect(server.reportedRequests.filter { $0.status == 200 }.count >= responseCount)
      #expect(server.handler.openUploads == 0)
    }
  }

  /// libmicrohttpd refuses these heads itself, and reads a response that isn't there if it is stopped meanwhile.
  @Test func `a receiver can be stopped while malformed and large heads arrive`() async throws {
    let largeHead = "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 400_000))\r\n\r\n"
    for round in 0..<20 {
      let server = try TestServer()
      let port = server.receiver.port
      let arrived = Guarded(0)
      let clients = (0..<12).map { number in
        Task {
          await onNewThread {
            while let client = try? RawClient(.ip("127.0.0.1", port: port)) {
              let head = number % 2 == 0 ? "GET / HTTP/1.1\r\nno colon\r\n\r\n" : largeHead
              guard (try? client.send(head)) != nil else { break }
              arrived.withLock { $0 += 1 }
              guard (try? client.response()) != nil else { break }
            }
          }
        }
      }
      #expect(await eventually { arrived.withLock { $0 } > 20 })
      await server.receiver.stop(grace: .milliseconds(round % 2))
      for client in clients { await client.value }
    }
  }

  @Test func `after two hundred starts and stops no thread or descriptor is left`() async throws {
    func round() async throws {
      let server = try TestServer()
      let response = try await server.responses(to: Self.head + "abcdef" + "GET / HTTP/1.0\r\n\r\n")
      #expect(response.map(\.status) == [200, 200])
      await server.receiver.stop()
    }
    // Other tests run at the same time: what they use varies, what is leaked would stay.
    for _ in 0..<200 { try await round() }
    #expect(
      await eventually {
        let holdings = ProcessResources.now()
        return holdings.threads.count < 150 && holdings.descriptors.count < 200
      })
  }

  @Test func `a client that disconnects in the middle of a body is reported, and leaves no file`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let log = Guarded<[ReportedRequest]>([])
    let receiver = try Receiver.start(
      handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    for resets in [false, true] {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(Self.head + "abc")
      #expect(await eventually { directory.incompleteFiles == 1 })
      if resets { client.reset() } else { client.close() }
      #expect(await eventually { log.withLock(\.count) == (resets ? 2 : 1) })
      #expect(directory.names.isEmpty)
    }
    await receiver.stop()
    let reported = log.withLock(\.self)
    #expect(reported.map(\.error?.code) == ["connection-lost", "connection-lost"])
    #expect(reported.map(\.bodyBytes) == [3, 3])
    #expect(reported.map(\.status) == [nil, nil])
    #expect(!reported.contains { $0.isComplete })
  }

  /// A client that sends no more may still read.
  @Test func `a client that has closed its sending side gets its response`() async throws {
    let server = try TestServer()
    let responses = try await onNewThread {
      let client = try server.client()
      try client.send(Self.head + "abcdef")
      client.closeWrite()
      return try client.responsesToEnd()
    }
    #expect(responses.map(\.status) == [200])
  }
}
