import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// A program that follows a redirect with other headers, or with another method.
@Suite struct RedirectChangeTests {
  private typealias Decide = @Sendable (ProposedRedirect) async throws -> RedirectChoice

  private func redirected(
    _ method: HTTPMethod, _ url: String, _ body: TransferBody? = nil, attempts: Int = 1, _ decide: @escaping Decide
  ) throws -> TransferRequest {
    var request = try makeRequest(method, url, body, attempts: attempts)
    request.options.decisions.redirect = decide
    request.options.redirects.allowsOtherOrigins = true
    return request
  }

  /// Redirects `/start`, and accepts everything else.
  private func server(_ location: String = "/end", _ status: Int = 307) throws -> ScriptedServer {
    try ScriptedServer { $0.target == "/start" ? .good(status, headers: [("Location", location)]) : .good() }
  }

  @Test func `changed headers are sent with the same body, and in its repetitions`() async throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0: .good(307, headers: [("Location", "/end")])
      case 1: .good(503, headers: [("Retry-After", "0")])
      default: .good()
      }
    }
    let body = TransferBody.form(Form(boundary: try Boundary("B")) { Part.text("a", "b") })
    var request = try redirected(.post, server.url + "/start", body, attempts: 2) { redirect in
      #expect(redirect.headers.map(\.name) == ["X-Old", "X-Kept"])
      var headers = redirect.headers
      headers.remove("X-Old")
      headers.append("X-New", "2")
      return .follow(with: headers)
    }
    request.headers = ["X-Old": "1", "X-Kept": "3"]
    request.options.idempotencyKey = IdempotencyKey("once")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.target) == ["/start", "/end", "/end"])
    for arrived in server.requests.dropFirst() {
      #expect(arrived.header("X-Old") == nil && arrived.header("X-New") == "2" && arrived.header("X-Kept") == "3")
      #expect(arrived.header("Content-Type") == "multipart/form-data; boundary=B")
      #expect(arrived.header("Idempotency-Key") == "\"once\"")
      #expect(arrived.bodyText == server.requests[0].bodyText)
    }
    expectConsistency(result, at: server, bodies: 3)
  }

  @Test func `another origin receives the headers that are given for it, and the next origin none of them`() async throws {
    let third = try server()
    let second = try ScriptedServer { request in
      .good(307, headers: [("Location", request.target == "/second" ? "/again" : "\(third.url)/third")])
    }
    let first = try server("\(second.url)/second")
    let origin = try HTTPURL(second.url).origin
    var request = try redirected(.post, first.url + "/start", .bytes("a".utf8)) { redirect in
      guard redirect.source.origin != origin, redirect.target.origin == origin else { return .follow }
      #expect(redirect.headers.isEmpty)
      return .follow(with: ["Authorization": "Bearer second", "X-Given": "1"])
    }
    request.headers = ["Authorization": "Bearer first", "Cookie": "a=b"]
    request.options.idempotencyKey = IdempotencyKey("once")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(first.requests.map { $0.header("Authorization") } == ["Bearer first"])
    #expect(second.requests.map { $0.header("Authorization") } == ["Bearer second", "Bearer second"])
    #expect(second.requests.map { $0.header("X-Given") } == ["1", "1"])
    #expect(third.requests.map { $0.header("Authorization") } == [nil])
    #expect(third.requests.map { $0.header("X-Given") } == [nil])
    for arrived in second.requests + third.requests {
      #expect(arrived.header("Cookie") == nil && arrived.header("Idempotency-Key") == nil && arrived.bodyText == "a")
    }
  }

  @Test(
    arguments: [("POST", "PUT"), ("PATCH", "PUT"), ("POST", "PATCH"), ("GET", "HEAD"), ("HEAD", "GET"), ("PUT", "PUT")])
  func `a method that proves as much may take the place of another`(old: String, new: String) async throws {
    let server = try server()
    let body: TransferBody? = ["GET", "HEAD"].contains(old) ? nil : .bytes("important".utf8)
    let (old, new) = (try #require(HTTPMethod(parsing: old)), try #require(HTTPMethod(parsing: new)))
    let request = try redirected(old, server.url + "/start", body) { .follow(with: $0.headers, method: new) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.method) == ["\(old)", "\(new)"])
    #expect(server.requests.last?.bodyText == (body == nil ? "" : "important"))
  }

  /// The response to a GET would count as the response to the POST, and a PUT that may be repeated would become a POST that must not.
  @Test(
    arguments: [
      ("POST", "GET"), ("POST", "HEAD"), ("GET", "POST"), ("GET", "DELETE"), ("PUT", "POST"), ("DELETE", "GET"),
    ])
  func `a method that proves less is not sent`(old: String, new: String) async throws {
    let server = try server()
    let body: TransferBody? = ["GET", "DELETE"].contains(old) ? nil : .bytes("important".utf8)
    let (old, new) = (try #require(HTTPMethod(parsing: old)), try #require(HTTPMethod(parsing: new)))
    let request = try redirected(old, server.url + "/start", body) { .follow(with: $0.headers, method: new) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed && result.error?.code == .decisionFailed && result.status == 307)
    #expect((result.error?.underlying as? TransferError)?.code == .invalidSetting)
    #expect(server.requests.map(\.target) == ["/start"])
  }

  /// What is known about repeating a GET doesn't hold for a request that changes something.
  @Test(arguments: ["PUT", "DELETE", "POST", "HEAD"])
  func `a GET with a body becomes no other request`(new: String) async throws {
    let server = try server()
    let new = try #require(HTTPMethod(parsing: new))
    let request = try redirected(.get, server.url + "/start", .bytes("query".utf8)) { .follow(with: $0.headers, method: new) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed && result.error?.code == .decisionFailed)
    #expect(server.requests.map(\.target) == ["/start"])
  }

  /// A HEAD would store an empty file as the resource.
  @Test func `a download stays a GET for the same part`() async throws {
    let server = try server()
    let place = try TemporaryDirectory()
    let choices: [Decide] = [
      { .follow(with: $0.headers, method: .head) }, { _ in .follow(with: ["Range": "bytes=1-"]) },
      { _ in .follow(with: ["Accept-Encoding": "gzip"]) },
    ]
    for decide in choices {
      let request = try redirected(.get, server.url + "/start") { try await decide($0) }
      let task = try makeSession().startDownload(request, DownloadSettings(.file(place.path("copy"))))
      let result = await task.result
      #expect(result.outcome == .failed && result.error?.code == .decisionFailed, "\(result)")
    }
    #expect(server.requests.map(\.target) == ["/start", "/start", "/start"])
  }

  @Test(arguments: ["Content-Type", "Content-Length", "Content-Encoding", "Idempotency-Key", "Transfer-Encoding", "bad name"])
  func `a header that follows from the body or the settings can't be given`(name: String) async throws {
    let server = try server()
    let request = try redirected(.post, server.url + "/start", .bytes("a".utf8)) { _ in .follow(with: [name: "1"]) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed && result.error?.code == .decisionFailed)
    #expect((result.error?.underlying as? TransferError)?.code == .invalidHeader)
    #expect(server.requests.count == 1)
  }

  @Test func `credentials for another origin need encryption if the request demands it`() async throws {
    let session = try TransferSession { request in
      request.url.origin.host == "first" ? .status(307, headers: ["Location": "http://second/"]) : .status(200)
    }
    for isDemanded in [true, false] {
      var request = try redirected(.get, "http://first/") { _ in .follow(with: ["Authorization": "Bearer a"]) }
      request.options.requiresEncryptionForCredentials = isDemanded
      let result = await session.result(of: request)
      #expect(result.outcome == (isDemanded ? .failed : .ok))
      #expect((result.error?.underlying as? TransferError)?.code == (isDemanded ? .credentialsNotEncrypted : nil))
    }
    #expect(session.answeredRequests.map(\.url.origin.host) == ["first", "first", "second"])
  }

  @Test func `no other credentials take the place of those that the program removes`() async throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/start": .good(307, headers: [("Location", "/middle")])
      case "/middle": .good(307, headers: [("Location", "/end")])
      default: .good()
      }
    }
    var configuration = TransferSession.Configuration()
    configuration.netrc = try Netrc(parsing: "machine 127.0.0.1 login me password netrc")
    let session = try TransferSession(configuration)
    var request = try redirected(.get, server.url + "/start") { redirect in
      var headers = redirect.headers
      headers.remove("Authorization")
      headers["X-Step"] = redirect.target.description
      return .follow(with: headers)
    }
    request.headers = ["Authorization": "Bearer own"]
    for credentials in [nil, Credentials.bearer("other")] {
      request.credentials = credentials
      #expect(await session.result(of: request).outcome == .ok)
    }
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer own", nil, nil, "Bearer own", nil, nil])
    // Credentials that are not among the headers stay in use.
    request.headers = [:]
    #expect(await session.result(of: request).outcome == .ok)
    #expect(server.requests.suffix(3).allSatisfy { $0.header("Authorization") == "Bearer other" })
  }

  @Test(arguments: [false, true])
  func `credentials that the program chooses come before those that it gave for a 401`(changes: Bool) async throws {
    let server = try ScriptedServer { request in
      guard request.target == "/start" else { return .good() }
      return request.header("Authorization") == "Bearer given"
        ? .good(307, headers: [("Location", "/end")]) : .good(401, headers: [("WWW-Authenticate", "Bearer")])
    }
    var request = try redirected(.get, server.url + "/start") { redirect in
      .follow(with: changes ? ["Authorization": "Bearer chosen"] : redirect.headers)
    }
    request.headers = ["Authorization": "Bearer old"]
    request.options.decisions.challenge = { _ in .bearer("given") }
    #expect(try await makeSession().result(of: request).outcome == .ok)
    let last = changes ? "Bearer chosen" : "Bearer given"
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer old", "Bearer given", last])
  }

  @Test func `traces mask secret headers that are given for a redirect`() async throws {
    let server = try server()
    let lines = Guarded<[String]>([])
    var request = try redirected(.get, server.url + "/start") { redirect in
      var headers = redirect.headers
      headers.append("X-Plain", "canary", isSecret: true)
      return .follow(with: headers)
    }
    request.options.trace = { trace in lines.withLock { $0.append(trace.text) } }
    #expect(try await makeSession().result(of: request).outcome == .ok)
    #expect(server.requests.last?.header("X-Plain") == "canary")
    #expect(lines.withLock { $0.contains { $0.contains("X-Plain: ***") } && !$0.joined().contains("canary") })
  }

  @Test func `a body that can't be sent again is not asked about`() async throws {
    let server = try server()
    let asked = Guarded(false)
    let request = try redirected(.post, server.url + "/start", oneShot("once".utf8)) { _ in
      asked.withLock { $0 = true }
      return .follow(with: [:])
    }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed && result.error?.code == .notReplayable)
    #expect(!asked.withLock(\.self) && server.requests.count == 1)
  }

  @Test func `the page of a 303 is fetched with the given headers, and a bad choice takes nothing from the success`()
    async throws
  {
    let server = try server("/end", 303)
    var request = try redirected(.post, server.url + "/start", .bytes("a".utf8)) { redirect in
      #expect(redirect.method == .get && redirect.headers.map(\.name) == ["X-Own"])
      return .follow(with: ["X-Page": "1"])
    }
    request.headers = ["X-Own": "1"]
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok && result.error == nil)
    #expect(server.requests.last?.method == "GET" && server.requests.last?.header("X-Page") == "1")
    #expect(server.requests.last?.header("X-Own") == nil)
    request.options.decisions.redirect = { .follow(with: $0.headers, method: .post) }
    let refused = try await makeSession().result(of: request)
    #expect(refused.outcome == .ok && refused.error?.code == .decisionFailed && refused.status == 303)
    #expect(server.requests.count == 3)
  }
}
