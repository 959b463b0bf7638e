import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Tasks that outlive the request whose code has started them.
@Suite(.timeLimit(.minutes(1))) struct OutlivingTaskTests {
  /// Starts requests when it is told to, in a task of the code that called `begin`.
  private final class Follower: Sendable {
    private let (orders, order) = AsyncStream<TransferRequest>.makeStream()
    private let (tasks, started) = AsyncStream<TransferTask<TransferResult>>.makeStream()
    private let session: TransferSession

    init(_ session: TransferSession) { self.session = session }

    func begin() {
      Task { [self] in
        for await request in orders { started.yield(session.start(request)) }
      }
    }

    /// Ends the task.
    func end() { order.finish() }

    func start(_ request: TransferRequest) async -> TransferTask<TransferResult>? {
      order.yield(request)
      return await tasks.first { _ in true }
    }
  }

  enum Code: CaseIterable {
    case writing, asyncChunks, source, readAhead, spooled, decision, target
  }

  private func request(_ url: String, running code: Code, _ follower: Follower) throws
    -> TransferRequest
  {
    let writing = TransferBody.writing { writer in
      follower.begin()
      try await writer.write("text")
    }
    var request = try makeRequest(.put, url, writing)
    switch code {
    case .writing: break
    case .asyncChunks:
      request.body = .part(.asyncChunks(replay: .once) { Chunks(follower: follower) })
    case .source:
      request.body = .part(.stream(replay: .once) { Source(follower: follower) })
    case .readAhead: request.options.readAhead = 1 << 20
    case .spooled: request.options.spoolsBody = true
    case .decision:
      request.body = .bytes(Array("text".utf8))
      request.options.decisions.responseHead = { _ in
        follower.begin()
        return .memory()
      }
    case .target:
      request.body = .bytes(Array("text".utf8))
      request.options.responseTarget = .stream { _ in follower.begin() }
    }
    return request
  }

  /// They had connections beyond the maximum for ever.
  @Test(arguments: Code.allCases)
  func `the requests of a task wait for connections after the request that waited for it`(
    _ code: Code
  ) async throws {
    let goOn = try Gate()
    let server = try ScriptedServer { request in
      // One byte, which a target gets at once.
      request.method == "GET" ? [.readBody, .waitFor(goOn), .respond(200)] : .good(body: "a")
    }
    var configuration = TransferSession.Configuration()
    configuration.maximumConnectionsPerHost = 1
    let session = try TransferSession(configuration)
    let follower = Follower(session)
    defer { follower.end() }
    let put = try request(server.url, running: code, follower)
    let result = await session.result(of: put)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    // It has the only connection.
    var get = try makeRequest(.get, server.url, nil)
    get.options.timeLimits.stall = nil
    let first = session.start(get)
    #expect(await onNewThread { server.wait { $0.count == 2 } })
    let second = try #require(await follower.start(get))
    var isQueued = false
    for await update in second.progress {
      if update.phase == .queued { isQueued = true }
      if update.phase == .queued || update.phase == .waiting { break }
    }
    #expect(isQueued)
    goOn.open()
    #expect(await first.result.outcome == .ok)
    #expect(await second.result.outcome == .ok)
  }

  private struct Chunks: AsyncSequence, Sendable {
    let follower: Follower

    struct AsyncIterator: AsyncIteratorProtocol {
      let follower: Follower
      var isFirst = true

      mutating func next() async throws -> [UInt8]? {
        guard isFirst else { return nil }
        isFirst = false
        follower.begin()
        return Array("text".utf8)
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follower: follower) }
  }

  private final class Source: ByteSource {
    private let follower: Follower
    private var isFirst = true

    init(follower: Follower) { self.follower = follower }

    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
      guard isFirst else { return 0 }
      isFirst = false
      follower.begin()
      room[0] = UInt8(ascii: "a")
      return 1
    }

    func close() {}
  }
}
