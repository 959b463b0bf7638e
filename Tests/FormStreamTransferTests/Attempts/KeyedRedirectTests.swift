import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// An idempotency key stays with its origin. A server that doesn't get it may carry out a request twice, so what is sent
/// there counts as a request without a key.
@Suite struct KeyedRedirectTests {
  private func request(_ url: String) throws -> TransferRequest {
    var request = try makeRequest(url, attempts: 3)
    request.options.idempotencyKey = IdempotencyKey("key-of-this-test")
    request.options.redirects.allowsOtherOrigins = true
    return request
  }

  @Test(arguments: [nil, 502, 504])
  func `a redirected request is not sent twice without its key`(status: Int?) async throws {
    let there = try ScriptedServer { request in
      if request.number > 0 { return .good(201) }
      return status.map { .good($0) } ?? [.readBody, .close]
    }
    let here = try ScriptedServer { [url = there.url] _ in
      .good(307, headers: [("Location", url)])
    }
    let result = try await makeSession().result(of: request(here.url))
    #expect(there.requests.map { $0.header("Idempotency-Key") } == [nil])
    #expect(result.outcome == .unknown)
    #expect(result.attempts == 2)
    // To send it again with the key would not be safe.
    #expect(result.idempotencyKey == nil)
    #expect(result.error?.description.contains("key-of-this-test") == false)
    #expect(here.faults + there.faults == [])
  }

  @Test func `after a doubt, a redirect to a server that does not get the key is not followed`()
    async throws
  {
    let there = try ScriptedServer { _ in .good(201) }
    let here = try ScriptedServer { [url = there.url] request in
      request.number == 0 ? [.readBody, .close] : .good(307, headers: [("Location", url)])
    }
    let result = try await makeSession().result(of: request(here.url))
    #expect(there.requests.isEmpty)
    #expect(here.requests.count == 2)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .redirectRefused)
    // The server in doubt has seen the key.
    #expect(result.idempotencyKey != nil)
    #expect(result.error?.description.contains("key-of-this-test") == true)
  }

  @Test(arguments: [HTTPMethod.put, .post])
  func `what may be sent twice without a key is`(method: HTTPMethod) async throws {
    let there = try ScriptedServer { $0.number == 0 ? [.readBody, .close] : .good(201) }
    let here = try ScriptedServer { [url = there.url] request in
      request.number == 0 ? [.readBody, .close] : .good(307, headers: [("Location", url)])
    }
    var request = try request(here.url)
    request.method = method
    request.options.retry.retriesUnsafe = method == .post
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(there.requests.count == 2)
  }

  @Test func `within its origin, the key goes with the request, and it is sent again`() async throws {
    let server = try ScriptedServer { request in
      if request.target == "/" { return .good(307, headers: [("Location", "/there")]) }
      return request.number == 1 ? [.readBody, .close] : .good(201)
    }
    let result = try await makeSession().result(of: request(server.url))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.allSatisfy { $0.header("Idempotency-Key") != nil })
    #expect(server.requests.map(\.target) == ["/", "/there", "/there"])
    #expect(result.idempotencyKey != nil)
  }
}
