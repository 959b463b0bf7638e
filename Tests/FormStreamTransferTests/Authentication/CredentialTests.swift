import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// What a request authenticates itself with, and who can read it.
@Suite struct CredentialTests {
  private func authorization(
    _ credentials: Credentials?, user: String = "", header: String? = nil
  ) async throws -> [String]? {
    let server = try ScriptedServer { _ in .good() }
    var request = try makeRequest(.get, server.url.replacing("//", with: "//\(user)"), nil)
    request.credentials = credentials
    if let header { request.headers.append("Authorization", header) }
    let result = try await makeSession().result(of: request)
    expectConsistency(result, at: server)
    #expect(server.requests.first?.target == "/")
    #expect(server.requests.first?.header("Host")?.contains("@") == false)
    return server.requests.first?.values(of: "Authorization")
  }

  /// RFC 7617 §2 and §2.1; RFC 6750 §2.1.
  @Test func `credentials are written as the RFCs say`() async throws {
    let aladdin = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    #expect(
      try await authorization(.basic(user: "Aladdin", password: "open sesame")) == [aladdin])
    #expect(
      try await authorization(.basic(user: "test", password: "123£")) == ["Basic dGVzdDoxMjPCow=="])
    #expect(try await authorization(.basic(user: "", password: "")) == ["Basic Og=="])
    #expect(try await authorization(.bearer("mF_9.B5f-4.1JqM")) == ["Bearer mF_9.B5f-4.1JqM"])
    #expect(try await authorization(nil, user: "Aladdin:open%20sesame@") == [aladdin])
    #expect(try await authorization(nil, user: "test:123%C2%A3@") == ["Basic dGVzdDoxMjPCow=="])
    #expect(try await authorization(nil, user: "a@") == ["Basic YTo="])
    #expect(try await authorization(nil) == [])
    // The most specific one counts: a header before credentials, and these before the URL.
    #expect(try await authorization(.bearer("b"), user: "a:b@") == ["Bearer b"])
    #expect(try await authorization(.bearer("b"), user: "a:b@", header: "Mine c") == ["Mine c"])
  }

  /// RFC 7617 §2: "a user-id containing a colon character is invalid". The server read `a` and `b:c`.
  @Test(arguments: [false, true])
  func `a user with a colon is not sent as another user and another password`(
    isInURL: Bool
  ) async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    var request = try makeRequest(server.url.replacing("//", with: isInURL ? "//a%3Ab:c@" : "//"))
    if !isInURL { request.credentials = .basic(user: "a:b", password: "c", onChallenge: true) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidHeader)
    #expect(result.error?.description.contains("colon") == true)
    #expect(server.connections.isEmpty)
  }

  @Test func `a user with a colon is not sent by Basic where Digest was preferred, or to a proxy`()
    async throws
  {
    let server = try ScriptedServer { request in
      .good(401, headers: [("WWW-Authenticate", "Basic realm=\"a\"")])
    }
    var request = try makeRequest(server.url)
    request.credentials = .strongestOffered(user: "a:b", password: "c")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidHeader)
    #expect(server.requests.map { $0.header("Authorization") } == [nil])

    let proxy = try ScriptedServer { _ in [.unexpected] }
    var configuration = TransferSession.Configuration()
    configuration.proxy = try .proxy("http://a%3Ab:c@127.0.0.1:\(proxy.port)")
    let passedOn = try await TransferSession(configuration).result(of: makeRequest(server.url))
    #expect(passedOn.error?.code == .invalidSetting)
    #expect(proxy.connections.isEmpty)
  }

  @Test(arguments: ["a\nb", "a\r\nX-Evil: 1", "a\0", "a\u{7F}"])
  func `a token can't contain line breaks`(token: String) async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    var request = try makeRequest(server.url)
    request.credentials = .bearer(token)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidHeader)
    #expect(result.error?.description.contains(token) == false)
    expectConsistency(result, at: server, bodies: 0)
  }

  @Test func `the description of credentials is masked`() {
    #expect("\(Credentials.bearer("canary"))" == "Bearer ***")
    #expect("\(Credentials.basic(user: "canary", password: "canary"))" == "Basic ***")
  }

  @Test func `no secret is in a trace or a result`() async throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0:
        .good(
          503, headers: [("Set-Cookie", "canary=1"), ("Proxy-Authorization", "canary")])
      case 1: .good(307, headers: [("Location", "http://canary:canary@127.0.0.1:9/end")])
      default: [.unexpected]
      }
    }
    let received = ReceivedText()
    var request = try makeRequest(
      server.url.replacing("//", with: "//canary:canary@") + "/start", attempts: 2)
    for name in [
      "Cookie", "Proxy-Authorization", "X-API-Key", "X-Auth-Token", "authorization",
    ] {
      request.headers.append(name, "canary")
    }
    request.headers.append("X-Mine", "canary", isSecret: true)
    request.headers.append("X-Open", "open")
    request.options.trace = { received.append($0.description + "\n") }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(server.requests.first?.headText.contains("canary") == true)
    #expect(!received.text.contains("canary"), "\(received.text)")
    for line in ["> X-Mine: ***", "> Cookie: ***", "> X-Open: open", "< Set-Cookie: ***", "* "] {
      #expect(received.text.contains(line), "\(line)")
    }
    #expect(!"\(String(describing: result.error))".contains("canary"))
    #expect(!"\(result.url)".contains("canary"))
    #expect(server.faults == [])
  }

  @Test func `printing and dumping show no secrets`() async throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "canary")]) }
    var request = try makeRequest(
      server.url.replacing("//", with: "//canary:canary@") + "/start?token=canary&page=2")
    request.credentials = .basic(user: "canary", password: "canary")
    request.query = [URLEncodedField("sig", "canary"), URLEncodedField("size", "3")]
    request.headers.append("X-Passwd", "canary")
    request.headers.append("X-Mine", "canary", isSecret: true)
    request.headers.append("X-Next", "http://canary@a.example/?code=canary")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(server.requests.first?.target == "/start?token=canary&page=2&sig=canary&size=3")
    #expect(result.response?.headers["Set-Cookie"] == "canary")
    for (value, plain) in [
      (request, "page=2"), (request.url, "page=2"), (request.headers, "X-Passwd"),
      (request.credentials as Any, "Basic ***"), (request.query, "size"), (result, "Set-Cookie"),
      (result.response as Any, "Set-Cookie"),
    ] as [(Any, String)] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "\(text)")
        #expect(text.contains(plain), "\(text)")
      }
    }
  }

  @Test func `a secret URL is shown by its origin alone`() async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/canary": .good(307, headers: [("Location", "/canary/next?canary")])
      default: .good(307, headers: [("Location", "http://127.0.0.2:9/canary")])
      }
    }
    let received = ReceivedText()
    var request = try makeRequest(server.url + "/canary")
    request.url.isSecret = true
    request.options.trace = { received.append($0.description + "\n") }
    let result = try await makeSession().result(of: request)
    #expect(result.error?.code == .redirectRefused)
    #expect(server.requests.map(\.target) == ["/canary", "/canary/next?canary"])
    for text in [
      received.text, "\(String(describing: result.error))", "\(result.url)", "\(request)",
    ] {
      #expect(!text.contains("canary"), "\(text)")
    }
    #expect("\(result.url)" == "\(server.url)/***")
    #expect(received.text.contains("> POST /*** HTTP/1.1\n"), "\(received.text)")
  }

  @Test func `credentials over http can be refused before anything is sent`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var configuration = TransferSession.Configuration()
    configuration.addresses = [try #require(HostAddress("h.example:\(server.port):127.0.0.1"))]
    let session = try TransferSession(configuration)
    for (host, credentials, header, isRefused) in [
      ("h.example", .bearer("a"), nil, true), ("me:a@h.example", nil, nil, true),
      ("h.example", nil, "Basic a", true), ("h.example", nil, nil, false),
      ("127.0.0.1", .bearer("a"), nil, false), ("localhost", .bearer("a"), nil, false),
      ("127.0.0.1.h.example", .bearer("a"), nil, true),
    ] as [(String, Credentials?, String?, Bool)] {
      for refuses in [true, false] where refuses || host == "h.example" {
        var request = try makeRequest("http://\(host):\(server.port)/")
        request.credentials = credentials
        if let header { request.headers.append("Authorization", header) }
        request.options.requiresEncryptionForCredentials = refuses
        let before = server.requests.count
        let result = await session.result(of: request)
        let isSent = !(refuses && isRefused)
        #expect(result.error?.code == (isSent ? nil : .credentialsNotEncrypted), "\(host)")
        #expect(result.outcome == (isSent ? .ok : .failed))
        #expect(server.requests.count - before == (isSent ? 1 : 0), "\(host)")
      }
    }
  }

  @Test func `basic credentials are masked in a trace, although they are encoded`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let received = ReceivedText()
    var request = try makeRequest(server.url)
    request.credentials = .basic(user: "Aladdin", password: "open sesame")
    request.options.trace = { received.append($0.description + "\n") }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(!received.text.contains("QWxhZGRpbjpvcGVuIHNlc2FtZQ"))
    #expect(received.text.contains("> Authorization: ***"))
    #expect(received.text.contains("> POST / HTTP/1.1"))
    #expect(received.text.contains("< HTTP/1.1 200 OK"))
    expectConsistency(result, at: server)
  }
}
