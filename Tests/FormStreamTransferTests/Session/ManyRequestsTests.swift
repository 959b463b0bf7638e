import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// The results of many requests, as a sequence.
@Suite(.timeLimit(.minutes(5))) struct ManyRequestsTests {
  /// Requests that are made one by one, and counted.
  private static func requests(
    _ count: Int, to url: String, _ made: Guarded<Int>
  ) throws -> some Sequence<TransferRequest> {
    let url = try HTTPURL(url)
    return (0..<count).lazy.map { number in
      made.withLock { $0 += 1 }
      return TransferRequest(.put, url, headers: ["Number": "\(number)"], body: .bytes([1]))
    }
  }

  @Test(arguments: [(0, 3), (1, 3), (200, 1), (200, 5), (7, 50), (20, 0)])
  func `each result comes once, and no request is made before its turn`(
    count: Int, limit: Int
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let made = Guarded(0)
    let session = try TransferSession()
    var indices: [Int] = []
    for await (index, result) in session.results(
      of: try Self.requests(count, to: server.url, made), limit: limit)
    {
      #expect(made.withLock(\.self) - indices.count <= max(limit, 1))
      #expect(result.outcome == .ok)
      indices.append(index)
    }
    #expect(indices.sorted() == Array(0..<count))
    #expect(server.requests.count == count)
    #expect(session.tasks.isEmpty)
  }

  @Test func `a request that takes long holds up no others`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.header("Number") == "0" ? [.readBody, .open(reached), .waitFor(goOn)] + .good() : .good()
    }
    let session = try TransferSession()
    var indices: [Int] = []
    for await (index, _) in session.results(
      of: try Self.requests(20, to: server.url, Guarded(0)), limit: 2)
    {
      indices.append(index)
      if indices.count == 19 { goOn.open() }
    }
    #expect(indices.last == 0)
    #expect(Set(indices).count == 20)
  }

  @Test func `leaving the loop cancels what is being sent, and takes no more`() async throws {
    let goOn = try Gate()
    let server = try ScriptedServer { request in
      (Int(request.header("Number") ?? "") ?? 0) < 3 ? .good() : [.readBody, .waitFor(goOn)] + .good()
    }
    let made = Guarded(0)
    let session = try TransferSession()
    var count = 0
    for await _ in session.results(of: try Self.requests(100, to: server.url, made), limit: 4) {
      count += 1
      if count == 3 { break }
    }
    // The requests that were being sent end without the server's response.
    await session.finish()
    #expect(made.withLock(\.self) <= 3 + 4)
    goOn.open()
  }

  @Test func `cancelling the task of the loop ends it with the results of what was being sent`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(goOn)] + .good() }
    let made = Guarded(0)
    let session = try TransferSession()
    let requests = try Array(Self.requests(100, to: server.url, made))
    let loop = Task {
      var outcomes: [TransferResult.Outcome] = []
      for await (_, result) in session.results(of: requests, limit: 3) { outcomes.append(result.outcome) }
      return outcomes
    }
    try await reached.opened()
    loop.cancel()
    let outcomes = await loop.value
    #expect(outcomes.count == 3)
    #expect(!outcomes.contains(.ok))
    goOn.open()
  }

  @Test func `a loop that is cancelled in its body takes no more requests`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let made = Guarded(0)
    let session = try TransferSession()
    let requests = try Array(Self.requests(100, to: server.url, Guarded(0)))
    let loop = Task {
      let counted = requests.lazy.map { request in
        made.withLock { $0 += 1 }
        return request
      }
      for await _ in session.results(of: counted, limit: 1) { withUnsafeCurrentTask { $0?.cancel() } }
    }
    await loop.value
    #expect(made.withLock(\.self) == 1)
    #expect(server.requests.count == 1)
  }

  @Test func `each loop over the same results sends the requests again`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let results = try TransferSession().results(
      of: Array(try Self.requests(3, to: server.url, Guarded(0))), limit: 2)
    for _ in 0..<2 { for await _ in results {} }
    #expect(server.requests.count == 6)
  }
}
