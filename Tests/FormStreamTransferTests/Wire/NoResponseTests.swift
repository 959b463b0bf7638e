import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// What happens if no response arrives: libcurl by itself would send the request again, and report a success.
@Suite struct NoResponseTests {
  private func post(_ server: ScriptedServer) throws -> TransferRequest {
    try TransferRequest(.post, server.url, body: .bytes(Array("important".utf8)))
  }

  @Test func `no response on a new connection is unknown`() async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close]])
    let result = try await makeSession().result(of: post(server))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .connectionLost)
    #expect(result.attempts == 1)
    #expect(server.completeBodyCount == 1)
    #expect(server.faults.isEmpty)
  }

  @Test
  func `no response on a reused connection is unknown, and nothing is sent again`()
    async throws
  {
    let server = try ScriptedServer(requests: [.good(), [.readBody, .close]])
    let session = try makeSession()
    let first = await session.result(of: try post(server))
    #expect(first.outcome == .ok)
    let second = await session.result(of: try post(server))
    #expect(second.outcome == .unknown)
    #expect(second.attempts == 1)
    #expect(server.requests.map(\.connection) == [0, 0])
    #expect(server.completeBodyCount == 2)
    #expect(server.faults.isEmpty)
  }

  @Test func `an empty POST without a response is not sent again`() async throws {
    let server = try ScriptedServer(requests: [.good(), [.readBody, .close]])
    let session = try makeSession()
    _ = await session.result(of: try post(server))
    let second = await session.result(of: try TransferRequest(.post, server.url))
    #expect(second.outcome == .unknown)
    #expect(server.requests.count == 2)
    #expect(server.faults.isEmpty)
  }

  @Test func `with an idempotency key the request is repeated, with the same key`() async throws {
    let server = try ScriptedServer(requests: [[.readBody, .close], .good()])
    var request = try post(server)
    request.options.idempotencyKey = .random()
    request.options.retry = RetryPolicy(attempts: 2)
    request.options.retry.baseDelay = .milliseconds(1)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(server.completeBodyCount == 2)
    let keys = Set(server.requests.compactMap { $0.header("Idempotency-Key") })
    #expect(keys.count == 1)
    #expect(keys.first?.hasPrefix("\"") == true)
    #expect(server.faults.isEmpty)
  }

  @Test func `a request whose body was sent in part is retryable`() async throws {
    let server = try ScriptedServer(requests: [[.readBody(upTo: 1000), .reset]])
    let bytes = [UInt8](repeating: 7, count: 8_000_000)
    let result = try await makeSession().result(
      of: TransferRequest(.post, server.url, body: .bytes(bytes)))
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectionLost)
    #expect(result.bytesSent < 8_000_000)
    #expect(server.completeBodyCount == 0)
  }
}
