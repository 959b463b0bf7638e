import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Which certificates a session trusts, and how it reaches a server.
@Suite struct TLSTests {
  private let made: TestCertificates
  private let server: ScriptedServer

  init() throws {
    made = try TestCertificates()
    server = try ScriptedServer { _ in .good(body: "safe") }
  }

  private func post(
    _ url: String, _ set: (inout TransferSession.Configuration) -> Void
  ) async throws -> TransferResult {
    var configuration = TransferSession.Configuration()
    set(&configuration)
    return try await TransferSession(configuration).result(
      of: TransferRequest(.post, url, body: .bytes(noise(1000))))
  }

  private func expectNothingSent(_ result: TransferResult, _ code: TransferError.Code) {
    #expect(result.outcome == .failed)
    #expect(result.error?.code == code, "\(String(describing: result.error))")
    #expect(result.bytesSent == 0)
    #expect(server.requests.isEmpty)
    #expect(server.faults.isEmpty)
  }

  @Test func `expired certificates, and those of other hosts, are refused`() async throws {
    for wrong in [made.expired, made.wrongHost] {
      let proxy = try TLSProxy(to: server.port, wrong)
      expectNothingSent(
        try await post(proxy.url) { $0.tls.authorities = LocalPath(made.authority) },
        .certificateRefused)
    }
  }

  @Test func `certificates of other and unknown authorities are refused`() async throws {
    let proxy = try TLSProxy(to: server.port, made.server)
    expectNothingSent(
      try await post(proxy.url) { $0.tls.authorities = LocalPath(made.otherAuthority) },
      .certificateRefused)
    expectNothingSent(try await post(proxy.url) { _ in }, .certificateRefused)
  }

  @Test func `without verification, any certificate is accepted`() async throws {
    let proxy = try TLSProxy(to: server.port, made.expired)
    let result = try await post(proxy.url) { $0.tls.verifiesServer = false }
    #expect(result.outcome == .ok)
    #expect(server.requests.first?.body == noise(1000))
    #expect(server.faults.isEmpty)
  }

  @Test func `the client's certificate is shown if it is demanded`() async throws {
    var options = TLSProxy.Options()
    options.clientAuthority = made.authority
    let proxy = try TLSProxy(to: server.port, made.server, options)
    let unknown = try await post(proxy.url) { $0.tls.authorities = LocalPath(made.authority) }
    #expect(unknown.outcome != .ok)
    #expect(server.requests.isEmpty)
    let known = try await post(proxy.url) {
      $0.tls.authorities = LocalPath(made.authority)
      $0.tls.certificate = LocalPath(made.client.certificate)
      $0.tls.key = LocalPath(made.client.key)
    }
    #expect(known.outcome == .ok, "\(String(describing: known.error))")
    #expect(server.faults.isEmpty)
  }

  @Test func `another origin does not see the client's certificate after a redirect`() async throws {
    var options = TLSProxy.Options()
    options.clientAuthority = made.authority
    let there = try TLSProxy(to: server.port, made.server, options)
    let redirecting = try ScriptedServer { [url = there.url] request in
      .good(307, headers: [("Location", request.target == "/here" ? "/away" : url)])
    }
    let here = try TLSProxy(to: redirecting.port, made.server, options)
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.tls.authorities = LocalPath(made.authority)
    configuration.tls.certificate = LocalPath(made.client.certificate)
    configuration.tls.key = LocalPath(made.client.key)
    let session = try TransferSession(configuration)
    var request = try makeRequest(here.url + "/here")
    request.options.redirects.allowsOtherOrigins = true
    // A connection that another request left must not be used, either.
    for url in [nil, there.url] {
      if let url { #expect(try await session.result(of: makeRequest(url)).outcome == .ok) }
      let requests = server.requests.count
      let result = await session.result(of: request)
      #expect(result.error?.code == .clientCertificateRefused, "\(result)")
      #expect(result.error?.description.contains("is not shown") == true, "\(result)")
      #expect(server.requests.count == requests)
    }
    #expect(redirecting.requests.map(\.target) == ["/here", "/away", "/here", "/away"])
  }

  @Test func `TLS versions before 1_2 are refused`() async throws {
    var options = TLSProxy.Options()
    options.newestVersion = "1.1"
    let proxy = try TLSProxy(to: server.port, made.server, options)
    expectNothingSent(
      try await post(proxy.url) { $0.tls.authorities = LocalPath(made.authority) }, .tlsFailed)
    options.newestVersion = "1.2"
    let newer = try TLSProxy(to: server.port, made.server, options)
    let result = try await post(newer.url) { $0.tls.authorities = LocalPath(made.authority) }
    #expect(result.outcome == .ok)
    #expect(server.faults.isEmpty)
  }

  /// The server ended the connection before it was encrypted, as one does that is just being started. `finish` sends
  /// a FIN, `close` and `reset` send a reset.
  @Test(arguments: [[ScriptedStep.finish], [.closeWrite, .finish], [.reset]])
  func `a handshake that is cut sends nothing, and is retried`(ending: [ScriptedStep]) async throws {
    var options = ScriptedServer.Options()
    options.onConnect = { _ in ending }
    let server = try ScriptedServer(options) { _ in [.unexpected] }
    let url = "https://127.0.0.1:\(server.port)/"
    let result = try await makeSession().result(of: makeRequest(url, attempts: 2))
    #expect(result.outcome == .retryable, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(result.totalBytesSent == 0)
  }

  @Test func `a server without TLS is not retried`() async throws {
    var options = ScriptedServer.Options()
    options.onConnect = { _ in [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish] }
    let server = try ScriptedServer(options) { _ in [.unexpected] }
    let result = try await makeSession().result(
      of: makeRequest("https://127.0.0.1:\(server.port)/", attempts: 2))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .tlsFailed)
    #expect(result.attempts == 1)
  }

  /// An idle connection that the server is about to close ends like this, again and again.
  @Test(arguments: ["known", "unknown", "once"])
  func `if no byte of the body was sent over TLS, it is safe to send it again`(length: String)
    async throws
  {
    let cutting = try ScriptedServer(requests: [[.close], .good()])
    let proxy = try TLSProxy(to: cutting.port, made.server)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(made.authority)
    let body: TransferBody =
      switch length {
      case "known": .bytes(noise(3_000_000))
      case "once": oneShot(noise(3_000_000))
      default: .part(.stream { ScriptedSource(noise(3_000_000)) })
      }
    var request = try makeRequest(proxy.url, body)
    request.options.expectation = .always
    request.options.expectation.timeout = .seconds(60)
    let session = try TransferSession(configuration)
    let once = await session.result(of: request)
    #expect(once.outcome == .retryable, "\(String(describing: once.error))")
    #expect(once.bytesSent == 0)
    let again = await session.result(of: request)
    #expect(again.outcome == .ok, "\(String(describing: again.error))")
    #expect(cutting.requests.last?.body == noise(3_000_000))
  }

  @Test func `a Unix-domain socket is used, whatever the host's name`() async throws {
    let place = try TemporaryDirectory()
    let local = try ScriptedServer(on: .unix(place.local("socket"))) { _ in .good() }
    let result = try await post("http://nowhere.invalid/in") {
      $0.unixSocket = place.local("socket")
    }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(local.requests.first?.header("Host") == "nowhere.invalid")
    #expect(local.requests.first?.body == noise(1000))
    #expect(local.faults.isEmpty)
  }

  @Test func `a given address is used for its host`() async throws {
    let address = try #require(HostAddress("nowhere.invalid:\(server.port):127.0.0.1"))
    let result = try await post("http://nowhere.invalid:\(server.port)/in") {
      $0.addresses = [address]
    }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.first?.header("Host") == "nowhere.invalid:\(server.port)")
    #expect(server.faults.isEmpty)
  }
}
