import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Tasks as values, and all tasks of a session.
@Suite struct TaskTests {
  @Test func `a task knows its request and its state, and is equal to itself only`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let session = try makeSession()
    let request = try makeRequest(server.url + "/a")
    let (task, other) = (session.start(request), session.start(request))
    #expect(task != other)
    #expect(task.id < other.id)
    #expect(Set([task, other, task]).count == 2)
    #expect(task.request.url == request.url)
    #expect(await onNewThread { reached.wait() })
    #expect(task.state == .running)
    #expect(session.tasks == [task, other])
    task.pause()
    #expect(task.state == .paused)
    task.resume()
    #expect(task.state == .running)
    goOn.open()
    #expect(await task.result.outcome == .ok)
    #expect(await other.result.outcome == .ok)
    #expect(task.state == .done)
    task.pause()
    #expect(task.state == .done)
    #expect(session.tasks.isEmpty)
  }

  /// Before, a running download was in no list, and the request that it had sent was among the tasks: cancelling this request
  /// ended the download with an error.
  @Test func `downloads stand beside requests, with their progress, and hide their own requests`() async throws {
    let (goOn, reached, place) = (try Gate(), try Gate(), try TemporaryDirectory())
    let server = try ScriptedServer { request in
      guard request.method == "GET" else { return [.waitFor(goOn)] + .good() }
      return [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), .open(reached), .waitFor(goOn),
        .send("half"),
      ]
    }
    let session = try makeSession()
    let before = session.start(try makeRequest(server.url))
    let download = session.startDownload(
      try downloadRequest(server.url), DownloadSettings(.file(place.path("file"))))
    let after = session.start(try makeRequest(server.url))
    #expect(await onNewThread { reached.wait() })
    #expect(await eventually { session.downloads.first?.progress.current.received == 4 })
    #expect(session.downloads == [download])
    #expect(session.downloads.first?.progress.current.responseFraction == 0.5)
    #expect(session.tasks == [before, after])
    #expect(before.id < download.id && download.id < after.id)
    goOn.open()
    #expect(await download.result.outcome == .ok)
    await session.finish()
    #expect(session.downloads.isEmpty && session.tasks.isEmpty)
  }

  @Test func `all requests of a session can be cancelled`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let session = try makeSession()
    let tasks = try (0..<20).map { _ in session.start(try makeRequest(server.url)) }
    let waiting = Task { try await session.send(makeRequest(server.url)) }
    #expect(await eventually { session.tasks.count == 21 })
    #expect(await onNewThread { reached.wait() })
    session.cancelAll()
    for task in tasks { #expect(await task.result.error?.code == .cancelled) }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(session.tasks.isEmpty)
    goOn.open()
    #expect(await session.result(of: try makeRequest(server.url)).outcome == .ok)
  }

  @Test func `a session that finishes ends what was started, and starts nothing else`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let session = try makeSession()
    let tasks = try (0..<20).map { _ in session.start(try makeRequest(server.url)) }
    #expect(await onNewThread { reached.wait() })
    let finished = Task { await session.finish() }
    // What is started before is held by the server, and so among the session's tasks.
    let request = try makeRequest(server.url)
    var late = session.start(request)
    #expect(
      await eventually {
        late = session.start(request)
        return !session.tasks.contains(late)
      })
    #expect(await late.result.error?.code == .sessionFinished)
    #expect(await late.result.outcome == .failed)
    #expect(await late.result.attempts == 0)
    #expect(late.state == .done)
    goOn.open()
    await finished.value
    #expect(tasks.allSatisfy { $0.state == .done })
    for task in tasks { #expect(await task.result.outcome == .ok) }
    await session.finish()
    let error = await #expect(throws: TransferError.self) {
      try await session.send(makeRequest(server.url))
    }
    #expect(error?.code == .sessionFinished)
  }
}
