import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Which of the requests that wait for a connection is sent first.
@Suite(.timeLimit(.minutes(2))) struct PriorityTests {
  private func session() throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.maximumConnectionsPerHost = 1
    return try TransferSession(configuration)
  }

  private func request(_ url: String, _ target: String, _ priority: Int) throws -> TransferRequest {
    var request = try TransferRequest(.get, url + target)
    request.options.priority = priority
    return request
  }

  @Test func `of the requests that wait, the one with the highest priority is sent first`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.target == "/held" ? [.open(reached), .waitFor(goOn)] + .good() : .good()
    }
    let session = try session()
    let held = session.start(try request(server.url, "/held", 0))
    #expect(await onNewThread { reached.wait() })
    let waiting = try [("/a", 0), ("/b", 5), ("/c", -1), ("/d", 5), ("/e", .max), ("/f", 0), ("/g", .min)].map {
      session.start(try request(server.url, $0.0, $0.1))
    }
    #expect(await eventually { waiting.allSatisfy { $0.state == .waiting } })
    goOn.open()
    for task in [held] + waiting { #expect(await task.result.outcome == .ok) }
    #expect(server.requests.map(\.target) == ["/held", "/e", "/b", "/d", "/a", "/f", "/c", "/g"])
  }

  /// While a program decides, or before a retry, a request has no connection. Its server may already keep a part of its work.
  @Test func `a request that had a connection comes before those that had none, whatever their priority`() async throws {
    let (begun, redirects, reached, goOn) = (try Gate(), try Gate(), try Gate(), try Gate())
    let server = try ScriptedServer { request in
      switch request.target {
      case "/a": [.open(begun), .waitFor(redirects)] + .good(307, headers: [("Location", "/end")])
      case "/b": [.open(reached), .waitFor(goOn)] + .good()
      default: .good()
      }
    }
    let (session, isDecided) = (try session(), Guarded(false))
    var first = try request(server.url, "/a", -1)
    first.options.decisions.redirect = { _ in
      #expect(await onNewThread { reached.wait() })
      isDecided.withLock { $0 = true }
      return .follow
    }
    let task = session.start(first)
    #expect(await onNewThread { begun.wait() })
    let others = try [("/b", 5), ("/c", 5), ("/d", .max)].map { session.start(try request(server.url, $0.0, $0.1)) }
    #expect(await eventually { others.allSatisfy { $0.state == .waiting } })
    others[2].cancel()
    #expect(await others[2].result.outcome == .cancelled)
    redirects.open()
    #expect(await eventually { isDecided.withLock(\.self) && task.state == .waiting })
    goOn.open()
    #expect(await task.result.outcome == .ok)
    for other in others.prefix(2) { #expect(await other.result.outcome == .ok) }
    #expect(server.requests.map(\.target) == ["/a", "/b", "/end", "/c"])
  }

  @Test func `a request that is cancelled while it waits leaves the order of the others as it was`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.target == "/held" ? [.open(reached), .waitFor(goOn)] + .good() : .good()
    }
    let session = try session()
    let held = session.start(try request(server.url, "/held", 0))
    #expect(await onNewThread { reached.wait() })
    // Enough that the places of those that have left are taken back, and that the queue moves up.
    let waiting = try (0..<300).map { session.start(try request(server.url, "/\($0)", $0 % 3)) }
    #expect(await eventually { waiting.allSatisfy { $0.state == .waiting } })
    for (number, task) in waiting.enumerated() where number % 5 != 0 { task.cancel() }
    for (number, task) in waiting.enumerated() where number % 5 != 0 {
      #expect(await task.result.outcome == .cancelled)
    }
    goOn.open()
    for (number, task) in waiting.enumerated() where number % 5 == 0 { #expect(await task.result.outcome == .ok) }
    #expect(await held.result.outcome == .ok)
    let left = (0..<300).filter { $0 % 5 == 0 }
    let expected = [2, 1, 0].flatMap { priority in left.filter { $0 % 3 == priority } }
    #expect(server.requests.map(\.target) == ["/held"] + expected.map { "/\($0)" })
  }
}
