import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A reused connection that ends during the next request.
@Suite struct ReusedConnectionTests {
  /// A server that responds to the first request of the first connection, and performs `steps` for the next one;
  /// requests on other connections get a response.
  private func server(_ steps: [ScriptedStep], behindAnswer: [ScriptedStep] = []) throws
    -> ScriptedServer
  {
    try ScriptedServer { request in
      if request.connection > 0 { return .good(201) }
      return request.index == 0 ? .good() + behindAnswer : steps
    }
  }

  private func second(
    at server: ScriptedServer, _ body: TransferBody?, method: HTTPMethod = .post, attempts: Int = 1
  ) async throws -> TransferResult {
    let session = try makeSession()
    let first = try await session.result(of: makeRequest(.get, server.url, nil))
    #expect(first.outcome == .ok)
    var request = try makeRequest(method, server.url, body, attempts: attempts)
    request.options.expectation = .never
    return await session.result(of: request)
  }

  @Test func `a connection that was closed meanwhile is not used`() async throws {
    let server = try server([.unexpected], behindAnswer: [.close])
    let session = try makeSession()
    _ = try await session.result(of: makeRequest(.get, server.url, nil))
    #expect(await onNewThread { server.waitForEnds() })
    let result = try await session.result(of: makeRequest(server.url))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [ScriptedStep.close, .reset])
  func
    `if a reused connection ends before the body, the outcome is unknown or the request is repeated`(
      end: ScriptedStep
    )
    async throws
  {
    let server = try server([end])
    let result = try await second(at: server, .bytes(Array("small".utf8)), attempts: 3)
    // A small body may have been sent completely before the end was noticed.
    #expect([.unknown, .ok].contains(result.outcome), "\(result.outcome)")
    if result.outcome == .ok {
      #expect(result.attempts == 2)
    } else {
      #expect(result.attempts == 1)
    }
    #expect(server.requests.count == 1 + result.attempts)
    #expect(server.faults == [])
  }

  @Test(arguments: [HTTPMethod.get, .head])
  func `what libcurl sends again by itself is counted`(_ method: HTTPMethod) async throws {
    let server = try server([.close])
    let result = try await second(at: server, nil, method: method)
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(server.requests.count == 1 + result.attempts)
  }

  @Test(arguments: [(HTTPMethod.put, "a"), (.post, "")])
  func `a request that libcurl may not send again fails in words of ours`(
    _ method: HTTPMethod, _ body: String
  ) async throws {
    let server = try server([.close])
    let result = try await second(
      at: server, .bytes(Array(body.utf8)), method: method)
    let message = try #require(result.error).description
    // A server that closes a connection on which something arrives resets it.
    let ends = ["the server closed it", "the server reset it"]
    #expect(ends.contains { message.contains("arrived (\($0)).") }, "\(message)")
    #expect(server.requests.count == 2)
  }

  @Test(arguments: [ScriptedStep.close, .reset])
  func `if a reused connection ends during the body, it is sent again completely`(end: ScriptedStep)
    async throws
  {
    let bytes = noise(8_000_000)
    let server = try server([.readBody(upTo: 1000), end])
    let once = try await second(at: server, .bytes(bytes))
    #expect(once.outcome == .retryable)
    #expect(once.error?.code == .connectionLost)
    #expect(once.attempts == 1)
    expectConsistency(once, at: server, bodies: 0)
    let again = try self.server([.readBody(upTo: 1000), end])
    let twice = try await second(at: again, .bytes(bytes), attempts: 2)
    #expect(twice.outcome == .ok)
    #expect(twice.status == 201)
    #expect(twice.attempts == 2)
    #expect(again.requests.last?.body == bytes)
    expectConsistency(twice, at: again, bodies: 1)
  }

  @Test(arguments: [ScriptedStep.close, .reset])
  func `if a reused connection ends after the body, the outcome is unknown`(
    end: ScriptedStep
  ) async throws {
    let bytes = noise(300_000)
    let server = try server([.readBody, end])
    let result = try await second(at: server, .bytes(bytes), attempts: 3)
    #expect(result.outcome == .unknown)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
    let other = try self.server([.readBody, end])
    let put = try await second(at: other, .bytes(bytes), method: .put, attempts: 3)
    #expect(put.outcome == .ok)
    #expect(put.attempts == 2)
    expectConsistency(put, at: other)
  }

  @Test(arguments: [HTTPMethod.get, .head])
  func `if a reused connection ends under a GET, it is sent again`(method: HTTPMethod) async throws {
    let server = try server([.close])
    let result = try await second(at: server, nil, method: method, attempts: 2)
    #expect(result.outcome == .ok)
    #expect(result.status == 201)
    #expect(server.faults == [])
  }

  @Test(arguments: [ScriptedStep.close, .reset])
  func `a request that changes something is not sent again unnoticed`(end: ScriptedStep)
    async throws
  {
    let server = try server([end])
    let result = try await second(at: server, nil, method: .delete)
    #expect(result.outcome == .unknown)
    #expect(result.attempts == 1)
    #expect(server.requests.count == 2)
    #expect(server.faults == [])
  }

  @Test func `a kept HTTP 1.0 connection is sent no chunks`() async throws {
    let server = try ScriptedServer { _ in
      [.readBody, .send("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")]
    }
    let session = try makeSession()
    let first = try await session.result(of: makeRequest(server.url))
    #expect(first.outcome == .ok)
    let once = try await session.result(of: makeRequest(server.url, oneShot("once".utf8)))
    #expect(once.outcome == .failed && once.error?.code == .lengthRequired)
    var second = try makeRequest(server.url, oneShot("once".utf8))
    second.options.readAhead = 4
    #expect(await session.result(of: second).outcome == .ok)
    #expect(server.requests.map(\.bodyText) == ["important", "once"])
    // On a kept connection libcurl uses the server's version, which our server records as a fault.
    #expect(server.faults.allSatisfy { $0.what.hasSuffix("POST / HTTP/1.0") })
  }

  @Test(arguments: ["bytes", "once"])
  func `a stream of unknown length is not split in two requests`(kind: String) async throws {
    let bytes = noise(8_000_000)
    let server = try server([.readBody(upTo: 1000), .reset])
    let result = try await second(
      at: server, kind == "once" ? oneShot(bytes) : .bytes(bytes), attempts: 2)
    if kind == "once" {
      #expect(result.outcome == .retryable)
      #expect(result.attempts == 1)
    } else {
      #expect(result.outcome == .ok)
    }
    expectConsistency(result, at: server, bodies: kind == "once" ? 0 : 1)
  }
}
