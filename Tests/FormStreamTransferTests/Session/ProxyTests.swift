import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Requests through real proxies and through scripted ones.
@Suite(.serialized) struct ProxyTests {
  private static let user = RealProxy.User(name: "me", password: "canary")

  private let made: TestCertificates
  private let server: ScriptedServer
  /// The same server under TLS.
  private let encrypted: TLSProxy

  init() throws {
    made = try TestCertificates()
    server = try ScriptedServer { _ in .good(body: "safe") }
    encrypted = try TLSProxy(to: server.port, made.server)
  }

  private func session(
    _ proxy: ProxySettings, _ set: (inout TransferSession.Configuration) -> Void = { _ in }
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.proxy = proxy
    configuration.tls.authorities = LocalPath(made.authority)
    set(&configuration)
    return try TransferSession(configuration)
  }

  // MARK: Real proxies

  @Test(arguments: ["http", "socks5", "socks5h"], [true, false])
  func `uploads and downloads go through each proxy, with and without a password`(
    _ scheme: String, _ demandsUser: Bool
  ) async throws {
    let user = demandsUser ? Self.user : nil
    let proxy = try RealProxy(scheme == "http" ? .squid : .socks, user)
    let login = demandsUser ? "me:canary@" : ""
    let session = try session(.proxy("\(scheme)://\(login)127.0.0.1:\(proxy.port)"))
    // Not by a name: libcurl and the proxy try the first address of a name, and that may be one where no server listens.
    for url in [server.url, encrypted.url(host: "127.0.0.1")] {
      let before = server.requests.count
      let body = noise(3_000_000)
      var put = try TransferRequest(.put, url + "/up", body: .bytes(body))
      put.credentials = .bearer("origin")
      let result = await session.result(of: put)
      #expect(result.outcome == .ok, "\(url): \(String(describing: result.error))")
      #expect(result.response?.text == "safe")
      let get = await session.result(of: try makeRequest(.get, url + "/down", nil))
      #expect(get.outcome == .ok, "\(String(describing: get.error))")
      #expect(get.response?.text == "safe")
      let requests = Array(server.requests.dropFirst(before))
      #expect(requests.map(\.target) == ["/up", "/down"])
      #expect(requests.first?.body == body)
      #expect(requests.first?.values(of: "Authorization") == ["Bearer origin"])
      for request in requests {
        #expect(request.values(of: "Proxy-Authorization") == [])
        #expect(!request.headText.contains("bWU6"), "\(request.headText)")
        // squid says that it passed the request on; it can't into a tunnel.
        #expect((request.header("Via") != nil) == (scheme == "http" && url == server.url))
      }
    }
    #expect(server.faults == [])
  }

  @Test(arguments: ["http", "socks5h"], ["", "me:wrong@"])
  func `a proxy that demands another password gets nothing to pass on`(
    _ scheme: String, _ login: String
  ) async throws {
    let proxy = try RealProxy(scheme == "http" ? .squid : .socks, Self.user)
    let session = try session(.proxy("\(scheme)://\(login)127.0.0.1:\(proxy.port)"))
    for url in [server.url, encrypted.url] {
      let result = await session.result(of: try makeRequest(url, attempts: 3))
      #expect(result.outcome == .failed, "\(String(describing: result.error))")
      #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
      #expect(
        result.error?.description.contains("ProxySettings.credentials") == true,
        "\(String(describing: result.error))")
      #expect(result.attempts == 1)
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `names are resolved by the proxy, or here`() async throws {
    let proxy = try RealProxy(.socks)
    let name = "nowhere.invalid"
    let address = try #require(HostAddress("\(name):\(server.port):127.0.0.1"))
    let url = "http://\(name):\(server.port)/"
    let there = try session(.proxy("socks5h://127.0.0.1:\(proxy.port)")) {
      $0.addresses = [address]
    }
    let result = await there.result(of: try makeRequest(url))
    #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
    #expect(server.requests.isEmpty)
    let here = try session(.proxy("socks5://127.0.0.1:\(proxy.port)")) { $0.addresses = [address] }
    #expect(await here.result(of: try makeRequest(url)).outcome == .ok)
    let unknown = try session(.proxy("socks5://127.0.0.1:\(proxy.port)"))
    let lost = await unknown.result(of: try makeRequest(url))
    #expect([.hostNotFound, .hostLookupFailed].contains(lost.error?.code), "\(lost)")
  }

  /// A proxy of SOCKS4 gets an address of IPv4 or, with SOCKS4a, the name; and the user.
  @Test(arguments: ["socks4", "socks4a"])
  func `a proxy of SOCKS4 gets the address or the name, the user and the same bytes`(
    _ scheme: String
  ) async throws {
    let proxy = try SOCKS4Proxy(to: server.port)
    let name = "nowhere.invalid"
    let address = try #require(HostAddress("\(name):\(server.port):127.0.0.1"))
    var settings = try ProxySettings.proxy("\(scheme)://127.0.0.1:\(proxy.port)")
    settings.credentials = ProxyCredentials(user: "me", password: "canary")
    let session = try session(settings) {
      if scheme == "socks4" { $0.addresses = [address] }
    }
    let result = await session.result(of: try makeRequest("http://\(name):\(server.port)/"))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.count == 1)
    // SOCKS4: version, CONNECT, port, address, user. SOCKS4a: an address that is none, and the name at the end.
    let port = [UInt8(server.port >> 8), UInt8(server.port & 0xFF)]
    let expected: [UInt8] =
      scheme == "socks4"
      ? [4, 1] + port + [127, 0, 0, 1] + Array("me\0".utf8)
      : [4, 1] + port + [0, 0, 0, 1] + Array("me\0\(name)\0".utf8)
    #expect(proxy.requests == [expected])
  }

  @Test func `a refusal of a proxy of SOCKS4 is one that has sent nothing`() async throws {
    for (code, outcome) in [
      (UInt8(0x5B), TransferResult.Outcome.retryable), (0x5C, .failed), (0x5D, .failed),
    ] {
      let proxy = try SOCKS4Proxy(to: server.port, answering: code)
      let session = try session(.proxy("socks4://127.0.0.1:\(proxy.port)"))
      let result = await session.result(of: try makeRequest(server.url))
      #expect(result.outcome == outcome, "\(code): \(result)")
      #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
    }
    #expect(server.requests.isEmpty)
  }

  /// Regression: the message named the proxy's host.
  @Test func `a name that is not found here is the server's, and not the proxy's`() async throws {
    let proxy = try SOCKS4Proxy(to: server.port)
    let session = try session(.proxy("socks4://127.0.0.1:\(proxy.port)"))
    let result = await session.result(of: try makeRequest("http://nowhere.invalid:1/"))
    let text = try #require(result.error).description
    #expect([.hostNotFound, .hostLookupFailed].contains(result.error?.code), "\(text)")
    #expect(text.contains("\"nowhere.invalid\""), "\(text)")
    #expect(!text.contains("\"127.0.0.1\""), "\(text)")
    #expect(proxy.requests.isEmpty)
  }

  /// Regression: the message said that the host was not found.
  ///
  /// libcurl 7.88 does not release the address that it can't use, which the search for leaks reports.
  @Test(.enabled(if: sanitizer != "address"))
  func `an address of IPv6 can't be asked of a proxy of SOCKS4`() async throws {
    let proxy = try SOCKS4Proxy(to: server.port)
    let session = try session(.proxy("socks4://127.0.0.1:\(proxy.port)"))
    let result = await session.result(of: try makeRequest("http://[::1]:1/", attempts: 2))
    let text = try #require(result.error).description
    #expect(result.outcome == .failed && result.attempts == 1, "\(text)")
    #expect(text.contains("SOCKS4") && text.contains("IPv6"), "\(text)")
    #expect(!text.contains("not found"), "\(text)")
  }

  /// Regression: the reason was a sentence of libcurl.
  @Test func `the reason of a SOCKS proxy is said in our words`() async throws {
    var seen: [String] = []
    func text(_ proxy: String, _ url: String) async throws -> String {
      let session = try session(.proxy(proxy))
      let result = await session.result(of: try makeRequest(url))
      #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
      let text = try #require(result.error).description
      seen.append(text)
      let name = proxy.replacing("me:wrong@", with: "")
      #expect(text.contains("the proxy \(name) made no connection to http://127.0.0.1:"), "\(text)")
      return text
    }
    for (code, says) in [
      (UInt8(0x5B), "it refused the request, or could not carry it out"), (0x5C, "identd"),
      (0x5D, "identd"), (0x00, "unknown"),
    ] {
      let proxy = try SOCKS4Proxy(to: server.port, answering: code)
      #expect(try await text("socks4://127.0.0.1:\(proxy.port)", server.url).contains(says))
    }
    // What refuses each command of SOCKS5: the codes of RFC 1928 §6, and one that it doesn't have.
    for (code, says) in [
      (UInt8(1), "it failed"), (2, "its rules don't allow it"), (3, "the network can't be reached"),
      (4, "the host can't be reached"), (5, "nothing is listening there"), (6, "took too long"),
      (7, "command"), (8, "addresses of this kind"), (9, "unknown"),
    ] {
      let refusing = try SOCKS5Refusal(code)
      #expect(
        try await text("socks5h://127.0.0.1:\(refusing.port)", server.url).contains(says), "\(code)"
      )
    }
    let real = try RealProxy(.socks, Self.user)
    #expect(
      try await text("socks5h://me:wrong@127.0.0.1:\(real.port)", server.url)
        .contains("ProxySettings.credentials"))
    #expect(
      try await text("socks5h://127.0.0.1:\(real.port)", server.url)
        .contains("it demands a user and a password"))
    // A server of HTTP in place of a proxy.
    let other = try SOCKS5Refusal(nil)
    #expect(
      try await text("socks5h://127.0.0.1:\(other.port)", server.url)
        .contains("doesn't speak SOCKS5"))
    for text in seen {
      for word in [
        "connection to 127", "cannot", "rejected", "Can't complete", "initial", "authenticat",
      ] {
        #expect(!text.contains(word), "\(text)")
      }
    }
  }

  @Test func `a server that a proxy can't reach has got nothing`() async throws {
    let port = try ReservedPort()
    for (scheme, kind) in [("http", RealProxy.Kind.squid), ("socks5h", .socks)] {
      let proxy = try RealProxy(kind)
      let session = try session(.proxy("\(scheme)://127.0.0.1:\(proxy.port)"))
      let result = await session.result(
        of: try makeRequest("https://127.0.0.1:\(port.number)/", attempts: 2))
      #expect(result.outcome == .retryable, "\(String(describing: result.error))")
      #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
      #expect(result.attempts == 2)
      #expect(result.totalBytesSent == 0)
    }
  }

  // MARK: What proxies get

  @Test func `a proxy gets CONNECT and its own credentials, and nothing of the request`()
    async throws
  {
    let proxy = try ScriptedServer { _ in
      [.respond(403, headers: [("Set-Cookie", "a=canary")], body: "no"), .finish]
    }
    let session = try session(.proxy("http://me:secret@127.0.0.1:\(proxy.port)"))
    var request = try makeRequest(
      "https://me:canary@origin.example:8443/canary?canary", attempts: 3)
    request.headers.append("X-Key", "canary")
    request.headers.append("Cookie", "canary")
    request.headers.append("User-Agent", "canary")
    let result = await session.result(of: request)
    #expect(
      proxy.requests.first?.headText
        == "CONNECT origin.example:8443 HTTP/1.1\r\nHost: origin.example:8443\r\n"
        + "Proxy-Authorization: Basic bWU6c2VjcmV0\r\nProxy-Connection: Keep-Alive\r\n\r\n")
    #expect(proxy.requests.count == 1)
    #expect(proxy.connections.allSatisfy { $0.stray.isEmpty })
    // The proxy's response is not the server's.
    #expect(result.response == nil)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .proxyRefused)
    let message = result.error?.description ?? ""
    #expect(
      message.contains(
        "the proxy http://127.0.0.1:\(proxy.port) made no connection to "
          + "https://origin.example:8443 (it responded 403 to CONNECT)"), "\(message)")
    #expect(!message.contains("secret") && !message.contains("bWU6"))
  }

  @Test(arguments: [
    (407, false), (403, false), (404, false), (408, true), (429, true), (500, true), (502, true),
    (503, true),
    (504, true),
  ])
  func `a refused CONNECT sends nothing, and is repeated if it may help`(
    _ status: Int, _ isTransient: Bool
  ) async throws {
    let proxy = try ScriptedServer { _ in .good(status, headers: [("Retry-After", "0")]) }
    let session = try session(.proxy("http://127.0.0.1:\(proxy.port)"))
    let result = await session.result(
      of: try makeRequest("https://origin.example/", .bytes(noise(1000)), attempts: 2))
    #expect(result.outcome == (isTransient ? .retryable : .failed))
    #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
    #expect(result.attempts == (isTransient ? 2 : 1))
    #expect(result.response == nil)
    #expect(result.totalBytesSent == 0)
    #expect(proxy.requests.allSatisfy { $0.method == "CONNECT" && $0.bodyCount == 0 })
  }

  @Test func `a proxy of http gets the request as it is, and nothing after 407 is unknown`()
    async throws
  {
    let proxy = try ScriptedServer { request in
      .good(request.header("Proxy-Authorization") == nil ? 407 : 200, body: "passed on")
    }
    let url = "http://origin.example:81/a?b"
    let refused = try await session(proxy).result(of: try makeRequest(url, attempts: 3))
    #expect(refused.outcome == .failed)
    #expect(refused.error?.code == .proxyRefused)
    #expect(refused.status == 407)
    #expect(refused.attempts == 1)
    var request = try makeRequest(url, .bytes([1, 2]))
    request.headers.append("X-Mine", "1")
    let result = try await session(proxy, "me:secret@").result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "passed on")
    let got = try #require(proxy.requests.last)
    #expect(got.target == url)
    #expect(got.header("Host") == "origin.example:81")
    #expect(got.values(of: "Proxy-Authorization") == ["Basic bWU6c2VjcmV0"])
    #expect(got.values(of: "X-Mine") == ["1"])
    #expect(got.body == [1, 2])
    #expect(proxy.faults == [])
  }

  /// As Envoy does if the server acts, and closes the connection without a response.
  @Test func `a POST is not repeated after a 503 of the proxy that passed it on`() async throws {
    let proxy = try ScriptedServer { _ in .good(503) }
    let session = try session(proxy)
    let url = "http://origin.example/"
    let post = try await session.result(of: makeRequest(url, .bytes([1]), attempts: 3))
    #expect(post.outcome == .unknown && post.attempts == 1)
    let put = try await session.result(of: makeRequest(.put, url, .bytes([1]), attempts: 2))
    #expect(put.outcome == .retryable && put.attempts == 2)
  }

  @Test func `credentials that are for all requests are sent to a proxy that refuses them once`()
    async throws
  {
    let proxy = try ScriptedServer { _ in .good(407) }
    for url in ["http://a.example/", "https://a.example/"] {
      let session = try session(.proxy("http://me:wrong@127.0.0.1:\(proxy.port)")) {
        $0.sharesCredentials = true
      }
      let before = proxy.requests.count
      for _ in 0..<3 {
        let result = await session.result(of: try makeRequest(url))
        #expect(result.outcome == .failed)
        #expect(result.error?.code == .proxyRefused, "\(String(describing: result.error))")
      }
      #expect(proxy.requests.count - before == 1)
    }
  }

  @Test func `a server's own 407 is not said to be that of a proxy`() async throws {
    let server = try ScriptedServer { _ in .good(407) }
    let result = try await makeSession().result(of: try makeRequest(server.url))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .statusRefused)
    #expect(result.error?.description.contains("proxy") == false)
  }

  private func session(_ proxy: ScriptedServer, _ login: String = "") throws -> TransferSession {
    try session(.proxy("http://\(login)127.0.0.1:\(proxy.port)"))
  }

  @Test func `credentials of the settings come before those of the URL, and are never shown`()
    async throws
  {
    let proxy = try ScriptedServer { request in .good(request.method == "CONNECT" ? 403 : 200) }
    var settings = try ProxySettings.proxy("http://canary:canary@127.0.0.1:\(proxy.port)")
    settings.credentials = ProxyCredentials(user: "me", password: "secret")
    let received = ReceivedText()
    for url in ["http://origin.example/", "https://origin.example/"] {
      var request = try makeRequest(url)
      request.options.trace = { received.append($0.description + "\n") }
      _ = try await session(settings).result(of: request)
    }
    #expect(
      proxy.requests.map { $0.values(of: "Proxy-Authorization") }
        == [["Basic bWU6c2VjcmV0"], ["Basic bWU6c2VjcmV0"]])
    #expect(received.text.contains("> CONNECT origin.example:443 HTTP/1.1"), "\(received.text)")
    #expect(received.text.contains("> Proxy-Authorization: ***"), "\(received.text)")
    var dumped = ""
    dump(settings, to: &dumped)
    for text in [received.text, dumped, "\(settings)", String(reflecting: settings)] {
      for secret in ["canary", "secret", "bWU6", "Y2FuYXJ5"] {
        #expect(!text.contains(secret), "\(text)")
      }
    }
  }

  @Test func `a proxy is spoken to under TLS, and its certificate is verified`() async throws {
    let passing = try ScriptedServer { request in
      request.method == "CONNECT" ? .good(403) : .good(body: "passed on")
    }
    let proxy = try TLSProxy(to: passing.port, made.server)
    var settings = try ProxySettings.proxy("https://localhost:\(proxy.port)")
    let untrusted = await (try session(settings) { $0.tls.verifiesServer = false }).result(
      of: try makeRequest("http://origin.example/"))
    #expect(untrusted.error?.code == .certificateRefused, "\(String(describing: untrusted.error))")
    #expect(
      untrusted.error?.description.contains("the proxy's certificate is not trusted") == true
        && untrusted.error?.description.contains("ProxySettings.authorities") == true,
      "\(String(describing: untrusted.error))")
    #expect(passing.requests.isEmpty)
    settings.authorities = LocalPath(made.authority)
    let trusting = try session(settings)
    for number in 0..<2 {
      let result = await trusting.result(
        of: try makeRequest("http://origin.example/\(number)", .bytes(noise(100_000))))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(passing.requests.last?.body == noise(100_000))
    }
    let refused = await trusting.result(of: try makeRequest("https://origin.example/"))
    #expect(refused.error?.code == .proxyRefused, "\(String(describing: refused.error))")
    #expect(passing.faults == [])
  }

  /// A proxy passes requests on over HTTP/1.1, so that the response would not be HTTP/2.
  @Test func `HTTP/2 without TLS goes through a tunnel`() async throws {
    let proxy = try ScriptedServer { _ in .good(403) }
    let session = try session(.proxy("127.0.0.1:\(proxy.port)")) { $0.version = .http2 }
    let result = await session.result(of: try makeRequest("http://origin.example/"))
    #expect(proxy.requests.map(\.method) == ["CONNECT"])
    #expect(result.error?.code == .proxyRefused)
  }

  // MARK: Connections

  @Test func `nothing is listening where the proxy should be`() async throws {
    let nobody = try ReservedPort()
    for scheme in ["http", "socks5", "socks5h"] {
      let session = try session(.proxy("\(scheme)://127.0.0.1:\(nobody.number)"))
      let result = await session.result(of: try makeRequest(server.url, attempts: 2))
      #expect(result.outcome == .retryable)
      #expect(result.error?.code == .connectFailed)
      #expect(
        result.error?.description.contains("\(scheme)://127.0.0.1:\(nobody.number)") == true,
        "\(String(describing: result.error))")
    }
    let unknown = try session(.proxy("http://nowhere.invalid:1"))
    let result = await unknown.result(of: try makeRequest(server.url))
    #expect([.hostNotFound, .hostLookupFailed].contains(result.error?.code))
    #expect(
      result.error?.description.contains("nowhere.invalid") == true,
      "\(String(describing: result.error))")
    #expect(server.requests.isEmpty)
  }

  @Test func `a kept connection to a proxy is looked at before it is used`() async throws {
    let proxy = try ScriptedServer { request in
      request.number == 0 ? .good() + [.closeWrite, .finish] : .good()
    }
    let session = try session(.proxy("127.0.0.1:\(proxy.port)"))
    let first = await session.result(of: try makeRequest("http://a.example/"))
    #expect(first.outcome == .ok)
    #expect(proxy.waitForRequests(1))
    #expect(await eventually { waitUntilReadable(connectedTo: "127.0.0.1", port: proxy.port) })
    let second = await session.result(of: try makeRequest("http://b.example/"))
    #expect(second.outcome == .ok, "\(String(describing: second.error))")
    #expect(second.attempts == 1)
    // One connection serves all hosts.
    let third = await session.result(of: try makeRequest("http://c.example/"))
    #expect(third.outcome == .ok)
    #expect(proxy.connections.map(\.requests.count) == [1, 2])
  }

  @Test func `a host that hangs behind a proxy holds up no request to another`() async throws {
    let gate = try Gate()
    let proxy = try ScriptedServer { request in
      request.target.contains("slow") ? [.readBody, .waitFor(gate)] + .good() : .good()
    }
    let session = try session(.proxy("127.0.0.1:\(proxy.port)")) {
      $0.maximumConnectionsPerHost = 1
    }
    let slow = session.start(try makeRequest("http://slow.example/"))
    #expect(proxy.waitForRequests(1))
    let other = await session.result(of: try makeRequest("http://other.example/"))
    #expect(other.outcome == .ok)
    gate.open()
    #expect(await slow.result.outcome == .ok)
  }

  @Test func `each redirect chooses its proxy again`() async throws {
    let end = server.url + "/end"
    let proxy = try ScriptedServer { request in
      request.target.contains("a.example")
        ? .good(307, headers: [("Location", end)]) : [.unexpected]
    }
    let settings = try ProxySettings.proxy(
      "http://me:secret@127.0.0.1:\(proxy.port)", except: "127.0.0.1")
    var request = try makeRequest("http://a.example/")
    request.options.redirects.allowsOtherOrigins = true
    let result = try await session(settings).result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(proxy.requests.map(\.target) == ["http://a.example/"])
    #expect(server.requests.map(\.target) == ["/end"])
    #expect(server.requests.first?.values(of: "Proxy-Authorization") == [])
  }

  // MARK: Settings

  @Test func `variables choose a proxy by the scheme, as in curl`() async throws {
    let (plain, tunnel, all) = (
      try ScriptedServer { _ in .good(403) }, try ScriptedServer { _ in .good(403) },
      try ScriptedServer { _ in .good(403) }
    )
    func ports(_ variables: [String: String], _ url: String) async throws -> [Int] {
      let before = [plain, tunnel, all].map(\.requests.count)
      _ = try await session(.environment(variables)).result(of: try makeRequest(url))
      return zip([plain, tunnel, all], before).map { $0.requests.count - $1 }
    }
    let variables = [
      "http_proxy": "127.0.0.1:\(plain.port)", "HTTPS_PROXY": "http://127.0.0.1:\(tunnel.port)",
      "ALL_PROXY": "127.0.0.1:\(all.port)", "no_proxy": "no.example",
    ]
    #expect(try await ports(variables, "http://a.example/") == [1, 0, 0])
    #expect(try await ports(variables, "https://a.example/") == [0, 1, 0])
    let fewer = variables.filter { $0.key == "ALL_PROXY" || $0.key == "no_proxy" }
    #expect(try await ports(fewer, "http://a.example/") == [0, 0, 1])
    #expect(try await ports(fewer, "https://a.example/") == [0, 0, 1])
    #expect(try await ports(fewer, "http://a.no.example:1/") == [0, 0, 0])
    // A web server sets this to what a client sends.
    let planted = ["HTTP_PROXY": "127.0.0.1:\(plain.port)"]
    #expect(try await ports(planted, "http://127.0.0.1:1/") == [0, 0, 0])
  }

  @Test func `what is not a proxy is an error that does not show it`() async throws {
    for text in [
      "", "canary://h", "socks6://canary:1", "http://", "http://h:port", "http://h/canary.pac",
      "http://me:can\nary@h", "http://me:canary%00@h",
    ] {
      let error = try #require(throws: TransferError.self) { try ProxySettings.proxy(text) }
      #expect(error.code == .invalidSetting)
      #expect(!error.description.contains("canary"), "\(error)")
    }
    let session = try session(.environment(["http_proxy": "canary://h"]))
    let result = await session.result(of: try makeRequest(server.url))
    #expect(result.error?.code == .invalidSetting)
    #expect(result.error?.description.contains("http_proxy") == true)
    #expect(result.error?.description.contains("canary") == false)
    #expect(server.requests.isEmpty)
    let place = try TemporaryDirectory()
    #expect(throws: TransferError.self) {
      try self.session(.proxy("h:1")) { $0.unixSocket = place.local("socket") }
    }
  }

  /// The installed curl is shown each row, too.
  @Test(arguments: [
    ("example.org", "example.org", true), ("example.org", "a.example.org", true),
    (".example.org", "example.org", true), ("example.org", "anexample.org", false),
    ("ample.org", "example.org", false), ("EXAMPLE.org", "example.ORG", true),
    ("example.org.", "example.org", true), ("a, example.org", "example.org", true),
    ("a example.org", "example.org", true), ("*", "example.org", true),
    ("a,*", "example.org", false), ("", "example.org", false), ("127.0.0.1", "127.0.0.1", true),
    ("127.0.0.0/8", "127.9.9.9", true), ("127.0.0.0/16", "127.9.9.9", false),
    ("10.0.0.0/9", "10.127.0.1", true), ("10.0.0.0/9", "10.128.0.1", false),
    ("0.0.1", "127.0.0.1", false), ("::1", "[::1]", true), ("[::1]", "[::1]", false),
    ("fe80::/10", "[fe81::1]", true), ("fe80::/10", "[ff81::1]", false),
    ("127.0.0.1/33", "127.0.0.1", false),
  ])
  func `exceptions are those of curl`(_ list: String, _ host: String, _ isDirect: Bool) async throws {
    let proxy = try ScriptedServer { _ in .good() }
    let url = "http://\(host):1/"
    let settings = try ProxySettings.proxy("127.0.0.1:\(proxy.port)", except: list)
    var request = try makeRequest(.get, url, nil)
    request.options.timeLimits.connect = .seconds(1)
    _ = try await session(settings) {
      $0.addresses = [HostAddress("\(host):1:127.0.0.1")].compactMap(\.self)
    }.result(of: request)
    #expect(proxy.requests.isEmpty == isDirect)
    // The installed curl doesn't match blocks of IPv6, although its manual says so.
    if list.hasSuffix("::/10") { return }
    let resolved = host.contains(":") ? [] : ["--resolve", "\(host):1:127.0.0.1"]
    let curled = try curl(
      [
        "-x", "127.0.0.1:\(proxy.port)", "--noproxy", list, "--connect-timeout", "1", "-o",
        "/dev/null", "-w", "%{http_code}",
      ] + resolved + [url])
    #expect((curled.output == "000") == isDirect, "\(curled)")
  }

  @Test func `credentials over http are exposed to a proxy on another machine`() async throws {
    for (proxy, url, isExposed) in [
      ("http://proxy.example:1", server.url, true), ("http://127.0.0.1:1", server.url, false),
      ("http://proxy.example:1", "https://a.example/", false),
    ] {
      var request = try makeRequest(url)
      request.credentials = .bearer("a")
      request.options.requiresEncryptionForCredentials = true
      let result = try await session(.proxy(proxy)).result(of: request)
      #expect((result.error?.code == .credentialsNotEncrypted) == isExposed, "\(proxy) \(url)")
      let direct = try await session(.proxy(proxy, except: "*")).result(
        of: try makeRequest(.get, server.url, nil))
      #expect(direct.outcome == .ok)
    }
  }
}
