import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Files that change while they are sent.
@Suite(.serialized) struct ChangedSourceTests {
  /// What became of one file.
  private struct Run {
    let result: TransferResult
    let request: RecordedRequest
    let complete: [UInt8]
  }

  private func session() throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.uploadBufferSize = 16 * 1024
    return try TransferSession(configuration)
  }

  /// Sends a file slowly, and changes it when the server has received a part of it, or has sent a 100: before
  /// that, no byte is read.
  private func run(
    _ change: FileChange, size: Int, asForm: Bool, sendsExpect: Bool, in place: TemporaryDirectory,
    over session: TransferSession
  ) async throws -> Run {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      (sendsExpect ? [] : [.readBody(upTo: 10_000)]) + [.open(reached), .waitFor(goOn)] + .good()
    }
    let original = noise(size, seed: UInt64(size))
    let file = try place.write("file-\(size)", original)
    let form = Form(boundary: try Boundary("B")) { Part.file("f", file, filename: "f") }
    let complete = asForm ? try form.layout().bytes(limit: 1 << 20) : original
    var request = try TransferRequest(.put, server.url, body: asForm ? .form(form) : .file(file))
    request.options.maximumRate = 200_000
    request.options.expectation = sendsExpect ? .always : .never
    request.options.expectation.timeout = .seconds(60)
    request.options.retry = RetryPolicy(attempts: 3)
    let task = session.start(request)
    #expect(await onNewThread { reached.wait() })
    try change.apply(to: file, size: size)
    goOn.open()
    let result = await task.result
    // The server records what it received when the connection ends, or after its response.
    let isNoted = await eventually {
      server.requests.last?.responseStatus != nil || server.connections.allSatisfy { $0.end != nil }
    }
    #expect(isNoted)
    #expect(server.requests.count == 1)
    #expect(server.faults(except: .cutShort).isEmpty)
    return Run(result: result, request: try #require(server.requests.last), complete: complete)
  }

  @Test(arguments: FileChange.allCases, [true, false])
  func `a file that changes is never sent completely, unless unchanged`(
    change: FileChange, asForm: Bool
  ) async throws {
    let (session, place) = (try session(), try TemporaryDirectory())
    let runs = try await withThrowingTaskGroup { group in
      for round in 0..<50 {
        group.addTask {
          try await run(
            change, size: 60_000 + round * 1_000, asForm: asForm, sendsExpect: round % 2 == 0,
            in: place, over: session)
        }
      }
      return try await group.reduce(into: [Run]()) { $0.append($1) }
    }
    #expect(runs.count == 50)
    for run in runs {
      if run.result.outcome == .ok {
        #expect(run.request.body == run.complete)
      } else if change == .unlink, run.result.outcome == .failed {
        // The file was gone before it was opened.
        #expect(run.result.bytesSent < run.complete.count)
        #expect(!run.request.hasCompleteBody)
      } else {
        #expect(run.result.outcome == .sourceChanged, "\(String(describing: run.result.error))")
        #expect(run.result.error?.code == .sourceChanged)
        #expect(run.result.attempts == 1)
        #expect(!run.request.hasCompleteBody)
        #expect(run.complete.starts(with: run.request.body) || change == .rewrite)
        #expect(run.request.framing == .contentLength(run.complete.count))
      }
    }
    // Every request that sent Expect had to notice the change.
    #expect(runs.count { $0.result.outcome != .ok } >= 25)
  }

  @Test(arguments: [FileChange.shrink, .grow])
  func `a very large file that changes is noticed, too`(change: FileChange) async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 10_000_000), .open(reached), .waitFor(goOn)] + .good()
    }
    let place = try TemporaryDirectory()
    let size: Int64 = 1 << 30
    let file = try place.sparse("large", size: size)
    let task = try session().start(TransferRequest(.put, server.url, body: .file(file)))
    #expect(await onNewThread { reached.wait() })
    try change.apply(to: file, size: Int(size))
    goOn.open()
    let result = await task.result
    #expect(result.outcome == .sourceChanged)
    #expect(result.bytesSent < size)
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
