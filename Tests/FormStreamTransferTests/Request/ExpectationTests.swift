import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// `Expect: 100-continue` (RFC 9110 §10.1.1).
@Suite struct ExpectationTests {
  private static let large = noise(1_500_000)

  private func post(
    _ server: ScriptedServer, _ body: TransferBody = .bytes(large),
    policy: ContinuePolicy = .automatic,
    timeout: Duration? = nil, attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(server.url, body, attempts: attempts)
    request.options.expectation = policy
    // Too long for a test to pass by waiting.
    request.options.expectation.timeout = timeout ?? .seconds(60)
    return request
  }

  @Test(arguments: [1, 3])
  func `the body is sent after a 100`(times: Int) async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for _ in 0..<times {
      let result = try await session.result(of: post(server))
      #expect(result.outcome == .ok)
      #expect(result.attempts == 1)
    }
    #expect(server.requests.map(\.expectsContinue) == Array(repeating: true, count: times))
    #expect(server.requests.map(\.body) == Array(repeating: Self.large, count: times))
    #expect(server.faults == [])
  }

  @Test func `a server that ignores Expect is not sent another`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(200)] }
    let other = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let first = try await session.result(of: post(server, timeout: .milliseconds(20)))
    #expect(first.outcome == .ok)
    let second = try await session.result(of: post(server))
    #expect(second.outcome == .ok)
    #expect(server.requests.map(\.expectsContinue) == [true, false])
    #expect(server.completeBodyCount == 2)
    #expect(server.faults == [])
    // Only this server ignores Expect; others are still asked.
    let third = try await session.result(of: post(other))
    #expect(third.outcome == .ok)
    #expect(other.requests.map(\.expectsContinue) == [true])
    expectConsistency(third, at: other)
  }

  @Test func `a stream doesn't receive the 417 that rejects Expect`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.skipBody, .respond(417, body: "no"), .close] : .good(body: "yes")
    }
    let received = ReceivedText()
    var request = try post(server)
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(received.text == "yes")
    #expect(server.faults == [])
  }

  @Test func `a server that responds late is sent Expect again`() async throws {
    let server = try ScriptedServer { _ in
      [.readBody(upTo: 1), .continueIfExpected, .readBody, .respond(200)]
    }
    let session = try makeSession()
    for _ in 0..<2 {
      let result = try await session.result(of: post(server, timeout: .milliseconds(20)))
      #expect(result.outcome == .ok)
    }
    #expect(server.requests.map(\.expectsContinue) == [true, true])
    #expect(server.completeBodyCount == 2)
    #expect(server.faults == [])
  }

  @Test(arguments: [401, 403, 413, 500])
  func `a refusal instead of a 100 costs no byte of the body`(status: Int) async throws {
    let server = try ScriptedServer { _ in
      [.skipBody, .respond(status, headers: [("Connection", "close")], body: "no"), .finish]
    }
    let result = try await makeSession().result(of: post(server))
    #expect(result.outcome == .failed)
    #expect(result.status == status)
    #expect(result.response?.text == "no")
    #expect(result.bytesSent == 0)
    #expect(result.totalBytesSent == 0)
    #expect(result.attempts == 1)
    #expect(server.requests.map(\.bodyCount) == [0])
    #expect(server.faults == [])
  }

  @Test func `a connection that is kept after a refusal carries no stray bytes`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.skipBody, .respond(413, body: "no")] : .good()
    }
    let session = try makeSession()
    let first = try await session.result(of: post(server))
    #expect(first.status == 413)
    #expect(first.bytesSent == 0)
    let second = try await session.result(of: post(server, .bytes("small".utf8)))
    #expect(second.outcome == .ok)
    #expect(server.requests.map(\.bodyCount) == [0, 5])
    #expect(server.faults == [])
  }

  @Test func `after a 503 instead of a 100, the body is sent once`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0
        ? [.skipBody, .respond(503, headers: [("Connection", "close")]), .finish] : .good()
    }
    let result = try await makeSession().result(of: post(server, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(result.totalBytesSent == Int64(Self.large.count))
    #expect(server.requests.map(\.bodyCount) == [0, Self.large.count])
    #expect(server.faults == [])
  }

  /// The body was sent unless the end of the connection came together with the response.
  @Test(arguments: [true, false]) func `a success instead of a 100 is not a success`(closes: Bool) async throws {
    let server = try ScriptedServer { _ in
      closes
        ? [.skipBody, .respond(200, headers: [("Connection", "close")], body: "fine"), .finish]
        : [.skipBody, .respond(200, body: "fine"), .stall]
    }
    let result = try await makeSession().result(of: post(server))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly)
    #expect(result.bytesSent == 0)
    #expect(server.faults == [])
  }

  @Test(arguments: ["keeps", "closes"])
  func `after a 417, the body is sent without Expect`(end: String) async throws {
    let server = try ScriptedServer { request in
      guard request.expectsContinue else { return .good(201) }
      return end == "keeps"
        ? [.skipBody, .respond(417)]
        : [.skipBody, .respond(417, headers: [("Connection", "close")]), .finish]
    }
    let result = try await makeSession().result(of: post(server))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.status == 201)
    #expect(result.attempts == 2)
    #expect(result.totalBytesSent == Int64(Self.large.count))
    #expect(server.requests.map(\.expectsContinue) == [true, false])
    #expect(server.requests.map(\.bodyCount) == [0, Self.large.count])
    #expect(server.faults == [])
  }

  @Test func `no response after a 417 is unknown`() async throws {
    let server = try ScriptedServer { request in
      request.expectsContinue ? [.skipBody, .respond(417)] : [.readBody, .close]
    }
    let result = try await makeSession().result(of: post(server))
    #expect(result.outcome == .unknown)
    #expect(result.response == nil)
    #expect(result.error?.code == .connectionLost)
    expectConsistency(result, at: server, bodies: 1)
  }

  @Test func `a 417 to the body itself is a refusal`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(417, body: "never")] }
    for policy in [ContinuePolicy.never, .always] {
      let result = try await makeSession().result(
        of: post(server, .bytes("small".utf8), policy: policy, timeout: .milliseconds(20)))
      #expect(result.outcome == .failed)
      #expect(result.status == 417)
      #expect(result.response?.text == "never")
    }
    #expect(server.completeBodyCount == 2)
    #expect(server.faults == [])
  }

  @Test(arguments: [
    (ContinuePolicy.always, 1, true), (.always, 1_500_000, true), (.never, 1_500_000, false),
    (.automatic, 0, false), (.automatic, 1024 * 1024, false), (.automatic, 1024 * 1024 + 1, true),
    (.automatic, -1, true),
  ])
  func `whether Expect is sent depends on the policy and the size`(
    policy: ContinuePolicy, size: Int, sendsExpect: Bool
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let body: TransferBody =
      size < 0 ? oneShot("of unknown length".utf8) : .bytes(noise(size))
    let result = try await makeSession().result(of: post(server, body, policy: policy))
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.expectsContinue) == [sendsExpect])
    #expect(server.requests.first?.values(of: "Expect").count == (sendsExpect ? 1 : 0))
    expectConsistency(result, at: server)
  }

  @Test func `a request without a body never sends Expect`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    for method in [HTTPMethod.get, .post, .head, .delete] {
      var request = try makeRequest(method, server.url, nil)
      request.options.expectation = .always
      #expect(await session.result(of: request).outcome == .ok)
    }
    #expect(server.requests.allSatisfy { !$0.expectsContinue })
    #expect(server.faults == [])
  }
}
