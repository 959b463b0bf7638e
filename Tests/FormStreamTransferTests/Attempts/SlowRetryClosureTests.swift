import FormStreamPlatform
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// `willRetry` closures that block.
@Suite struct SlowRetryClosureTests {
  private let (reached, goOn): (Gate, Gate)
  /// Whether the closure has returned.
  private let hasReturned = Guarded(false)

  init() throws {
    (reached, goOn) = (try Gate(), try Gate())
  }

  private var isOver: Bool { hasReturned.withLock { $0 } }

  /// Options with a closure that blocks.
  private var options: TransferOptions {
    var options = TransferOptions()
    options.retry = RetryPolicy(attempts: 2)
    options.retry.fixedDelay = .zero
    options.willRetry = { [reached, goOn, hasReturned] _ in
      reached.open()
      _ = goOn.wait()
      hasReturned.withLock { $0 = true }
    }
    return options
  }

  private func expectServed(_ session: TransferSession, _ url: String) async throws {
    for _ in 0..<5 {
      let other = try await session.result(of: TransferRequest(.post, url, body: .bytes([1])))
      #expect(other.status == 503)
    }
    #expect(!isOver)
  }

  @Test func `a closure that blocks holds up no other request, and no cancelling`() async throws {
    let server = try ScriptedServer { _ in .good(503) }
    let session = try makeSession()
    let held = session.start(try TransferRequest(.get, server.url, options: options))
    #expect(await onNewThread { reached.wait() })
    try await expectServed(session, server.url)
    held.cancel()
    #expect(await held.result.outcome == .cancelled)
    #expect(!isOver)
    goOn.open()
  }

  @Test func `nor does that of a download`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      guard request.method == "GET" else { return .good(503) }
      return [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"1\"\r\n\r\nhalf"), .close]
    }
    let session = try makeSession()
    let held = session.startDownload(
      try TransferRequest(.get, server.url, options: options),
      DownloadSettings(.file(place.path("file"))))
    #expect(await onNewThread { reached.wait() })
    try await expectServed(session, server.url)
    held.cancel()
    #expect(await held.result.outcome == .cancelled)
    #expect(!isOver)
    goOn.open()
  }

  @Test func `the attempt follows after the closure`() async throws {
    let server = try ScriptedServer { _ in .good(503) }
    let session = try makeSession()
    let held = session.start(try TransferRequest(.get, server.url, options: options))
    #expect(await onNewThread { reached.wait() })
    #expect(server.requests.count == 1)
    goOn.open()
    #expect(await held.result.attempts == 2)
    #expect(isOver)
  }
}
