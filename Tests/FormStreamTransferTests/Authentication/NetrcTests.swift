import FormStreamMultipart
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// The users and passwords of netrc files.
@Suite struct NetrcTests {
  private static let text = """
    # machine h.example login comment password canary
    machine H.example login me password "a b\\"c\\\\d\\te"
    machine h.example
      login other account none
      password p#2 # a comment
    macdef init
      machine h.example login macro password canary

    machine sub.h.example password only
    default login anyone password canary
    machine last.example login "" password ""
    """

  private func credentials(_ host: String, _ login: String? = nil) throws -> Credentials? {
    try Netrc(parsing: Self.text).credentials(for: host, login: login)
  }

  @Test func `only the entry of exactly this host is used`() throws {
    #expect(
      try credentials("h.example") == .basic(user: "me", password: "a b\"c\\d\te"))
    #expect(try credentials("h.example", "other") == .basic(user: "other", password: "p#2"))
    #expect(try credentials("last.example") == .basic(user: "", password: ""))
    // As in curl, an entry without a login is for each user.
    #expect(try credentials("sub.h.example") == .basic(user: "", password: "only"))
    #expect(try credentials("sub.h.example", "me") == .basic(user: "me", password: "only"))
    for host in ["example", "x.h.example", "h.example.org", "elsewhere.example"] {
      #expect(try credentials(host) == nil, "\(host)")
    }
    for login in ["comment", "macro", "anyone", "Me"] {
      #expect(try credentials("h.example", login) == nil, "\(login)")
    }
  }

  @Test func `keywords are in any case, and what other programs need is no error`() throws {
    let netrc = try Netrc(parsing: "\u{FEFF}MACHINE h Port 587 Login me\r\n PASSWORD Secret\r\n")
    #expect(netrc.credentials(for: "h") == .basic(user: "me", password: "Secret"))
  }

  @Test(arguments: [
    "machine", "machine h login", "machine h login me password", "machine h canary",
    "machine h password \"canary", "\"canary\"", "machine h login me password can ary",
    "machine h login me password \"can\nary\"",
  ])
  func `a file that is not valid is an error that shows nothing of it`(text: String) throws {
    let error = #expect(throws: TransferError.self) { try Netrc(parsing: "\n\n" + text) }
    #expect(error?.code == .netrcMalformed)
    let message = "\(String(describing: error))"
    #expect(message.contains("Line 3") && !message.contains("can"), "\(message)")
  }

  @Test func `printing and dumping show no secrets`() throws {
    let netrc = try Netrc(parsing: "machine h login canary password canary")
    var dumped = ""
    dump(netrc, to: &dumped)
    #expect(!"\(netrc)\(String(reflecting: netrc))\(dumped)".contains("canary"))
  }

  /// The request's own credentials come first, then those of the URL.
  @Test func `an entry is used if the request has no credentials`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var configuration = TransferSession.Configuration()
    configuration.netrc = try Netrc(
      parsing: "machine 127.0.0.1 login a password b machine 127.0.0.1 login c password d")
    let session = try TransferSession(configuration)
    let headers = { (request: TransferRequest) async -> String? in
      _ = await session.result(of: request)
      return server.requests.last?.header("Authorization")
    }
    #expect(try await headers(makeRequest(server.url)) == "Basic YTpi")
    let users = { (user: String) in server.url.replacing("//", with: "//\(user)@") }
    #expect(try await headers(makeRequest(users("c"))) == "Basic Yzpk")
    #expect(try await headers(makeRequest(users("x"))) == "Basic eDo=")
    #expect(try await headers(makeRequest(users("x:y"))) == "Basic eDp5")
    var own = try makeRequest(server.url)
    own.credentials = .bearer("t")
    #expect(await headers(own) == "Bearer t")
    own.headers.append("Authorization", "Mine")
    #expect(await headers(own) == "Mine")
    #expect(try await headers(makeRequest(server.url(host: "localhost"))) == nil)
  }

  @Test func `a user in the URL without an entry is not sent at once if Digest is asked for`()
    async throws
  {
    let server = try ScriptedServer { _ in .good(401) }
    var configuration = TransferSession.Configuration()
    var netrc = try Netrc(parsing: "machine 127.0.0.1 login a password b")
    netrc.scheme = .digest
    configuration.netrc = netrc
    _ = try await TransferSession(configuration).result(
      of: makeRequest(server.url.replacing("//", with: "//bob@")))
    #expect(server.requests.map { $0.header("Authorization") } == [nil])
  }

  @Test func `a redirect to another host gets that host's entry, and no other`() async throws {
    let there = try ScriptedServer { _ in .good() }
    let other = try ScriptedServer(on: .ip("127.0.0.3", port: 0)) { _ in .good() }
    let (named, unnamed) = (there.url(host: "localhost"), other.url)
    let here = try ScriptedServer { request in
      .good(307, headers: [("Location", request.target == "/named" ? named : unnamed)])
    }
    var configuration = TransferSession.Configuration()
    configuration.netrc = try Netrc(
      parsing: "machine 127.0.0.1 login a password b machine localhost login c password d")
    let session = try TransferSession(configuration)
    for target in ["/named", "/unnamed"] {
      var request = try makeRequest(here.url + target)
      request.options.redirects.allowsOtherOrigins = true
      let result = await session.result(of: request)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    #expect(here.requests.map { $0.header("Authorization") } == ["Basic YTpi", "Basic YTpi"])
    #expect(there.requests.map { $0.header("Authorization") } == ["Basic Yzpk"])
    #expect(other.requests.map { $0.header("Authorization") } == [nil])
  }

  @Test func `an entry is not sent without encryption if that is refused`() async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    var configuration = TransferSession.Configuration()
    configuration.addresses = [try #require(HostAddress("h.example:\(server.port):127.0.0.1"))]
    configuration.netrc = try Netrc(parsing: "machine h.example login a password b")
    var request = try makeRequest("http://h.example:\(server.port)/")
    request.options.requiresEncryptionForCredentials = true
    let result = try await TransferSession(configuration).result(of: request)
    #expect(result.error?.code == .credentialsNotEncrypted)
    #expect(server.requests.isEmpty)
  }
}
