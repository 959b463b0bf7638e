import FormStream
import FormStreamTestSupport
import Foundation
import Testing
import FormStreamTransfer

/// Which version of HTTP a request takes if the session leaves the choice.
@Suite struct VersionTests {
  /// More than is sent over HTTP/2.
  private static let long = noise(200_000)

  private let certificates: TestCertificates

  init() throws {
    certificates = try TestCertificates()
  }

  private func session(
    _ version: TransferSession.Configuration.Version = .automatic
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.version = version
    configuration.tls.authorities = LocalPath(certificates.authority)
    return try TransferSession(configuration)
  }

  private func proxy(
    to older: ScriptedServer, or server: ScriptedHTTP2Server,
    _ change: (inout TLSProxy.Options) -> Void = { _ in }
  ) throws -> TLSProxy {
    var options = TLSProxy.Options()
    options.protocols = ["h2", "http/1.1"]
    options.http2Port = server.port
    change(&options)
    return try TLSProxy(to: older.port, certificates.server, options)
  }

  private static func stream(_ count: Int) -> TransferBody {
    .stream { InputStream(data: Data(noise(count))) }
  }

  // MARK: The choice

  static let bodies: [(String, TransferBody?, String)] = [
    ("none", nil, "2"), ("empty", .bytes([]), "2"), ("64 KiB", .bytes(noise(65_536)), "2"),
    ("more", .bytes(noise(65_537)), "1.1"), ("long", .bytes(long), "1.1"),
    ("of unknown length", stream(10), "1.1"),
    ("short again", .bytes([1]), "2"), ("long again", .bytes(long), "1.1"),
  ]

  @Test(.timeLimit(.minutes(1)))
  func `long bodies are sent over HTTP 1_1, and others over HTTP 2`() async throws {
    let counter = try ScriptedServer { _ in .good() }
    let nginx = try RealServer(.nginx, to: counter.port, certificates.server)
    let (automatic, insisting) = (try session(), try session(.http2))
    for (name, body, version) in Self.bodies {
      let request = try makeRequest(body == nil ? .get : .post, nginx.urlHTTP2, body)
      let result = await automatic.result(of: request)
      #expect(result.outcome == .ok, "\(name): \(String(describing: result.error))")
      #expect(result.response?.version == version, "\(name)")
      let other = await insisting.result(of: request)
      #expect(other.response?.version == "2", "\(name): \(String(describing: other.error))")
    }
    #expect(counter.faults == [])
  }

  @Test(.timeLimit(.minutes(1)))
  func `each attempt takes the version that its server wants`() async throws {
    let older = try ScriptedServer { request in
      request.number == 0
        ? [.readBody, .respond(503, headers: [("Retry-After", "0")])] : .good(201)
    }
    let unused = try ScriptedHTTP2Server { _ in .good(299) }
    let second = try proxy(to: older, or: unused)
    let server = try ScriptedHTTP2Server { _ in
      [.readBody, .respond(307, headers: [("Location", second.url)])]
    }
    let first = try proxy(to: try ScriptedServer { _ in .good(299) }, or: server) {
      $0.protocols = ["h2"]
      $0.refusesOtherProtocols = true
    }
    var request = try makeRequest(first.url, .bytes(Self.long), attempts: 2)
    request.options.redirects.allowsOtherOrigins = true
    let result = try await session().result(of: request)
    #expect(result.status == 201, "\(String(describing: result.error))")
    #expect(result.response?.version == "1.1")
    #expect(server.requests.map(\.body) == [Self.long])
    #expect(older.requests.map(\.body) == [Self.long, Self.long])
    #expect(unused.requests.isEmpty)
  }

  // MARK: Servers that refuse HTTP/1.1

  @Test(.timeLimit(.minutes(1)), arguments: ["alert", "end", "426", "505", "426 h2"])
  func `a server that refuses HTTP 1_1 is sent the body over HTTP 2`(how: String) async throws {
    let server = try ScriptedHTTP2Server { _ in .good(201) }
    var options = ScriptedServer.Options()
    if how == "end" { options.onConnect = { _ in [.close] } }
    let older = try ScriptedServer(options) { _ in
      let headers = how == "426 h2" ? [("Upgrade", "TLS/1.0, h2")] : []
      return [.readBody, .respond(how == "505" ? 505 : 426, headers: headers, body: "older")]
    }
    let proxy = try proxy(to: older, or: server) {
      if ["alert", "end"].contains(how) { $0.protocols = ["h2"] }
      $0.refusesOtherProtocols = how == "alert"
    }
    let session = try session()
    // More than the buffers on the way hold.
    let body = how == "end" ? noise(20_000_000) : Self.long
    for _ in 0..<2 {
      let result = await session.result(of: try makeRequest(proxy.url, .bytes(body)))
      #expect(result.status == 201, "\(String(describing: result.error))")
      #expect(result.attempts == 1)
      #expect(result.response?.version == "2")
      #expect(result.bytesSent == Int64(body.count))
    }
    #expect(server.requests.map(\.bodyCount) == [body.count, body.count])
    #expect(older.connections.count == (how == "alert" ? 0 : 1), "the session remembers it")
  }

  /// Without ALPN, a server speaks HTTP/1.1.
  @Test(.timeLimit(.minutes(1)), arguments: [ContinuePolicy.always, .never])
  func `a body that a server without ALPN has begun to read is not sent again unasked`(
    expectation: ContinuePolicy
  ) async throws {
    let server = try ScriptedHTTP2Server { _ in .good(299) }
    let older = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 1000), .reset]
    }
    let proxy = try proxy(to: older, or: server) { $0.protocols = [] }
    var request = try makeRequest(proxy.url, .bytes(noise(20_000_000)))
    request.options.expectation = expectation
    let result = try await session().result(of: request)
    #expect(older.requests.count == 1)
    #expect(server.requests.isEmpty)
    #expect(result.attempts == 1)
    #expect(result.bytesSent < 20_000_000)
    // A response may be lost.
    #expect(result.outcome == .unknown, "\(result)")
    #expect(result.error?.description.contains("can't have") == false, "\(result)")
  }

  @Test(.timeLimit(.minutes(1)))
  func `a 426 that asks for something else is the response`() async throws {
    let server = try ScriptedHTTP2Server { _ in .good(201) }
    let older = try ScriptedServer { _ in
      [.readBody, .respond(426, headers: [("Upgrade", "websocket")])]
    }
    let proxy = try proxy(to: older, or: server)
    let result = try await session().result(of: makeRequest(proxy.url, .bytes(Self.long)))
    #expect(result.status == 426)
    #expect(result.outcome == .failed)
    // A body that can be read once is not sent again.
    let once = try await session().result(of: makeRequest(proxy.url, oneShot(Self.long)))
    #expect(once.status == 426)
    #expect(server.requests.isEmpty)
  }

  // MARK: Connections

  @Test(.timeLimit(.minutes(1)), arguments: ["by its length", "by the server"])
  func `no request enters a connection with HTTP 1_1 that is in use`(chosen: String) async throws {
    let goesOn = try Gate()
    let server = try ScriptedHTTP2Server { _ in .good() }
    let older = try ScriptedServer { _ in
      [.readBody(upTo: 20_000), .waitFor(goesOn)] + .good(201)
    }
    let body = chosen == "by its length" ? noise(8_000_000) : noise(60_000)
    let proxy = try proxy(to: older, or: server) {
      if chosen == "by the server" { $0.firstProtocol = "http/1.1" }
    }
    let session = try session()
    let upload = session.start(try makeRequest(proxy.url, .bytes(body)))
    #expect(await eventually { older.requests.first.map { $0.bodyCount >= 20_000 } ?? false })
    for _ in 0..<3 {
      let result = await session.result(of: try makeRequest(.get, proxy.url, nil))
      #expect(result.status == 200, "\(String(describing: result.error))")
      #expect(result.response?.version == "2")
    }
    goesOn.open()
    let result = await upload.result
    #expect(result.status == 201, "\(String(describing: result.error))")
    #expect(result.response?.version == "1.1")
    #expect(older.requests.map(\.body) == [body])
    #expect(older.faults == [])
    #expect(server.requests.count == 3)
  }
}
