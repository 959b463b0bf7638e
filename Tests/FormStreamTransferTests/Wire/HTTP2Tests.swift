import FormStream
import FormStreamTestSupport
import Foundation
import Testing
import FormStreamTransfer

/// What is known about a request that is sent with HTTP/2.
@Suite struct HTTP2Tests {
  /// Takes one more body than its first window allows, and less than libcurl's buffer.
  private static let bytes = noise(200_000)

  private func session() throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.version = .http2
    return try TransferSession(configuration)
  }

  /// A request without limits for a stalled transfer.
  private func request(
    _ url: String, _ body: TransferBody? = .bytes(bytes), method: HTTPMethod = .post,
    attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(method, url, body, attempts: attempts)
    request.options.expectation = .never
    request.options.timeLimits.stall = nil
    request.options.timeLimits.response = nil
    return request
  }

  /// A server whose first request is handled by `steps`, and all others well.
  private func server(_ steps: [ScriptedHTTP2Step]) throws -> ScriptedHTTP2Server {
    try ScriptedHTTP2Server { $0.number == 0 ? steps : .good(201) }
  }

  // MARK: Early responses

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      ([ScriptedHTTP2Step.respond(200, body: "fine"), .stall], "fine"),
      ([.respond(200), .stall], ""),
      ([.respond(204), .stall], ""),
      ([.respond(200, headers: [("Content-Length", "4")], body: "fine"), .stall], "fine"),
      ([.respond(200, body: "half", ends: false), .stall], "half"),
    ])
  func `a success before the complete body is unknown at once`(
    steps: [ScriptedHTTP2Step], body: String
  ) async throws {
    for taken in [0, 100_000] {
      let server = try server([.read(upTo: taken)] + steps)
      let result = try await session().result(of: request(server.url, attempts: 3))
      #expect(result.outcome == .unknown)
      #expect(result.error?.code == .respondedEarly)
      #expect(result.status != nil)
      #expect(result.response?.text == body)
      #expect(result.attempts == 1)
      #expect(server.requests.count == 1)
      #expect(server.faults == [])
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [200, 413])
  func `a response that the stream's end hides is unknown`(status: Int) async throws {
    let server = try server([
      .read(upTo: 100_000), .respond(status, body: "so"), .resetStream(.noError), .stall,
    ])
    let result = try await session().result(of: request(server.url, attempts: 3))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly)
    #expect(server.requests.count == 1)
    #expect(server.faults == [])
  }

  @Test(.timeLimit(.minutes(1)))
  func `an early refusal that can be read is reported`() async throws {
    let server = try server([.read(upTo: 100_000), .respond(413, body: "too big"), .stall])
    let result = try await session().result(of: request(server.url, attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.status == 413)
    #expect(result.response?.text == "too big")
    #expect(server.requests.count == 1)
  }

  // A server that responded to the head alone, and then took no notice of the body, was believed.
  @Test(.timeLimit(.minutes(1)), arguments: [false, true])
  func `a head and a short body leave in one piece`(isEncrypted: Bool) async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedHTTP2Server { _ in [.respond(200), .resetStream(.noError)] }
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = isEncrypted ? try TLSProxy(to: server.port, certificates.server, options) : nil
    var configuration = TransferSession.Configuration()
    configuration.version = .http2
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    for size in [1, 4096, 16_384] {
      let result = try await session.result(
        of: request(proxy?.url ?? server.url, .bytes(noise(size))))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    #expect(server.requests.map(\.wasCompleteAtResponse) == [true, true, true])
  }

  // MARK: What was sent

  @Test(.timeLimit(.minutes(1)), arguments: [ScriptedHTTP2Step.close, .reset])
  func `what the server's window doesn't allow was not sent`(end: ScriptedHTTP2Step) async throws {
    let server = try server([.read(upTo: 100_000), end])
    let result = try await session().result(of: request(server.url))
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectionLost)
    #expect(result.bytesSent == 100_000)
    let again = try self.server([.read(upTo: 100_000), end])
    let repeated = try await session().result(of: request(again.url, attempts: 2))
    #expect(repeated.outcome == .ok)
    #expect(repeated.attempts == 2)
    #expect(again.requests.last?.body == Self.bytes)
    #expect(again.requests.map(\.isComplete) == [false, true])
  }

  @Test(
    .timeLimit(.minutes(1)), arguments: [ScriptedHTTP2Step.close, .resetStream(.internalError)])
  func `a complete request without a response is unknown`(end: ScriptedHTTP2Step) async throws {
    let server = try server([.readBody, end])
    let result = try await session().result(of: request(server.url, attempts: 3))
    #expect(result.outcome == .unknown)
    #expect(result.bytesSent == 200_000)
    #expect(server.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [0, 100_000, 200_000], ["refused", "GOAWAY"])
  func `a request that the server has not looked at was not sent`(taken: Int, how: String)
    async throws
  {
    let end: [ScriptedHTTP2Step] =
      how == "refused" ? [.resetStream(.refusedStream), .stall] : [.goAway(.none), .stall]
    let steps = [ScriptedHTTP2Step.read(upTo: taken == 200_000 ? .max : taken)] + end
    let server = try server(steps)
    let result = try await session().result(of: request(server.url))
    #expect(result.outcome == .retryable)
    #expect(result.error?.description.contains("has not looked at it") == true)
    #expect(server.requests.count == 1, "libcurl may not repeat it by itself")
    let again = try self.server(steps)
    let repeated = try await session().result(of: request(again.url, attempts: 2))
    #expect(repeated.outcome == .ok)
    #expect(repeated.attempts == 2)
    #expect(again.requests.count == 2)
    #expect(again.requests.last?.body == Self.bytes)
    #expect(server.faults + again.faults == [])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a GET that the server has not looked at is not repeated unasked`() async throws {
    let server = try server([.resetStream(.refusedStream), .stall])
    let result = try await session().result(of: request(server.url, nil, method: .get))
    #expect(result.outcome == .retryable)
    #expect(server.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a GOAWAY that admits the request doesn't prove that it was not handled`() async throws {
    let server = try server([.readBody, .goAway(.this), .close])
    let result = try await session().result(of: request(server.url, attempts: 3))
    #expect(result.outcome == .unknown)
    #expect(server.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [200, 404], ["", "fine"])
  func `a GOAWAY behind a complete response doesn't take it back`(status: Int, body: String)
    async throws
  {
    let server = try server([.readBody, .respond(status, body: body), .goAway(.none), .finish])
    let result = try await session().result(of: request(server.url, attempts: 3))
    #expect(result.outcome == (status == 200 ? .ok : .failed))
    #expect(result.status == status)
    #expect(result.response?.text == body)
    #expect(server.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [true, false])
  func `a kept connection that says GOAWAY costs no attempt`(isLast: Bool) async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedHTTP2Server { request in
      request.connection == 0 && request.index == 1
        ? [.readBody, .goAway(isLast ? .previous : .none), .stall] : .good(201)
    }
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.version = .http2
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    _ = try await session.result(of: request(proxy.url))
    let second = try await session.result(of: request(proxy.url))
    #expect(second.outcome == .ok, "\(String(describing: second.error))")
    #expect(second.attempts == 1)
    #expect(server.requests.map(\.connection) == [0, 0, 1])
    #expect(server.requests.last?.body == Self.bytes)
    #expect(server.faults == [])
  }

  // libcurl reports a GOAWAY to one of the requests that share the connection. nginx says it after 1,000 requests.
  @Test(.timeLimit(.minutes(1)))
  func `requests that a server leaves on a shared connection cost no attempt`() async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedServer { _ in .good(201) }
    var options = RealServer.Options()
    options.requestsPerConnection = 20
    let nginx = try RealServer(.nginx, to: server.port, certificates.server, options)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    // From here on, the session knows that the server speaks HTTP/2.
    #expect(try await session.result(of: request(nginx.urlHTTP2, .bytes([1]))).outcome == .ok)
    let results = try await withThrowingTaskGroup { group in
      for number in 0..<90 {
        group.addTask {
          try await session.result(
            of: self.request(nginx.urlHTTP2 + "/\(number)", .bytes(noise(4096))))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.map(\.error?.description) == Array(repeating: nil, count: 90))
    #expect(results.map(\.attempts) == Array(repeating: 1, count: 90))
    #expect(Set(server.requests.map(\.target)).count == 91, "each arrived")
    #expect(server.requests.count == 91, "each arrived once")
  }

  // MARK: Versions

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      (ScriptedHTTP2Step.goAway(.none, .protocolError), "has not looked at it"),
      (.resetStream(.internalError), "with the HTTP/2 error INTERNAL_ERROR"),
      (.close, "the server closed it"),
    ])
  func `what ends a request is said in words for people`(
    step: ScriptedHTTP2Step, words: String
  ) async throws {
    let server = try server([.readBody, step, .stall])
    let result = try await session().result(of: request(server.url))
    let message = try #require(result.error).description
    #expect(message.contains(words), "\(message)")
    for foreign in ["nghttp2", "libcurl", "()", "stream 1"] {
      #expect(!message.contains(foreign), "\(message)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a version for https sends HTTP 1_1 without TLS`() async throws {
    let server = try ScriptedServer { _ in .good(201) }
    var configuration = TransferSession.Configuration()
    configuration.version = .http2OverTLS
    let result = try await TransferSession(configuration).result(of: request(server.url))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.body) == [Self.bytes])
    #expect(server.faults == [])
    let certificates = try TestCertificates()
    let two = try ScriptedHTTP2Server { _ in .good(201) }
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: two.port, certificates.server, options)
    configuration.tls.authorities = LocalPath(certificates.authority)
    let encrypted = try await TransferSession(configuration).result(of: request(proxy.url))
    #expect(encrypted.outcome == .ok, "\(String(describing: encrypted.error))")
    #expect(encrypted.framing == .http2)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [["http/1.1"], []])
  func `a server without HTTP 2 is named under TLS`(protocols: [String]) async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedServer { _ in .good() }
    var options = TLSProxy.Options()
    options.protocols = protocols
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    var configuration = TransferSession.Configuration()
    configuration.version = .http2
    configuration.tls.authorities = LocalPath(certificates.authority)
    let result = try await TransferSession(configuration).result(
      of: request(proxy.url, attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.error?.code.rawValue == "http2-unavailable")
    #expect(result.attempts == 1)
    #expect(server.requests.isEmpty)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [10, 200_000, 8_000_000, 20_000_000])
  func `a server without HTTP 2 is named without TLS`(size: Int) async throws {
    let server = try ScriptedServer { _ in
      [.respond(400, headers: [("Connection", "close")], body: "what?"), .close]
    }
    let result = try await session().result(
      of: request(server.url, .bytes(noise(size)), attempts: 3))
    #expect(result.outcome == .failed)
    #expect(
      result.error?.code.rawValue == "http2-unavailable", "\(String(describing: result.error))")
    #expect(result.attempts == 1)
    #expect(server.connections.count == 1)
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["bytes", "stream"])
  func `requests follow each other without TLS`(kind: String) async throws {
    let server = try ScriptedHTTP2Server { _ in .good(201, body: "made") }
    let session = try session()
    let bytes = Self.bytes
    for _ in 0..<3 {
      let result = try await session.result(
        of: request(
          server.url, kind == "bytes" ? .bytes(bytes) : .stream { InputStream(data: Data(bytes)) }))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(result.response?.text == "made")
      #expect(result.framing == .http2)
      #expect(result.bytesSent == 200_000)
    }
    #expect(server.requests.map(\.body) == [bytes, bytes, bytes])
    #expect(server.faults == [])
  }
}
