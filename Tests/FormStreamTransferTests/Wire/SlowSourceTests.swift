import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A slow source beside fast requests.
@Suite struct SlowSourceTests {
  @Test func `fifty fast requests end before one whose source waits`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let order = NameLog()
    let server = try ScriptedServer { request in
      [
        .continueIfExpected, .readBody,
        .decide { _ in
          order.append(request.target)
          return [.respond(200)]
        },
      ]
    }
    let session = try makeSession()
    let counts = SourceCounts()
    let slow = session.start(
      try TransferRequest(
        .post, server.url + "/slow",
        body: .part(
          .stream { BlockingSource(giving: 1, reached: reached, goOn: goOn, record: counts) })))
    #expect(await onNewThread { reached.wait() })
    let fast = try (0..<50).map { _ in
      session.start(
        try TransferRequest(.post, server.url + "/fast", body: .bytes(noise(100_000))))
    }
    for task in fast { #expect(await task.result.outcome == .ok) }
    goOn.open()
    #expect(await slow.result.outcome == .ok)
    #expect(order.names.count == 51)
    #expect(order.names.last == "/slow")
    #expect(server.faults.isEmpty)
  }

  @Test func `a source that blocks forever doesn't delay other requests`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let counts = SourceCounts()
    let held = session.start(
      try TransferRequest(
        .post, server.url,
        body: .part(
          .stream { BlockingSource(giving: 1000, reached: reached, goOn: goOn, record: counts) })))
    #expect(await onNewThread { reached.wait() })
    for _ in 0..<50 {
      let result = await session.result(
        of: try TransferRequest(.post, server.url, body: .bytes(noise(100_000))))
      #expect(result.outcome == .ok)
    }
    goOn.open()
    let result = await held.result
    #expect(result.outcome == .ok)
    #expect(result.bytesSent == 1000)
    #expect(await eventually { counts.isBalanced })
    #expect(server.faults.isEmpty)
  }
}

/// Names in the order in which they were appended.
private final class NameLog: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [String] = []

  var names: [String] { lock.withLock { all } }
  func append(_ name: String) { lock.withLock { all.append(name) } }
}
