import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Servers that end a request of HTTP/2 with HTTP_1_1_REQUIRED. RFC 9113 §8.7: only REFUSED_STREAM and GOAWAY prove that a
/// request was not processed.
@Suite struct HTTP11DemandTests {
  private let certificates: TestCertificates
  /// Speaks HTTP/2.
  private let server: ScriptedHTTP2Server
  /// The same, with HTTP/1.1.
  private let older: ScriptedServer
  private let proxy: TLSProxy

  init() throws {
    certificates = try TestCertificates()
    server = try ScriptedHTTP2Server { request in
      // A second request of the connection is taken completely, the first of others as its path says.
      [.read(upTo: 60_000), .resetStream(.http11Required), .stall]
    }
    older = try ScriptedServer { request in .good(request.target == "/conflict" ? 409 : 201) }
    var options = TLSProxy.Options()
    options.protocols = ["h2", "http/1.1"]
    options.http2Port = server.port
    proxy = try TLSProxy(to: older.port, certificates.server, options)
  }

  private func session(
    _ version: TransferSession.Configuration.Version = .automatic
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    configuration.version = version
    return try TransferSession(configuration)
  }

  private func request(
    _ method: HTTPMethod, _ path: String = "/", size: Int = 60_000
  ) throws -> TransferRequest {
    var request = try makeRequest(method, proxy.url + path, .bytes(noise(size)))
    request.options.expectation = .never
    request.options.timeLimits.stall = nil
    request.options.timeLimits.response = nil
    return request
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1, 3])
  func `a complete POST is not sent again`(attempts: Int) async throws {
    var request = try request(.post)
    request.options.retry.attempts = attempts
    let result = try await session().result(of: request)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .http2Unavailable)
    #expect(result.error?.description.contains("whether it has carried it out") == true)
    // HTTP/1.1 is allowed: another setting has to forbid HTTP/2.
    #expect(
      result.error?.description.contains("Send it with HTTP/1.1 (Version.http11).") == true,
      "\(String(describing: result.error))")
    #expect(result.attempts == 1)
    #expect(server.requests.map(\.isComplete) == [true])
    #expect(older.requests.isEmpty)
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["PUT", "key", "unsafe"])
  func `what may be sent twice is sent again, as another attempt`(why: String) async throws {
    var request = try request(why == "PUT" ? .put : .post)
    if why == "key" { request.options.idempotencyKey = .random() }
    if why == "unsafe" { request.options.retry.retriesUnsafe = true }
    let result = try await session().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(server.requests.count == 1)
    #expect(older.requests.map(\.body) == [noise(60_000)])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a refusal of the second attempt says nothing about the first`() async throws {
    let result = try await session().result(of: request(.put, "/conflict"))
    #expect(result.outcome == .unknown)
    #expect(result.status == 409)
    #expect(result.attempts == 2)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a GET is sent again, as another attempt`() async throws {
    let result = try await session().result(of: makeRequest(.get, proxy.url, nil))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(older.requests.count == 1)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [10, 200_000])
  func `a setting that forbids HTTP 1_1 is kept to`(size: Int) async throws {
    let session = try session(.http2)
    let result = try await session.result(of: request(.post, size: size))
    // A server can't carry out a part of a request.
    #expect(result.outcome == (size == 10 ? .unknown : .failed))
    #expect(result.error?.code == .http2Unavailable)
    let get = try await session.result(of: makeRequest(.get, proxy.url, nil, attempts: 3))
    #expect(get.outcome == .failed)
    #expect(get.attempts == 1)
    #expect(older.requests.isEmpty)
  }
}
