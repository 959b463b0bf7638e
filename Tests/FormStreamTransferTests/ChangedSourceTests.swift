import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Files that change while they are sent.
@Suite(.serialized) struct ChangedSourceTests {
  /// What one file came to.
  private struct Run {
    let result: TransferResult
    let request: RecordedRequest
    let whole: [UInt8]
  }

  private func session() throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.uploadBufferSize = 16 * 1024
    return try TransferSession(configuration)
  }

  /// Sends a file slowly, and changes it when the server has some of it, or when it has bidden to go on with
  /// it: before that, no byte is read.
  private func run(
    _ change: FileChange, size: Int, asForm: Bool, asks: Bool, in place: TemporaryDirectory,
    over session: TransferSession
  ) async throws -> Run {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      (asks ? [] : [.readBody(upTo: 10_000)]) + [.open(reached), .waitFor(goOn)] + .good()
    }
    let original = noise(size, seed: UInt64(size))
    let file = try place.write("file-\(size)", original)
    let form = Form(boundary: try Boundary("B")) { Part.file("f", file, filename: "f") }
    let whole = asForm ? try form.layout().bytes(limit: 1 << 20) : original
    var request = try TransferRequest(.put, server.url, body: asForm ? .form(form) : .file(file))
    request.options.maximumRate = 200_000
    request.options.expectation = asks ? .always : .never
    request.options.expectation.timeout = .seconds(60)
    request.options.retry = RetryPolicy(attempts: 3)
    let task = session.start(request)
    #expect(await onNewThread { reached.wait() })
    try change.happen(to: file, size: size)
    goOn.open()
    let result = await task.result
    // What was sent until then is noted when the connection is over, or was answered.
    let isNoted = await eventually {
      server.requests.last?.responseStatus != nil || server.connections.allSatisfy { $0.end != nil }
    }
    #expect(isNoted)
    #expect(server.requests.count == 1)
    #expect(server.faults(except: .cutShort).isEmpty)
    return Run(result: result, request: try #require(server.requests.last), whole: whole)
  }

  @Test(arguments: FileChange.allCases, [true, false])
  func `a file that changes is never sent whole, unless as it was`(
    change: FileChange, asForm: Bool
  ) async throws {
    let (session, place) = (try session(), try TemporaryDirectory())
    let runs = try await withThrowingTaskGroup { group in
      for round in 0..<50 {
        group.addTask {
          try await run(
            change, size: 60_000 + round * 1_000, asForm: asForm, asks: round % 2 == 0,
            in: place, over: session)
        }
      }
      return try await group.reduce(into: [Run]()) { $0.append($1) }
    }
    #expect(runs.count == 50)
    for run in runs {
      if run.result.outcome == .ok {
        #expect(run.request.body == run.whole)
      } else if change == .unlink, run.result.outcome == .failed {
        // It was gone before it was opened.
        #expect(run.result.bytesSent < run.whole.count)
        #expect(!run.request.hasCompleteBody)
      } else {
        #expect(run.result.outcome == .sourceChanged, "\(String(describing: run.result.error))")
        #expect(run.result.error?.code == .sourceChanged)
        #expect(run.result.attempts == 1)
        #expect(!run.request.hasCompleteBody)
        #expect(run.whole.starts(with: run.request.body) || change == .rewrite)
        #expect(run.request.framing == .contentLength(run.whole.count))
      }
    }
    // Of those that asked, all had to notice.
    #expect(runs.count { $0.result.outcome != .ok } >= 25)
  }

  @Test(arguments: [FileChange.shrink, .grow])
  func `a very large file is no other`(change: FileChange) async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 10_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let size: Int64 = 1 << 30
    let file = try place.sparse("large", size: size)
    let task = try session().start(TransferRequest(.put, server.url, body: .file(file)))
    #expect(await onNewThread { reached.wait() })
    try change.happen(to: file, size: Int(size))
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .sourceChanged)
    #expect(result.bytesSent < size)
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
