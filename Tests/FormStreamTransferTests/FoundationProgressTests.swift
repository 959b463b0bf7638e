import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The progress of a transfer as a `Foundation.Progress`.
@Suite struct FoundationProgressTests {
  private func holding(_ goOn: Gate, _ reached: Gate) throws -> ScriptedServer {
    return try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .waitFor(goOn)] + .good()
    }
  }

  @Test func `the progress counts to the total`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let task = try makeSession().start(
      TransferRequest(.post, server.url, body: .bytes(noise(3_000_000))))
    let bridge = task.makeFoundationProgress()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(await eventually { bridge.completedUnitCount == 3_000_000 })
    #expect(bridge.totalUnitCount == 3_000_000)
    #expect(bridge.isFinished)
    #expect(server.faults.isEmpty)
  }

  @Test func `a progress of unknown total is indeterminate`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try holding(goOn, reached)
    let task = try makeSession().start(
      TransferRequest(
        .post, server.url, body: .stream { InputStream(data: Data(noise(3_000_000))) }))
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(bridge.totalUnitCount == -1)
    #expect(bridge.isIndeterminate)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(server.faults.isEmpty)
  }

  @Test func `cancelling the progress cancels the request`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try holding(goOn, reached)
    let place = try TemporaryDirectory()
    let file = try place.sparse("large", size: 64 << 20)
    let task = try makeSession().start(TransferRequest(.post, server.url, body: .file(file)))
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    bridge.cancel()
    let result = await task.result
    #expect(result.outcome == .cancelled)
    #expect(result.bytesSent < 64 << 20)
    // The system still sends the bytes that were handed over; the server sees the end after them.
    goOn.open()
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  @Test func `pausing and resuming the progress does so to the request`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let task = try makeSession().start(
      TransferRequest(.post, server.url, body: .bytes(noise(3_000_000))))
    let bridge = task.makeFoundationProgress()
    bridge.pause()
    bridge.resume()
    #expect(await task.result.outcome == .ok)
    #expect(server.faults.isEmpty)
  }
}
