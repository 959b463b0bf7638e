import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// What is meant for one server is not sent to another.
@Suite struct CrossOriginTests {
  /// A request full of secrets.
  private func secretive(_ method: HTTPMethod, _ url: String, leaves: Bool) throws
    -> TransferRequest
  {
    let url = url.replacing("http://", with: "http://canary-user:canary-word@")
      .replacing("https://", with: "https://canary-user:canary-word@")
    var request = try makeRequest(method, url, method == .get ? nil : .bytes("the body".utf8))
    request.headers.append("X-Canary", "canary")
    request.headers.append("Cookie", "canary=1")
    request.headers.append("User-Agent", "canary")
    request.headers.append("Referer", "http://canary.example/")
    request.options.idempotencyKey = IdempotencyKey("canary")
    request.options.redirects.allowsOtherOrigins = leaves
    return request
  }

  private func isClean(_ request: RecordedRequest) -> Bool {
    !request.headText.lowercased().contains("canary")
      && ["authorization", "cookie", "idempotency-key", "referer"].allSatisfy {
        request.header($0) == nil
      }
  }

  /// The other origins, by the component in which they differ.
  enum Difference: CaseIterable {
    case port, name, address, scheme
  }

  /// The server that receives the request first, and another one.
  private struct Place {
    let here: ScriptedServer
    let there: ScriptedServer
    let proxy: TLSProxy?
    let certificates: TestCertificates?
    let session: TransferSession

    init(_ difference: Difference, _ status: Int) throws {
      var location = ""
      let responses: ScriptedServer.Script = { request in
        switch request.target {
        case "/start":
          .good(status, headers: [("Location", "/next")], body: "not yet")
        case "/there":
          .good(status, headers: [("Location", "back")])
        default: .good(body: "arrived")
        }
      }
      // The first server's redirect contains the second's address.
      let there = try ScriptedServer(script: responses)
      let port = there.port
      var configuration = TransferSession.Configuration()
      var proxy: TLSProxy?
      var certificates: TestCertificates?
      switch difference {
      case .port: location = "\(there.url)/there"
      case .name: location = "SAME-PORT"
      case .address: location = "http://127.0.0.2"
      case .scheme:
        let authority = try TestCertificates()
        configuration.tls.authorities = LocalPath(authority.authority)
        let made = try TLSProxy(to: port, authority.server)
        certificates = authority
        location = "\(made.url(host: "127.0.0.1"))/there"
        proxy = made
      }
      let target = location
      // Another test's server may have the same port at the other address, unless it is reserved at all.
      let shared = try ReservedPort()
      let here = try ScriptedServer(on: shared.address()) { request in
        guard request.target == "/start" else { return responses(request) }
        let own = request.header("Host")?.split(separator: ":").last.map(String.init) ?? ""
        let location =
          switch difference {
          case .name: "http://localhost:\(own)/there"
          case .address: "\(target):\(own)/there"
          default: target
          }
        return .good(status, headers: [("Location", location)], body: "not here")
      }
      // Another address with the same port.
      self.there =
        difference == .address
        ? try ScriptedServer(on: shared.address(at: "127.0.0.2"), script: responses) : there
      self.here = here
      self.proxy = proxy
      self.certificates = certificates
      session = try TransferSession(configuration)
    }
  }

  @Test(
    arguments: [301, 302, 303, 307, 308], Difference.allCases)
  func `another origin receives nothing unless that is allowed`(status: Int, difference: Difference)
    async throws
  {
    let place = try Place(difference, status)
    for method in [HTTPMethod.post, .get] {
      let result = try await place.session.result(
        of: secretive(method, place.here.url + "/start", leaves: false))
      if method == .post, status == 303 {
        #expect(result.outcome == .ok)
      } else {
        #expect(result.outcome == .failed)
        #expect(result.error?.code == .redirectRefused)
        #expect("\(String(describing: result.error))".contains("canary") == false)
      }
      #expect(result.attempts == 1)
    }
    #expect(place.here.requests.map(\.target) == ["/start", "/start"])
    #expect(place.there.connections.isEmpty)
    #expect(place.here.faults + place.there.faults == [])
  }

  @Test(
    arguments: [301, 302, 303, 307, 308], Difference.allCases)
  func `if another origin is allowed, it receives no secrets`(status: Int, difference: Difference)
    async throws
  {
    let place = try Place(difference, status)
    for method in [HTTPMethod.post, .get] {
      let result = try await place.session.result(
        of: secretive(method, place.here.url + "/start", leaves: true))
      if method == .post, status < 303 {
        #expect(result.outcome == .failed)
        #expect(result.error?.code == .redirectRefused)
      } else {
        #expect(result.outcome == .ok, "\(String(describing: result.error))")
        #expect(result.response?.text == "arrived")
      }
    }
    let (first, others) = (
      place.here.requests.filter { $0.target == "/start" },
      (place.here.requests + place.there.requests).filter { $0.target != "/start" }
    )
    #expect(first.count == 2)
    #expect(first.allSatisfy { !isClean($0) })
    #expect(others.count == (status < 303 ? 2 : 4))
    #expect(others.allSatisfy(isClean), "\(others.map(\.headText))")
    #expect(place.here.faults + place.there.faults == [])
    if status > 303 {
      #expect(others.filter { $0.method == "POST" }.map(\.bodyText) == ["the body", "the body"])
    }
  }

  /// They describe the body, which is sent again; nothing else of the request's own headers is.
  @Test func `the headers that describe the body go with it`() async throws {
    let place = try Place(.port, 307)
    var request = try secretive(.post, place.here.url + "/start", leaves: true)
    request.headers.append("Content-Type", "application/x-special")
    request.headers.append("Content-Encoding", "gzip")
    let result = await place.session.result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    let others = (place.here.requests + place.there.requests).filter { $0.target != "/start" }
    #expect(others.count == 2)
    #expect(
      others.map { $0.header("Content-Type") } == [
        "application/x-special", "application/x-special",
      ])
    #expect(others.map { $0.header("Content-Encoding") } == ["gzip", "gzip"])
    #expect(others.allSatisfy(isClean), "\(others.map(\.headText))")
  }

  @Test func `secrets are not sent again when the request returns to its origin`() async throws {
    let back = try ScriptedServer { request in
      let home = request.target.dropFirst().replacing("_", with: "/")
      return .good(307, headers: [("Location", "http://\(home)/home")])
    }
    let port = back.port
    let here = try ScriptedServer { request in
      guard request.target == "/start" else { return .good() }
      let own = request.header("Host") ?? ""
      return .good(307, headers: [("Location", "http://127.0.0.1:\(port)/\(own)")])
    }
    let result = try await makeSession().result(
      of: secretive(.post, here.url + "/start", leaves: true))
    #expect(result.outcome == .ok)
    #expect(here.requests.map(\.target) == ["/start", "/home"])
    #expect(back.requests.count == 1)
    #expect(here.requests.first.map(isClean) == false)
    #expect(here.requests.last.map(isClean) == true)
    #expect(back.requests.allSatisfy(isClean))
    expectConsistency(result, at: here, back)
  }

  @Test(arguments: [301, 303, 307])
  func `an encrypted request is never sent again without encryption`(status: Int) async throws {
    let certificates = try TestCertificates()
    let plain = try ScriptedServer { _ in [.unexpected] }
    let url = plain.url
    let server = try ScriptedServer { _ in .good(status, headers: [("Location", "\(url)/end")]) }
    let proxy = try TLSProxy(to: server.port, certificates.server)
    defer { withExtendedLifetime(certificates) {} }
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    for method in [HTTPMethod.post, .get] {
      let result = try await session.result(of: secretive(method, proxy.url, leaves: true))
      if method == .post, status == 303 {
        #expect(result.outcome == .ok)
        #expect(result.status == 303)
      } else {
        #expect(result.outcome == .failed)
        #expect(result.error?.code == .redirectRefused)
      }
    }
    #expect(plain.connections.isEmpty)
    #expect(server.requests.count == 2)
    #expect(server.faults + plain.faults == [])
  }
}
