import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// How a receiver ends, and what it leaves.
@Suite struct StopTests {
  private static let head = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\n"

  @Test func `what is in flight is answered, and nobody else is let in`() async throws {
    let stand = try Stand()
    let client = try stand.client()
    let idle = try stand.client()
    try client.send(Self.head + "abc")
    #expect(await eventually { stand.handler.alive == 1 })
    let stopping = Task { await stand.receiver.stop(grace: .seconds(60)) }
    #expect(await eventually { (try? stand.client()) == nil }, "new connections are refused")
    try client.send("def")
    let answers = try await onNewThread { [client = Unsent(client), idle = Unsent(idle)] in
      #expect(try idle.value.answersUpToEnd().isEmpty)
      return try client.value.answersUpToEnd()
    }
    #expect(answers.map(\.status) == [200])
    await stopping.value
    #expect(stand.told.map(\.isComplete) == [true])
    await stand.receiver.stop()
  }

  @Test func `behind what is in flight nothing is begun`() async throws {
    let stand = try Stand()
    let client = try stand.client()
    try client.send(Self.head + "abc")
    #expect(await eventually { stand.handler.alive == 1 })
    let stopping = Task { await stand.receiver.stop(grace: .seconds(60)) }
    #expect(await eventually { (try? stand.client()) == nil })
    try client.send("def" + Self.head + "ghijkl")
    let answers = try await onNewThread { [client = Unsent(client)] in
      try client.value.answersUpToEnd()
    }
    #expect([[200], [200, 503]].contains(answers.map(\.status)))
    await stopping.value
    #expect(stand.handler.targets.count == 1)
    #expect(stand.handler.alive == 0)
  }

  @Test func `after the grace the rest is cut, and told of`() async throws {
    let directory = try TemporaryDirectory()
    let log = Guarded<[Told]>([])
    let receiver = try Receiver.start(
      handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    let clients = try (0..<20).map { _ in try RawClient(.ip("127.0.0.1", port: receiver.port)) }
    for client in clients { try client.send(Self.head + "abc") }
    #expect(await eventually { names(in: directory).count == 20 })
    await receiver.stop(grace: .milliseconds(20))
    #expect(log.withLock { $0.map(\.error?.code) } == [String?](repeating: "stopping", count: 20))
    #expect(names(in: directory).isEmpty)
    #expect(log.withLock { $0.map(\.status) } == [Int?](repeating: 503, count: 20))
    for client in clients { #expect(try client.answersUpToEnd().map(\.status) == [503]) }
  }

  /// What was taken is told of as taken; that it was answered, too, would not be true.
  @Test func `what ends behind the grace is told of as it is`() async throws {
    let gate = try Gate()
    let handler = KeepingHandler { place, _ in
      if place == .end { _ = gate.wait() }
    }
    let stand = try Stand(handler)
    let client = try stand.client()
    try client.send(Self.head + "abcdef")
    #expect(await eventually { handler.kept.count == 1 })
    let stopping = Task { await stand.receiver.stop(grace: .milliseconds(1)) }
    let answers = try await onNewThread { [client = Unsent(client)] in
      try client.value.answersUpToEnd()
    }
    #expect(answers.isEmpty)
    gate.open()
    await stopping.value
    #expect(stand.told.map(\.isComplete) == [true])
    #expect(stand.told.map(\.status) == [nil])
  }

  @Test func `it can be stopped twice, and at once by many`() async throws {
    let stand = try Stand()
    await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await stand.receiver.stop(grace: .seconds(1)) } }
    }
    await stand.receiver.stop()
    await stand.receiver.wait()
    #expect((try? stand.client()) == nil)
  }

  @Test func `a shorter grace counts, a longer one does not`() async throws {
    let stand = try Stand()
    let client = try stand.client()
    try client.send(Self.head)
    #expect(await eventually { stand.handler.alive == 1 })
    let long = Task { await stand.receiver.stop(grace: .seconds(600)) }
    await stand.receiver.stop(grace: .milliseconds(1))
    await long.value
    #expect(stand.told.map(\.error?.code) == ["stopping"])
  }

  @Test func `let go, it ends`() async throws {
    let log = Guarded<[Told]>([])
    let handler = KeepingHandler()
    var receiver: Receiver? = try Receiver.start(handler: handler) { request in
      log.withLock { $0.append(request) }
    }
    let port = try #require(receiver?.port)
    let client = try RawClient(.ip("127.0.0.1", port: port))
    try client.send(Self.head)
    #expect(await eventually { handler.alive == 1 })
    receiver = nil
    #expect(await eventually { log.withLock { $0.map(\.error?.code) } == ["stopping"] })
    #expect(await eventually { (try? RawClient(.ip("127.0.0.1", port: port))) == nil })
    #expect(handler.alive == 0)
  }

  @Test func `it is stopped while a crowd comes`() async throws {
    for _ in 0..<10 {
      let stand = try Stand()
      let port = stand.receiver.port
      let crowd = (0..<8).map { _ in
        Task {
          await onNewThread {
            var count = 0
            while let client = try? RawClient(.ip("127.0.0.1", port: port)) {
              guard (try? client.send(Self.head + "abcdef")) != nil,
                let answer = try? client.answer(), answer.status == 200
              else { break }
              count += 1
            }
            return count
          }
        }
      }
      #expect(await eventually { stand.told.count > 20 })
      await stand.receiver.stop(grace: .seconds(60))
      var answered = 0
      for task in crowd { answered += await task.value }
      // What was answered was told of; what was told of and not answered has a reason.
      #expect(stand.told.filter { $0.status == 200 }.count >= answered)
      #expect(stand.handler.alive == 0)
    }
  }

  @Test func `two hundred times started and stopped, nothing is left`() async throws {
    func round() async throws {
      let stand = try Stand()
      let answer = try await stand.answers(to: Self.head + "abcdef" + "GET / HTTP/1.0\r\n\r\n")
      #expect(answer.map(\.status) == [200, 200])
      await stand.receiver.stop()
    }
    // Other tests run beside this one: what they hold comes and goes, what is left would stay.
    for _ in 0..<200 { try await round() }
    #expect(
      await eventually {
        let holdings = ProcessResources.now()
        return holdings.threads.count < 150 && holdings.descriptors.count < 200
      })
  }

  @Test func `who goes away in the midst of a body is told of, and let go`() async throws {
    let directory = try TemporaryDirectory()
    let log = Guarded<[Told]>([])
    let receiver = try Receiver.start(
      handler: try DirectoryHandler(LocalPath(directory.path))
    ) { request in log.withLock { $0.append(request) } }
    for resets in [false, true] {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(Self.head + "abc")
      #expect(await eventually { names(in: directory).count == 1 })
      if resets { client.reset() } else { client.close() }
      #expect(await eventually { log.withLock(\.count) == (resets ? 2 : 1) })
      #expect(names(in: directory).isEmpty)
    }
    await receiver.stop()
    let told = log.withLock(\.self)
    #expect(told.map(\.error?.code) == ["connection-lost", "connection-lost"])
    #expect(told.map(\.bodyBytes) == [3, 3])
    #expect(told.map(\.status) == [nil, nil])
    #expect(!told.contains { $0.isComplete })
  }

  /// To say that no more comes is not to go away.
  @Test func `who sends no more is answered all the same`() async throws {
    let stand = try Stand()
    let answers = try await onNewThread {
      let client = try stand.client()
      try client.send(Self.head + "abcdef")
      client.closeWrite()
      return try client.answersUpToEnd()
    }
    #expect(answers.map(\.status) == [200])
  }
}
