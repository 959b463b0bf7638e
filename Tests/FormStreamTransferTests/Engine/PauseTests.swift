import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A request that is paused and resumed.
@Suite struct PauseTests {
  private let (reached, goOn): (Gate, Gate)
  private let place: TemporaryDirectory
  private let size: Int64 = 64 << 20
  private let file: LocalPath

  init() throws {
    (reached, goOn) = (try Gate(), try Gate())
    place = try TemporaryDirectory()
    file = try place.sparse("large", size: size)
  }

  /// Sends other requests on the engine that drives `task`, and checks that nothing of `task` moves.
  private func expectStandstill(
    _ task: TransferTask<TransferResult>, _ server: ScriptedServer, _ session: TransferSession,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    // The engine carries out what it is told in order: after another request the pause has begun.
    let other = try ScriptedServer { _ in .good() }
    let first = await session.result(of: try TransferRequest(.get, other.url))
    #expect(first.outcome == .ok, sourceLocation: sourceLocation)
    // The bytes that were handed over still arrive.
    let isThere = await eventually {
      Int64(server.requests.first?.bodyCount ?? 0) == task.progress.current.handedOver
    }
    #expect(isThere, sourceLocation: sourceLocation)
    let before = task.progress.current
    #expect(before.handedOver < size, sourceLocation: sourceLocation)
    for _ in 0..<20 {
      let result = await session.result(
        of: try TransferRequest(.post, other.url, body: .bytes(noise(100_000))))
      #expect(result.outcome == .ok, sourceLocation: sourceLocation)
    }
    let after = task.progress.current
    #expect(before.handedOver == after.handedOver, sourceLocation: sourceLocation)
    #expect(before.read == after.read, sourceLocation: sourceLocation)
    #expect(before.received == after.received, sourceLocation: sourceLocation)
    let count = Int64(server.requests.first?.bodyCount ?? 0)
    #expect(count == after.handedOver, sourceLocation: sourceLocation)
  }

  private func bodies() -> [TransferBody] {
    let size = size
    return [
      .file(file), .part(.stream(length: size) { SlowSource(Int(size), pause: .zero) }),
      .part(.stream { SlowSource(Int(size), pause: .zero) }),
    ]
  }

  @Test(arguments: 0..<3)
  func `while a request is paused, no byte moves`(kind: Int) async throws {
    let server = try ScriptedServer { [reached, goOn] _ in
      [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .waitFor(goOn)] + .good()
    }
    let session = try makeSession()
    let task = session.start(try TransferRequest(.post, server.url, body: bodies()[kind]))
    #expect(await onNewThread { reached.wait() })
    task.pause()
    goOn.open()
    try await expectStandstill(task, server, session)
    for _ in 0..<3 {
      task.resume()
      task.pause()
    }
    task.resume()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.bytesSent == size)
    #expect(server.requests.map(\.bodyCount) == [Int(size)])
    #expect(server.faults.isEmpty)
  }

  @Test func `paused right after the start, it sends no body`() async throws {
    let session = try makeSession()
    for round in 0..<12 {
      // However long this thread has to wait, the request does not end before the pause: the server doesn't read it.
      let mayRead = try Gate()
      let server = try ScriptedServer { _ in [.waitFor(mayRead)] + .good() }
      let task = session.start(try TransferRequest(.post, server.url, body: bodies()[round % 3]))
      // Sometimes it has begun already.
      if round % 2 == 1 { await Task.yield() }
      task.pause()
      mayRead.open()
      if round % 10 < 3 {
        try await expectStandstill(task, server, session)
        task.resume()
        #expect(await task.result.outcome == .ok)
        #expect(server.requests.map(\.bodyCount) == [Int(size)])
      } else {
        task.cancel()
        #expect(await task.result.outcome == .cancelled)
      }
      #expect(server.faults(except: .cutShort).isEmpty)
    }
  }

  @Test func `paused while it connects, it sends no body`() async throws {
    var options = ScriptedServer.Options()
    options.onConnect = { [reached, goOn] _ in [.open(reached), .waitFor(goOn)] }
    let server = try ScriptedServer(options) { _ in .good() }
    let certificates = try TestCertificates()
    let proxy = try TLSProxy(to: server.port, certificates.server)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    let task = session.start(try TransferRequest(.post, proxy.url, body: .file(file)))
    task.pause()
    goOn.open()
    try await expectStandstill(task, server, session)
    task.resume()
    #expect(await task.result.outcome == .ok)
    #expect(server.requests.map(\.bodyCount) == [Int(size)])
    #expect(server.faults.isEmpty)
  }

  @Test func `paused between two attempts, the next one doesn't begin`() async throws {
    let isNamed = try Gate()
    let server = try ScriptedServer(requests: [
      [.readBody, .waitFor(isNamed), .respond(503, headers: [("Retry-After", "0")])], .good(),
    ])
    var request = try TransferRequest(.post, server.url, body: .bytes(noise(100)))
    request.options.retry = RetryPolicy(attempts: 2)
    // Called on the engine's thread: the next attempt can't be faster.
    let held = TaskHolder()
    request.options.trace = { trace in
      if trace.kind == .note, trace.text.hasPrefix("Trying again") { held.task?.pause() }
    }
    let session = try makeSession()
    let task = session.start(request)
    held.task = task
    isNamed.open()
    #expect(await eventually { task.progress.current.attempt == 2 })
    let other = try ScriptedServer { _ in .good() }
    for _ in 0..<20 { _ = await session.result(of: try TransferRequest(.get, other.url)) }
    #expect(server.requests.count == 1)
    task.resume()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    held.task = nil
    #expect(server.faults.isEmpty)
  }

  @Test func `paused while it waits for the response, it receives none`() async throws {
    let server = try ScriptedServer { [reached, goOn] _ in
      [.continueIfExpected, .readBody, .open(reached), .waitFor(goOn)] + .good(body: "thanks")
    }
    let session = try makeSession()
    let task = session.start(
      try TransferRequest(.post, server.url, body: .bytes(noise(3_000_000))))
    #expect(await onNewThread { reached.wait() })
    task.pause()
    goOn.open()
    #expect(await eventually { server.requests.first?.responseStatus == 200 })
    let other = try ScriptedServer { _ in .good() }
    for _ in 0..<20 { _ = await session.result(of: try TransferRequest(.get, other.url)) }
    #expect(!task.progress.current.hasResponse)
    #expect(task.progress.current.received == 0)
    task.resume()
    #expect(await task.result.response?.text == "thanks")
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [false, true])
  func `resumed and paused again at once, it has the same response`(
    hasHints: Bool
  ) async throws {
    let server = try ScriptedServer { [reached, goOn] _ in
      [.continueIfExpected, .readBody, .open(reached), .waitFor(goOn)]
        + (hasHints ? [.informational(103, headers: [("Link", "</a>")])] : [])
        + .good(headers: [("X-First", "1"), ("X-Second", "2")], body: "thanks")
    }
    let session = try makeSession()
    let task = session.start(try TransferRequest(.post, server.url, body: .bytes(noise(1000))))
    #expect(await onNewThread { reached.wait() })
    task.pause()
    goOn.open()
    #expect(await eventually { server.requests.first?.responseStatus == 200 })
    let other = try ScriptedServer { _ in .good() }
    var request = try TransferRequest(.get, other.url)
    // Called on the engine's thread: the engine carries out both at once, and libcurl then reads in spite of the pause.
    request.options.trace = { _ in
      task.resume()
      task.pause()
    }
    for _ in 0..<5 { _ = await session.result(of: request) }
    task.resume()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "thanks")
    #expect(result.response?.headers["X-First"] == "1")
    #expect(result.response?.headers["X-Second"] == "2")
    #expect(server.faults.isEmpty)
  }

  @Test func `a paused request can be cancelled`() async throws {
    let server = try ScriptedServer { [goOn] _ in [.waitFor(goOn)] + .good() }
    let task = try makeSession().start(TransferRequest(.post, server.url, body: .file(file)))
    task.pause()
    task.cancel()
    goOn.open()
    #expect(await task.result.outcome == .cancelled)
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}

/// Holds a task, for a closure that is created before it.
private final class TaskHolder: @unchecked Sendable {
  private let lock = NSLock()
  /// Guarded by `lock`.
  private var held: TransferTask<TransferResult>?

  var task: TransferTask<TransferResult>? {
    get { lock.withLock { held } }
    set { lock.withLock { held = newValue } }
  }
}
