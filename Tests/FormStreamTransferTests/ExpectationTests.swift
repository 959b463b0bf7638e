import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Asking before the body goes out (RFC 9110 §10.1.1).
@Suite struct ExpectationTests {
  private static let large = noise(1_500_000)

  private func post(
    _ server: ScriptedServer, _ body: TransferBody = .bytes(large),
    asks: ContinuePolicy = .automatic,
    patience: Duration? = nil, attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(server.url, body, attempts: attempts)
    request.options.expectation = asks
    // Long enough that no test passes by waiting it out.
    request.options.expectation.timeout = patience ?? .seconds(60)
    return request
  }

  @Test(arguments: [1, 3])
  func `leave is asked for, and given`(times: Int) async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try patientSession()
    for _ in 0..<times {
      let result = try await session.result(of: post(server))
      #expect(result.outcome == .ok)
      #expect(result.attempts == 1)
    }
    #expect(server.requests.map(\.expectsContinue) == Array(repeating: true, count: times))
    #expect(server.requests.map(\.body) == Array(repeating: Self.large, count: times))
    #expect(server.faults == [])
  }

  @Test func `who ignores the question is not asked again`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(200)] }
    let other = try ScriptedServer { _ in .good() }
    let session = try patientSession()
    let first = try await session.result(of: post(server, patience: .milliseconds(20)))
    #expect(first.outcome == .ok)
    let second = try await session.result(of: post(server))
    #expect(second.outcome == .ok)
    #expect(server.requests.map(\.expectsContinue) == [true, false])
    #expect(server.completeBodyCount == 2)
    #expect(server.faults == [])
    // It is this server that does not answer, not every one.
    let third = try await session.result(of: post(other))
    #expect(third.outcome == .ok)
    #expect(other.requests.map(\.expectsContinue) == [true])
    expectTruth(third, at: other)
  }

  @Test func `who answers late is asked again`() async throws {
    let server = try ScriptedServer { _ in
      [.readBody(upTo: 1), .continueIfExpected, .readBody, .respond(200)]
    }
    let session = try patientSession()
    for _ in 0..<2 {
      let result = try await session.result(of: post(server, patience: .milliseconds(20)))
      #expect(result.outcome == .ok)
    }
    #expect(server.requests.map(\.expectsContinue) == [true, true])
    #expect(server.completeBodyCount == 2)
    #expect(server.faults == [])
  }

  @Test(arguments: [401, 403, 413, 500])
  func `a refusal instead of leave costs no byte of the body`(status: Int) async throws {
    let server = try ScriptedServer { _ in
      [.skipBody, .respond(status, headers: [("Connection", "close")], body: "no"), .finish]
    }
    let result = try await patientSession().result(of: post(server))
    #expect(result.outcome == .failed)
    #expect(result.status == status)
    #expect(result.response?.text == "no")
    #expect(result.bytesSent == 0)
    #expect(result.wireBytes == 0)
    #expect(result.attempts == 1)
    #expect(server.requests.map(\.bodyCount) == [0])
    #expect(server.faults == [])
  }

  @Test func `a connection that is kept after a refusal carries no stray bytes`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.skipBody, .respond(413, body: "no")] : .good()
    }
    let session = try patientSession()
    let first = try await session.result(of: post(server))
    #expect(first.status == 413)
    #expect(first.bytesSent == 0)
    let second = try await session.result(of: post(server, .bytes("small".utf8)))
    #expect(second.outcome == .ok)
    #expect(server.requests.map(\.bodyCount) == [0, 5])
    #expect(server.faults == [])
  }

  @Test func `503 instead of leave is tried again, and the body goes out once`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0
        ? [.skipBody, .respond(503, headers: [("Connection", "close")]), .finish] : .good()
    }
    let result = try await patientSession().result(of: post(server, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    #expect(result.wireBytes == Int64(Self.large.count))
    #expect(server.requests.map(\.bodyCount) == [0, Self.large.count])
    #expect(server.faults == [])
  }

  @Test func `success instead of leave is no success`() async throws {
    let server = try ScriptedServer { _ in
      [.skipBody, .respond(200, headers: [("Connection", "close")], body: "fine"), .finish]
    }
    let result = try await patientSession().result(of: post(server))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly)
    #expect(result.bytesSent == 0)
    #expect(server.faults == [])
  }

  @Test(arguments: ["keeps", "closes"])
  func `417 is met by the body without the question`(end: String) async throws {
    let server = try ScriptedServer { request in
      guard request.expectsContinue else { return .good(201) }
      return end == "keeps"
        ? [.skipBody, .respond(417)]
        : [.skipBody, .respond(417, headers: [("Connection", "close")]), .finish]
    }
    let result = try await patientSession().result(of: post(server))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.status == 201)
    #expect(result.attempts == 2)
    #expect(result.wireBytes == Int64(Self.large.count))
    #expect(server.requests.map(\.expectsContinue) == [true, false])
    #expect(server.requests.map(\.bodyCount) == [0, Self.large.count])
    #expect(server.faults == [])
  }

  @Test func `silence after a 417 is unknown`() async throws {
    let server = try ScriptedServer { request in
      request.expectsContinue ? [.skipBody, .respond(417)] : [.readBody, .close]
    }
    let result = try await patientSession().result(of: post(server))
    #expect(result.outcome == .unknown)
    #expect(result.response == nil)
    #expect(result.error?.code == .connectionLost)
    expectTruth(result, at: server, bodies: 1)
  }

  @Test func `a 417 to the body itself is a refusal`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(417, body: "never")] }
    for asks in [ContinuePolicy.never, .always] {
      let result = try await patientSession().result(
        of: post(server, .bytes("small".utf8), asks: asks, patience: .milliseconds(20)))
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
  func `who is asked follows the setting and the size`(
    asks: ContinuePolicy, size: Int, isAsked: Bool
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let body: TransferBody =
      size < 0 ? oneShot("of unknown length".utf8) : .bytes(noise(size))
    let result = try await patientSession().result(of: post(server, body, asks: asks))
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.expectsContinue) == [isAsked])
    #expect(server.requests.first?.values(of: "Expect").count == (isAsked ? 1 : 0))
    expectTruth(result, at: server)
  }

  @Test func `a request without a body never asks`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try patientSession()
    for method in [HTTPMethod.get, .post, .head, .delete] {
      var request = try makeRequest(method, server.url, nil)
      request.options.expectation = .always
      #expect(await session.result(of: request).outcome == .ok)
    }
    #expect(server.requests.allSatisfy { !$0.expectsContinue })
    #expect(server.faults == [])
  }
}
