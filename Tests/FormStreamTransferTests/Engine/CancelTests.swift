import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A request that is cancelled, at any point.
@Suite struct CancelTests {
  private let (reached, goOn): (Gate, Gate)
  private let place: TemporaryDirectory
  private let large: TransferBody

  init() throws {
    (reached, goOn) = (try Gate(), try Gate())
    place = try TemporaryDirectory()
    large = .file(try place.sparse("large", size: 64 << 20))
  }

  /// A server that waits for a gate after it has begun to read.
  private func holding() throws -> ScriptedServer {
    try ScriptedServer { [reached, goOn] _ in
      [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .waitFor(goOn)] + .good()
    }
  }

  private func expectCancelled(
    _ result: TransferResult, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(result.outcome == .cancelled, sourceLocation: sourceLocation)
    #expect(result.error?.code == .cancelled, sourceLocation: sourceLocation)
    #expect(result.response == nil, sourceLocation: sourceLocation)
  }

  @Test func `cancelled before it starts, nothing is sent`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let request = try TransferRequest(.post, server.url, body: large)
    let never = try Gate()
    let work = Task {
      _ = await onNewThread { never.wait() }
      return await session.result(of: request)
    }
    work.cancel()
    never.open()
    expectCancelled(await work.value)
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `cancelled right after the start, and more than once`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for _ in 0..<50 {
      let task = session.start(try TransferRequest(.post, server.url, body: large))
      task.cancel()
      task.cancel()
      expectCancelled(await task.result)
    }
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `cancelled while it waits for its next attempt`() async throws {
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", "100")]) }
    var request = try TransferRequest(.post, server.url, body: .bytes(noise(100)))
    request.options.retry = RetryPolicy(attempts: 5)
    let task = try makeSession().start(request)
    for await step in task.progress where step.phase == .retrying { break }
    task.cancel()
    let result = await task.result
    #expect(result.outcome == .cancelled)
    #expect(result.attempts == 1)
    #expect(server.requests.count == 1)
    #expect(server.faults.isEmpty)
  }

  /// The type of a pipe is detected from its bytes before the server is reached, and the pipe may have none yet.
  @Test func `cancelled while its body is measured`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let counts = SourceCounts()
    let form = Form {
      Part(
        name: "f", filename: "f",
        body: .stream { BlockingSource(giving: 0, reached: reached, goOn: goOn, record: counts) })
    }
    let session = try makeSession()
    let task = session.start(
      try TransferRequest(
        .post, "http://127.0.0.1:9/", body: .form(form, detector: ReadingDetector())))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    let result = await task.result
    #expect(result.outcome == .cancelled)
    #expect(result.attempts == 0)
    goOn.open()
    #expect(await eventually { counts.isBalanced })
  }

  @Test func `cancelled while it connects`() async throws {
    // The server accepts, and never responds to the TLS handshake.
    var options = ScriptedServer.Options()
    options.onConnect = { [reached] _ in [.open(reached), .stall] }
    let server = try ScriptedServer(options) { _ in .good() }
    let task = try makeSession().start(
      TransferRequest(.post, "https://127.0.0.1:\(server.port)", body: large))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    let result = await task.result
    expectCancelled(result)
    #expect(result.bytesSent == 0)
    #expect(await onNewThread { server.waitForEnds() })
  }

  @Test func `cancelled while its body is sent`() async throws {
    let server = try holding()
    let task = try makeSession().start(TransferRequest(.post, server.url, body: large))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    let result = await task.result
    expectCancelled(result)
    #expect(result.bytesSent > 0)
    #expect(result.bytesSent < 64 << 20)
    goOn.open()
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.requests.first.map { Int64($0.bodyCount) <= result.bytesSent } == true)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `cancelled by the task that waits for it`() async throws {
    let server = try holding()
    let session = try makeSession()
    let request = try TransferRequest(.post, server.url, body: large)
    let work = Task { await session.result(of: request) { _ in } }
    #expect(await onNewThread { reached.wait() })
    work.cancel()
    expectCancelled(await work.value)
    goOn.open()
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `cancelled at once while its source blocks`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let counts = SourceCounts()
    let body = TransferBody.part(
      .stream { [reached, goOn] in
        BlockingSource(giving: 1000, reached: reached, goOn: goOn, record: counts)
      })
    let session = try makeSession()
    let task = session.start(try TransferRequest(.post, server.url, body: body))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    expectCancelled(await task.result)
    // The source still blocks: the cancelled request did not wait for it.
    #expect(counts.closes == 0)
    #expect(!goOn.isOpen)
    goOn.open()
    #expect(await eventually { counts.isBalanced })
    #expect(counts.opens == 1)
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  /// The request was sent completely, so the server may carry it out. One that only reads changes nothing.
  @Test(arguments: [HTTPMethod.post, .delete, .get])
  func `cancelled while it waits for the response`(method: HTTPMethod) async throws {
    let server = try ScriptedServer { [reached] _ in
      [.continueIfExpected, .readBody, .open(reached), .stall]
    }
    let task = try makeSession().start(
      TransferRequest(method, server.url, body: method == .post ? .bytes(noise(3_000_000)) : nil))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    let result = await task.result
    #expect(result.outcome == (method == .get ? .cancelled : .unknown))
    #expect(result.error?.code == .cancelled)
    #expect(result.response == nil)
    if method == .post { #expect(result.bytesSent == 3_000_000) }
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [
    (200, TransferResult.Outcome.ok), (404, .cancelled), (303, .ok), (504, .unknown),
  ])
  func `cancelled while the response arrives`(status: Int, outcome: TransferResult.Outcome)
    async throws
  {
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .respond(
          status, headers: [("Location", "/page")], bytes: Array("begun".utf8),
          framing: .announced(100)), .stall,
      ]
    }
    var request = try TransferRequest(.post, server.url, body: .bytes(noise(10)))
    request.options.trace = { [reached] in if $0.kind == .responseHead { reached.open() } }
    let task = try makeSession().start(request)
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    let result = await task.result
    #expect(result.outcome == outcome)
    #expect(result.error?.code == .cancelled)
    #expect(result.status == status)
    #expect(result.response?.isTruncated == true)
    #expect(server.faults.isEmpty)
  }

  @Test func `a request that only reads, cancelled while the response arrives`() async throws {
    let server = try ScriptedServer { _ in
      [.respond(200, bytes: Array("begun".utf8), framing: .announced(100)), .stall]
    }
    var request = try TransferRequest(.get, server.url)
    request.options.trace = { [reached] in if $0.kind == .responseHead { reached.open() } }
    let task = try makeSession().start(request)
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    #expect(await task.result.outcome == .cancelled)
  }

  @Test func `cancelled after its end, the result stays the same`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let task = session.start(try TransferRequest(.post, server.url, body: .bytes(noise(10))))
    #expect(await task.result.outcome == .ok)
    task.cancel()
    task.pause()
    task.resume()
    #expect(await task.result.outcome == .ok)
    let next = await session.result(of: try TransferRequest(.get, server.url))
    #expect(next.outcome == .ok)
    #expect(server.connections.count == 1)
    #expect(server.faults.isEmpty)
  }

  @Test func `cancelling one request doesn't affect the others`() async throws {
    let server = try ScriptedServer { [reached, goOn] request in
      request.target == "/held"
        ? [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .waitFor(goOn)] : .good()
    }
    let session = try makeSession()
    let held = session.start(try TransferRequest(.post, server.url + "/held", body: large))
    #expect(await onNewThread { reached.wait() })
    let others = try (0..<10).map { _ in
      session.start(try TransferRequest(.post, server.url, body: .bytes(noise(300_000))))
    }
    held.cancel()
    expectCancelled(await held.result)
    for other in others { #expect(await other.result.outcome == .ok) }
    goOn.open()
    #expect(server.requests.count { $0.body == noise(300_000) } == 10)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}

/// A detector that reads the start of the body.
private struct ReadingDetector: MediaTypeDetector {
  func mediaType(of part: UntypedPart) -> MediaType? {
    _ = part.firstBytes(upTo: 10)
    return nil
  }
}
