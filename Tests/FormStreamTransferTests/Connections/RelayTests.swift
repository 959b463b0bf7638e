import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Requests whose bodies come from other requests of the same session to the same host.
@Suite(.timeLimit(.minutes(1))) struct RelayTests {
  private let session: TransferSession

  init() throws {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    session = try TransferSession(configuration)
  }

  /// GETs have a response of their own; everything else is accepted.
  private func server(_ size: Int) throws -> ScriptedServer {
    try ScriptedServer { request in
      request.method == "GET" ? [.readBody, .respond(200, bytes: noise(size))] : .good()
    }
  }

  /// How the body of a PUT gets what a GET brings.
  enum Reading: CaseIterable {
    case opened, complete, source, asyncChunks, readAhead, spooled
  }

  private func relay(_ url: String, by reading: Reading) throws -> TransferRequest {
    let session = session
    let get = try makeRequest(.get, url + "/from", nil)
    var body = TransferBody.writing { writer in
      for try await chunk in try await session.open(get).body { try await writer.write(chunk) }
    }
    switch reading {
    case .opened, .readAhead, .spooled: break
    case .complete:
      body = .writing { writer in try await writer.write(try await session.send(get).body) }
    case .source:
      body = .part(.stream(replay: .once) { FetchedSource(get, in: session) })
    case .asyncChunks:
      body = .part(.asyncChunks(replay: .once) { Fetched(get: get, session: session) })
    }
    var request = try makeRequest(.put, url + "/to", body)
    if reading == .readAhead { request.options.readAhead = 1 << 20 }
    if reading == .spooled { request.options.spoolsBody = true }
    return request
  }

  /// Each had one of the six connections, and its GET waited for a seventh for ever.
  @Test(arguments: Reading.allCases)
  func `requests whose bodies are read from requests to the same host end`(
    _ reading: Reading
  ) async throws {
    let server = try server(50_000)
    let tasks = try (0..<12).map { _ in session.start(try relay(server.url, by: reading)) }
    for task in tasks {
      let result = await task.result
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    let sent = server.requests.filter { $0.method == "PUT" }
    #expect(sent.count == 12)
    #expect(sent.allSatisfy { $0.body == noise(50_000) })
    #expect(server.faults.isEmpty)
    #expect(session.tasks.isEmpty)
    // The limit holds again.
    let others = try (0..<50).map { _ in session.start(try makeRequest(server.url)) }
    for task in others { #expect(await task.result.outcome == .ok) }
  }

  @Test func `what feeds a request may be fed by a third`() async throws {
    let server = try server(50_000)
    let session = session
    let (get, url) = (try makeRequest(.get, server.url, nil), server.url)
    let tasks = try (0..<6).map { _ in
      session.start(
        try makeRequest(
          .put, url + "/outer",
          .writing { outer in
            let inner = try makeRequest(
              .put, url + "/inner",
              .writing { writer in try await writer.write(try await session.send(get).body) })
            try await outer.write(try await session.send(inner).text)
          }))
    }
    for task in tasks { #expect(await task.result.outcome == .ok) }
  }

  @Test func `a decision on a response may send requests while it holds its connection`()
    async throws
  {
    let server = try server(100)
    let session = session
    let get = try makeRequest(.get, server.url, nil)
    let tasks = try (0..<12).map { _ in
      var request = try makeRequest(server.url)
      request.options.decisions.responseHead = { _ in
        _ = try await session.send(get)
        return .memory()
      }
      return session.start(request)
    }
    for task in tasks { #expect(await task.result.outcome == .ok) }
  }

  /// The connections belong to responses that nobody reads, so nothing will ever move.
  @Test func `a request waits only so long for connections that wait for the program`() async throws {
    let server = try server(16 << 20)
    var open: [OpenResponse] = []
    for _ in 0..<6 { open.append(try await session.open(makeRequest(.get, server.url, nil))) }
    var request = try makeRequest(server.url)
    request.options.timeLimits.stall = .milliseconds(300)
    let result = await session.result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 0)
    #expect(result.error?.code == .stalled)
    let text = result.error?.description ?? ""
    #expect(text.contains("0.3 s"))
    #expect(text.contains("maximumConnectionsPerHost"))
    #expect(server.requests.allSatisfy { $0.method == "GET" })
    for response in open { response.task.cancel() }
    #expect(await session.result(of: try makeRequest(server.url)).outcome == .ok)
  }

  /// A server that takes its time is no reason to give up waiting.
  @Test func `a request waits on while the connections wait for the server`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.target == "/slow"
        ? [.readBody, .open(reached), .waitFor(goOn), .respond(200)] : .good()
    }
    let slow = try (0..<6).map { _ in session.start(try makeRequest(server.url + "/slow")) }
    #expect(await onNewThread { reached.wait() })
    var request = try makeRequest(server.url)
    request.options.timeLimits.stall = .milliseconds(300)
    let waiting = session.start(request)
    // One after the other: the second waits as long as the first, and then for the server.
    var other = try makeRequest(server.url)
    other.options.timeLimits.attempt = .milliseconds(1500)
    #expect(await session.result(of: other).error?.code == .timedOut)
    #expect(waiting.state == .waiting)
    goOn.open()
    #expect(await waiting.result.outcome == .ok)
    for task in slow { #expect(await task.result.outcome == .ok) }
  }
}

/// The chunks of a response that is asked for when they are read.
private struct Fetched: AsyncSequence, Sendable {
  let get: TransferRequest
  let session: TransferSession

  struct AsyncIterator: AsyncIteratorProtocol {
    let fetched: Fetched
    var chunks: ResponseBody.AsyncIterator?

    mutating func next() async throws -> [UInt8]? {
      if chunks == nil {
        chunks = try await fetched.session.open(fetched.get).body.makeAsyncIterator()
      }
      return try await chunks?.next()
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(fetched: self) }
}

/// A source that blocks its thread until a task has what it needs.
private final class FetchedSource: ByteSource {
  private var rest: ArraySlice<UInt8> = []

  init(_ get: TransferRequest, in session: TransferSession) {
    let (done, body) = (DispatchSemaphore(value: 0), Guarded<[UInt8]>([]))
    Task {
      let response = try? await session.send(get)
      body.withLock { $0 = response?.body ?? [] }
      done.signal()
    }
    done.wait()
    rest = body.withLock { $0[...] }
  }

  func read(into room: UnsafeMutableRawBufferPointer) -> Int {
    let piece = rest.prefix(room.count)
    piece.withUnsafeBytes { room.copyMemory(from: $0) }
    rest = rest.dropFirst(piece.count)
    return piece.count
  }

  func close() {}
}
