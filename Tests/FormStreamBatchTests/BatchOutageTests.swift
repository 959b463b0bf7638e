import FormStreamBatch
import FormStreamHTTP
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Batches whose uploads break, and whose server doesn't respond for a while.
@Suite struct BatchOutageTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func batch(to server: ScriptedServer, attempts: Int, patience: Duration) throws -> Batch {
    var batch = try Batch([.path(try directory.write("film", noise(3000)))], to: "\(server.url)/")
    batch.request.options.resumption = .tus
    batch.request.options.expectation = .always
    batch.retry = RetryPolicy(attempts: attempts)
    (batch.retry.maximumDelay, batch.retry.patience) = (.milliseconds(1), patience)
    return batch
  }

  private func result(of batch: Batch) async throws -> FileResult {
    var results: [FileResult] = []
    for try await result in try await batch.start().results { results.append(result) }
    return try #require(results.first)
  }

  /// A server that keeps uploads by tus, and whose responses to questions and to pieces are those that two functions choose.
  private func server(
    question: @escaping @Sendable () -> [ScriptedStep]?, piece: @escaping @Sendable () -> [ScriptedStep]?
  ) throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.method {
      case "POST": return [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": return question() ?? [.respond(200, headers: [("Upload-Offset", "0")])]
      default:
        return piece() ?? [
          .continueIfExpected, .readBody,
          .decide { request in [.respond(204, headers: [("Upload-Offset", "\(request.bodyCount)")])] },
        ]
      }
    }
  }

  /// The answered questions ended the outage again and again, so that it went on for ever.
  @Test func `a server that answers each question and breaks each piece is tried for as long as the patience lasts`()
    async throws
  {
    let appends = Guarded(0)
    let server = try server(question: { nil }) {
      let count = appends.withLock {
        $0 += 1
        return $0
      }
      return count < 1000 ? [.reset] : nil
    }
    let result = try await result(of: batch(to: server, attempts: 3, patience: .milliseconds(30)))
    #expect(result.state == .retryable, "\(result.state)")
    #expect((1..<1000).contains(appends.withLock(\.self)))
  }

  @Test(arguments: [true, false])
  func `the message at the end of the wait names the time, and whether another run can go on`(_ hasJournal: Bool) async throws {
    let server = try server(question: { [.reset] }, piece: { [.continueIfExpected, .readBody(upTo: 10), .reset] })
    var batch = try batch(to: server, attempts: 3, patience: .milliseconds(30))
    if hasJournal { batch.journal = directory.local("journal") }
    let result = try await result(of: batch)
    let text = try #require(result.error?.description)
    #expect(text.contains("The server was tried for "), "\(text)")
    #expect(text.contains("The upload can go on later.") == hasJournal, "\(text)")
  }

  /// The attempts that were left were not made, because the file seemed to have waited for the server for as long as it may.
  @Test func `a file whose upload has broken is given up only after its attempts or the patience`() async throws {
    let (questions, appends) = (Guarded(0), Guarded(0))
    let server = try server(
      question: {
        let isFirst = questions.withLock {
          $0 += 1
          return $0 == 1
        }
        return isFirst ? [.send("HTTP/1.1 099 Nothing\r\nContent-Length: 0\r\n\r\n"), .finish] : nil
      },
      piece: {
        let isFirst = appends.withLock {
          $0 += 1
          return $0 == 1
        }
        return isFirst ? [.continueIfExpected, .readBody(upTo: 10), .reset] : nil
      })
    let result = try await result(of: batch(to: server, attempts: 4, patience: .seconds(100)))
    #expect(result.state == .ok, "\(String(describing: result))")
  }

  /// A request that waits for its server sends nothing, and another run can go on with its upload.
  @Test(.timeLimit(.minutes(1))) func `a run that is stopped waits for no server that is away`() async throws {
    let isAsked = AsyncStream<Void>.makeStream()
    let server = try server(
      question: {
        isAsked.continuation.yield()
        return [.reset]
      }, piece: { [.continueIfExpected, .readBody(upTo: 10), .reset] })
    let task = try await batch(to: server, attempts: 3, patience: .seconds(100_000)).start()
    for await _ in isAsked.stream { break }
    task.stop()
    var states: [BatchState] = []
    for try await result in task.results { states.append(result.state) }
    // The piece was sent completely, and nothing answers.
    #expect(states == [.unknown])
  }
}
