import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// An attempt that the server may have carried out is not forgotten: only a wanted status ends the doubt.
@Suite struct EarlierAttemptTests {
  /// A request that may be repeated although it was sent completely.
  enum Kind: CaseIterable { case put, delete, keyed, retryingUnsafe }

  /// What the attempt after it meets.
  enum Next: CaseIterable {
    case badRequest, conflict, failedPrecondition, tooManyRequests, unavailable, internalError
    case redirected, tooEarly, cut, garbage
  }

  private static let key = IdempotencyKey("key-of-this-test")

  private func request(_ kind: Kind, _ url: String, attempts: Int = 2) throws -> TransferRequest {
    let method: HTTPMethod =
      switch kind {
      case .put: .put
      case .delete: .delete
      case .keyed, .retryingUnsafe: .post
      }
    var request = try makeRequest(
      method, url, kind == .delete ? nil : .bytes("important".utf8), attempts: attempts)
    if kind == .keyed { request.options.idempotencyKey = Self.key }
    request.options.retry.retriesUnsafe = kind == .retryingUnsafe
    return request
  }

  private func steps(_ next: Next) -> [ScriptedStep] {
    switch next {
    case .badRequest: .good(400)
    case .conflict: .good(409)
    case .failedPrecondition: .good(412)
    case .tooManyRequests: .good(429)
    case .unavailable: .good(503)
    case .internalError: .good(500)
    case .redirected: .good(302, headers: [("Location", "/elsewhere")])
    case .tooEarly: .good(425)
    case .cut: [.reset]
    case .garbage: [.readBody, .send("no HTTP at all\r\n\r\n"), .close]
    }
  }

  @Test(arguments: Kind.allCases, Next.allCases)
  func `after an attempt without a response, the outcome stays unknown`(kind: Kind, next: Next)
    async throws
  {
    let server = try ScriptedServer(requests: [[.readBody, .close], steps(next)])
    let result = try await makeSession().result(of: request(kind, server.url))
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    // An attempt that was itself sent without a response says so.
    if next != .cut, next != .garbage {
      #expect(result.error?.description.contains("may have been carried out") == true)
    }
    #expect(server.faults == [])
  }

  @Test(arguments: Kind.allCases, [200, 201, 303])
  func `a wanted status, or a 303, settles it`(kind: Kind, status: Int) async throws {
    let server = try ScriptedServer { request in
      if request.number == 0 { return [.readBody, .close] }
      return request.target == "/page"
        ? .good(404) : .good(status, headers: status == 303 ? [("Location", "/page")] : [])
    }
    let result = try await makeSession().result(of: request(kind, server.url))
    #expect(result.outcome == .ok)
    #expect(result.error == nil)
    #expect(server.faults == [])
  }

  @Test(arguments: [400, 503])
  func `a request that only reads is never in doubt`(status: Int) async throws {
    let server = try ScriptedServer(requests: [[.close], .good(status)])
    let result = try await makeSession().result(of: makeRequest(.get, server.url, nil, attempts: 2))
    #expect(result.outcome == (status == 400 ? .failed : .retryable))
    #expect(server.faults == [])
  }

  @Test(arguments: Kind.allCases)
  func `the server is gone at the next attempt`(kind: Kind) async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close]])
    var request = try request(kind, server.url)
    // It keeps its port: a server of another test could get a port that is free.
    request.options.trace = { if $0.text.hasPrefix("Trying again") { server.stopListening() } }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .connectFailed)
    #expect(result.attempts == 2)
  }

  @Test func `the file changed before the next attempt`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", "old")
    let server = try ScriptedServer(requests: [[.readBody, .close], .good()])
    var request = try makeRequest(.put, server.url, .file(file), attempts: 2)
    request.options.trace = { trace in
      if trace.text.hasPrefix("Trying again") { _ = try? place.write("file", "new!") }
    }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(result.error?.code == .sourceChanged)
  }

  @Test(arguments: Kind.allCases)
  func `cancelled before the next attempt`(kind: Kind) async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close], [.readBody, .stall]])
    var request = try request(kind, server.url)
    request.options.retry.baseDelay = .seconds(100_000)
    request.options.retry.maximumDelay = .seconds(100_000)
    let task = try makeSession().start(request)
    for await step in task.progress where step.phase == .retrying { break }
    task.cancel()
    let result = await task.result
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .cancelled)
  }

  @Test(arguments: Kind.allCases)
  func `a time limit for retries leaves the doubt`(kind: Kind) async throws {
    let server = try ScriptedServer(requests: [
      [.readBody, .close], .good(503, headers: [("Retry-After", "60")]),
    ])
    var request = try request(kind, server.url, attempts: 3)
    request.options.retry.timeLimit = .seconds(30)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown)
    #expect(result.status == 503)
  }

  @Test func `the message says which key to use again`() async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close], .good(409)])
    let result = try await makeSession().result(of: request(.keyed, server.url))
    #expect(result.error?.description.contains("\"key-of-this-test\"") == true)
  }

  @Test func `a failure of a gateway leaves a doubt, which a later refusal doesn't end`()
    async throws
  {
    for status in [500, 502, 504] {
      let server = try ScriptedServer(requests: [.good(status), .good(409)])
      let result = try await makeSession().result(of: request(.keyed, server.url))
      #expect(result.outcome == .unknown, "\(status)")
      #expect(result.status == 409)
    }
  }

  @Test func `a body that was sent only in part leaves no doubt`() async throws {
    let server = try ScriptedServer(requests: [[.readBody(upTo: 1000), .reset], .good(400)])
    var request = try makeRequest(.put, server.url, .bytes(noise(8_000_000)), attempts: 2)
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.status == 400)
  }

  @Test(arguments: [429, 503, 408, 425])
  func `a refusal leaves no doubt`(status: Int) async throws {
    let server = try ScriptedServer(requests: [.good(status), .good(400)])
    let result = try await makeSession().result(of: request(.keyed, server.url))
    #expect(result.outcome == .failed)
  }
}
