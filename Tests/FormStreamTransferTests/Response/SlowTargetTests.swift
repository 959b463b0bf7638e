import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Responses whose target is slow, or never returns.
@Suite struct SlowTargetTests {
  private let (reached, goOn): (Gate, Gate)
  /// More than all buffers between the server and the target.
  private static let large = 16 << 20

  init() throws {
    (reached, goOn) = (try Gate(), try Gate())
  }

  /// A request whose target blocks at the first byte.
  private func blockedRequest(_ url: String) throws -> TransferRequest {
    var request = try makeRequest(.get, url, nil)
    request.options.responseTarget = .stream { [reached, goOn] _ in
      reached.open()
      _ = goOn.wait()
    }
    return request
  }

  @Test(arguments: [1, large])
  func `a closure that blocks holds up no other request, and no cancelling`(size: Int) async throws {
    let server = try ScriptedServer { request in
      .good(body: String(repeating: "a", count: request.method == "GET" ? size : 10))
    }
    let session = try makeSession()
    let held = session.start(try blockedRequest(server.url))
    #expect(await onNewThread { reached.wait() })
    let others = try (0..<50).map { _ in
      session.start(try TransferRequest(.post, server.url, body: .bytes(noise(100_000))))
    }
    for other in others { #expect(await other.result.outcome == .ok) }
    held.cancel()
    let result = await held.result
    #expect(!goOn.isOpen)
    #expect(result.error?.code == .cancelled)
    #expect(result.response?.isTruncated == true)
    goOn.open()
  }

  @Test(arguments: [1, large])
  func `a closure that blocks doesn't stop the clock`(size: Int) async throws {
    let body = [UInt8](repeating: 7, count: size)
    let server = try ScriptedServer { _ in
      [.respond(200, bytes: body, framing: .announced(size))]
    }
    var request = try blockedRequest(server.url)
    request.options.timeLimits.attempt = .seconds(3)
    let result = try await makeSession().result(of: request)
    #expect(!goOn.isOpen)
    #expect(result.error?.code == .timedOut)
    #expect(result.response?.isTruncated == true)
    goOn.open()
  }

  @Test func `a closure that takes longer than the stall limit is no stall`() async throws {
    let server = try ScriptedServer { _ in
      .good(body: String(repeating: "a", count: Self.large))
    }
    let received = ReceivedText()
    var request = try makeRequest(.get, server.url, nil)
    request.options.timeLimits.stall = .milliseconds(200)
    request.options.responseTarget = .stream { [reached, goOn] bytes in
      reached.open()
      _ = goOn.wait()
      received.append(bytes)
    }
    let task = try makeSession().start(request)
    try await reached.opened()
    try await waitForStall(longerThan: .milliseconds(200))
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.error == nil)
    #expect(received.text.utf8.count == Self.large)
  }

  @Test func `a closure gets what has arrived before the rest of it`() async throws {
    let (reached, goOn) = (reached, goOn)
    let server = try ScriptedServer { _ in
      [
        .readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitFor(reached),
        .send("def"), .open(goOn),
      ]
    }
    let received = ReceivedText()
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseTarget = .stream { bytes in
      received.append(bytes)
      reached.open()
    }
    let result = try await makeSession().result(of: request)
    #expect(goOn.isOpen)
    #expect(result.outcome == .ok)
    #expect(received.text == "abcdef")
  }

  @Test func `a slow closure makes the server wait, and gets every byte in order`() async throws {
    let body = noise(Self.large)
    let server = try ScriptedServer { _ in
      [.readBody, .respond(200, bytes: body, framing: .announced(body.count))]
    }
    let received = ReceivedBytes()
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseTarget = .stream { [reached, goOn] bytes in
      received.append(bytes)
      reached.open()
      _ = goOn.wait()
    }
    let task = try makeSession().start(request)
    #expect(await onNewThread { reached.wait() })
    // What is received is limited by the buffers, not by the body.
    #expect(task.progress.current.received < 4 << 20)
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(received.bytes == body)
    expectConsistency(result, at: server)
  }

  @Test func `a response that was held can be cancelled while it is delivered`() async throws {
    // The last attempt's response is held back until it is known to be the last.
    let server = try ScriptedServer { _ in
      .good(503, headers: [("Retry-After", "1000000")], body: "later")
    }
    var request = try blockedRequest(server.url)
    request.options.retry = RetryPolicy(attempts: 2)
    let session = try makeSession()
    let held = session.start(request)
    #expect(await onNewThread { reached.wait() })
    let other = await session.result(of: try TransferRequest(.post, server.url, body: .bytes([1])))
    #expect(other.status == 503)
    held.cancel()
    let result = await held.result
    #expect(!goOn.isOpen)
    #expect(result.status == 503)
    goOn.open()
  }
}

/// The bytes that a callback received, on any thread.
private final class ReceivedBytes: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [UInt8] = []

  var bytes: [UInt8] { lock.withLock { all } }
  func append(_ more: UnsafeRawBufferPointer) { lock.withLock { all += more } }
}
