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

  @Test func `a success without a byte is complete`() async throws {
    let server = try ScriptedServer { _ in .good(204) }
    let task = try makeSession().start(TransferRequest(.get, server.url))
    let bridge = task.makeFoundationProgress()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.isFinished })
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

  /// Regression: Foundation calls both handlers on other threads, in any order. If it paused the request last, the request
  /// remained paused.
  @Test(.timeLimit(.minutes(5))) func `pausing and resuming the progress does so to the request`()
    async throws
  {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for _ in 0..<1000 {
      let task = session.start(try makeRequest(.post, server.url, .bytes(noise(4096))))
      let bridge = task.makeFoundationProgress()
      bridge.pause()
      bridge.resume()
      try #require(await task.result.outcome == .ok)
    }
    #expect(server.faults.isEmpty)
  }

  @Test func `the progress of a download counts the response`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let half = noise(500_000)
    let server = try ScriptedServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), .send(half), .open(reached),
        .waitFor(goOn), .send(half),
      ]
    }
    let task = try makeSession().start(TransferRequest(.get, server.url))
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { bridge.completedUnitCount == 500_000 })
    #expect(bridge.totalUnitCount == 1_000_000)
    #expect(bridge.fractionCompleted == 0.5)
    #expect(!bridge.isFinished)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.completedUnitCount == 1_000_000 })
    #expect(bridge.isFinished)
  }

  @Test func `a download of unknown length is indeterminate until it is complete`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [
        .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"), .open(reached),
        .waitFor(goOn), .send("0\r\n\r\n"),
      ]
    }
    let task = try makeSession().start(TransferRequest(.get, server.url))
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { bridge.completedUnitCount == 4 })
    #expect(bridge.isIndeterminate)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.totalUnitCount == 4 })
    #expect(bridge.isFinished)
  }

  @Test func `a progress of both directions is not complete between them`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      [.readBody, .open(reached), .waitFor(goOn), .respond(200, bytes: noise(700_000))]
    }
    var request = try TransferRequest(.post, server.url, body: .bytes(noise(300_000)))
    request.options.responseTarget = .file(place.path("target"))
    let task = try makeSession().start(request)
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { bridge.completedUnitCount == 300_000 })
    #expect(await eventually { bridge.isIndeterminate })
    #expect(!bridge.isFinished)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.completedUnitCount == 1_000_000 && bridge.isFinished })
  }

  /// A file of eight bytes. The first four are sent at once, the others after `goOn`, or in a response for a part.
  private func fileServer(_ goOn: Gate, _ reached: Gate) throws -> ScriptedServer {
    try ScriptedServer { request in
      let head = "Content-Length: \(request.rangeStart == nil ? 8 : 4)\r\nETag: \"1\"\r\n"
      guard request.rangeStart == nil else {
        return [.send("HTTP/1.1 206 Partial\r\n\(head)Content-Range: bytes 4-7/8\r\n\r\nhalf")]
      }
      return [
        .send("HTTP/1.1 200 OK\r\n\(head)\r\nhalf"), .open(reached), .waitFor(goOn), .send("half"),
      ]
    }
  }

  @Test func `the progress of a download to a file counts the file, and pauses and cancels`() async throws {
    let (goOn, reached, place) = (try Gate(), try Gate(), try TemporaryDirectory())
    let server = try fileServer(goOn, reached)
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    let first = session.startDownload(try downloadRequest(server.url), settings)
    let bridge = first.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { bridge.completedUnitCount == 4 && bridge.totalUnitCount == 8 })
    #expect(bridge.fractionCompleted == 0.5 && !bridge.isFinished)
    bridge.pause()
    #expect(await eventually { first.state == .paused })
    bridge.resume()
    #expect(await eventually { first.state == .running })
    bridge.cancel()
    let cancelled = await first.result
    #expect(cancelled.outcome == .cancelled)
    #expect(!bridge.isFinished)
    // The next progress begins with the bytes that are there.
    let second = try session.startDownload(resuming: #require(cancelled.resumeData))
    let rest = second.makeFoundationProgress()
    #expect(await second.result.file?.resumedFrom == 4)
    #expect(await eventually { rest.isFinished })
    #expect(rest.completedUnitCount == 8 && rest.totalUnitCount == 8)
    goOn.open()
  }

  @Test func `the progress of a download is not complete before the file is accepted`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "body") }
    var settings = DownloadSettings(.file(place.path("file")))
    settings.expectedSHA256 = SHA256Digest(String(repeating: "0", count: 64))
    let task = try makeSession().startDownload(try downloadRequest(server.url), settings)
    let (bridge, parent) = (task.makeFoundationProgress(), Progress(totalUnitCount: 1))
    parent.addChild(bridge, withPendingUnitCount: 1)
    #expect(await task.result.error?.code == .digestMismatch)
    // The handler is removed at the end.
    #expect(await eventually { bridge.cancellationHandler == nil })
    #expect(!bridge.isFinished && bridge.completedUnitCount == 3)
    #expect(parent.completedUnitCount == 0)
  }

  /// A parent counts a child once and for all as soon as the child is complete.
  @Test func `the progress of a download is not complete when a shorter version begins`() async throws {
    let (cut, goOn, place) = (try Gate(), try Gate(), try TemporaryDirectory())
    let server = try ScriptedServer { request in
      let (length, tag) = request.number == 0 ? (100, 1) : (10, 2)
      let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nETag: \"\(tag)\"\r\n\r\n"
      guard request.number == 0 else {
        return [.send(head), .send(noise(1)), .waitFor(goOn), .send(noise(9))]
      }
      return [.send(head), .send(noise(50)), .waitFor(cut), .close]
    }
    let task = try makeSession().startDownload(
      try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    let (bridge, parent) = (task.makeFoundationProgress(), Progress(totalUnitCount: 1))
    parent.addChild(bridge, withPendingUnitCount: 1)
    #expect(await eventually { bridge.completedUnitCount == 50 && bridge.totalUnitCount == 100 })
    cut.open()
    #expect(await eventually { bridge.completedUnitCount == 1 && bridge.totalUnitCount == 10 })
    #expect(parent.completedUnitCount == 0)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.isFinished && parent.completedUnitCount == 1 })
    #expect(bridge.completedUnitCount == 10 && bridge.totalUnitCount == 10)
  }

  @Test func `a downloaded file of unknown length is indeterminate, and an empty one is complete`() async throws {
    let (goOn, reached, place) = (try Gate(), try Gate(), try TemporaryDirectory())
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return .good(body: "") }
      return [
        .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n"), .open(reached),
        .waitFor(goOn), .send("0\r\n\r\n"),
      ]
    }
    let session = try makeSession()
    let settings = DownloadSettings(.file(place.path("file")))
    let task = session.startDownload(try downloadRequest(server.url), settings)
    let bridge = task.makeFoundationProgress()
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { bridge.completedUnitCount == 4 })
    #expect(bridge.isIndeterminate)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await eventually { bridge.isFinished && bridge.totalUnitCount == 4 })
    let empty = session.startDownload(try downloadRequest(server.url), settings)
    let other = empty.makeFoundationProgress()
    #expect(await empty.result.outcome == .ok)
    #expect(await eventually { other.isFinished })
  }
}
