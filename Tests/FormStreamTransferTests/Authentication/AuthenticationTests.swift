import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Credentials that wait until a server asks for them.
@Suite struct AuthenticationTests {
  private static let digest = Credentials.digest(user: "canary", password: "canary")

  /// A server that asks for Digest, and accepts whatever has the nonce of the time.
  private static func asking(
    _ nonces: [String] = ["n1"], scheme: String = "realm=\"vault\", qop=\"auth\"",
    refuse: [ScriptedStep]? = nil
  ) throws -> ScriptedServer {
    try ScriptedServer { request in
      let sent = request.header("Authorization") ?? ""
      guard let last = nonces.last, !sent.contains("nonce=\"\(last)\"") else {
        return .good(body: "in")
      }
      let known = nonces.firstIndex { sent.contains("nonce=\"\($0)\"") }
      let next = nonces[known.map { $0 + 1 } ?? 0]
      let stale = known == nil ? "" : ", stale=true"
      let headers = [("WWW-Authenticate", "Digest nonce=\"\(next)\", \(scheme)\(stale)")]
      return refuse.map { $0 + [.respond(401, headers: headers, body: "no")] }
        ?? .good(401, headers: headers, body: "no")
    }
  }

  private func request(
    _ url: String, _ credentials: Credentials = digest,
    _ body: TransferBody? = .bytes(Array("important".utf8))
  ) throws -> TransferRequest {
    var request = try makeRequest(.put, url, body)
    request.credentials = credentials
    return request
  }

  @Test func `the request is sent completely, and again with the answer, and later ones at once`()
    async throws
  {
    let server = try Self.asking()
    let session = try makeSession()
    let received = ReceivedText()
    var put = try request(server.url + "/a?b=c d%20e")
    put.options.trace = { received.append($0.description + "\n") }
    let body = ReceivedText()
    put.options.responseTarget = .stream { body.append($0) }
    let first = await session.result(of: put)
    #expect(first.outcome == .ok, "\(String(describing: first.error))")
    #expect(first.attempts == 2)
    #expect(first.bytesSent == 9 && first.totalBytesSent == 18)
    // A stream receives the last response only.
    #expect(body.text == "in")
    #expect(!received.text.contains("canary") && !received.text.contains("no\n"))
    #expect(received.text.contains("> Authorization: ***"))
    let second = try await session.result(of: request(server.url + "/b"))
    #expect(second.attempts == 1)
    let sent = server.requests.map { $0.header("Authorization") ?? "" }
    #expect(server.requests.map(\.bodyText) == ["important", "important", "important"])
    #expect(server.requests.allSatisfy { $0.framing == .contentLength(9) })
    #expect(sent[0] == "")
    #expect(sent[1].contains("nc=00000001") && sent[2].contains("nc=00000002"))
    #expect(sent[1].contains("uri=\"\(server.requests[1].target)\""), "\(sent[1])")
    #expect(sent[2].contains("uri=\"/b\""))
    #expect(server.connections.count == 1)
    #expect(server.faults == [])
  }

  @Test func `credentials that were refused are not sent again`() async throws {
    let server = try ScriptedServer { request in
      .good(
        401,
        headers: [
          ("WWW-Authenticate", "Digest realm=\"vault\", nonce=\"\(request.number)\", qop=auth")
        ],
        body: "no")
    }
    let session = try makeSession()
    let result = try await session.result(of: request(server.url))
    #expect(result.outcome == .failed)
    #expect(result.response?.text == "no")
    #expect(result.error?.code == .statusRefused)
    let message = "\(String(describing: result.error))"
    #expect(message.contains("(Digest, realm \"vault\")"), "\(message)")
    #expect(message.contains("refused the credentials"), "\(message)")
    #expect(!message.contains("canary"))
    #expect(server.requests.count == 2)
    let basic = try await session.result(
      of: request(server.url, .basic(user: "canary", password: "canary")))
    #expect(basic.outcome == .failed && basic.attempts == 1)
    let none = try await session.result(of: makeRequest(server.url))
    #expect("\(String(describing: none.error))".contains("asks for credentials (Digest, realm"))
  }

  /// What can't be sent back, or not as it came. The 401 is the response.
  @Test(arguments: [
    [0x01], [0x7F], [0xE9], [0xC3],
  ])
  func `a challenge that can't be repeated is not answered`(bytes: [UInt8]) async throws {
    for name in ["realm", "nonce", "opaque"] {
      let values = ["realm", "nonce", "opaque"].map { ($0, $0 == name ? bytes : []) }
      let challenge = values.flatMap { Array("\($0)=\"a".utf8) + $1 + Array("\", ".utf8) }
      let server = try ScriptedServer { _ in
        [
          .readBody,
          .sendBytes(
            Array("HTTP/1.1 401 x\r\nContent-Length: 0\r\nWWW-Authenticate: Digest ".utf8)
              + challenge + Array("qop=auth\r\n\r\n".utf8)),
        ]
      }
      let result = try await makeSession().result(of: request(server.url))
      #expect(result.outcome == .failed && result.status == 401, "\(result)")
      #expect(result.error?.code == .statusRefused)
      #expect(result.error?.description.contains("can't be answered") == true, "\(result)")
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: [[0x01], [0xE9]] as [[UInt8]])
  func `a next nonce that can't be sent is not used`(bytes: [UInt8]) async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
        : [
          .readBody,
          .sendBytes(
            Array("HTTP/1.1 200 x\r\nContent-Length: 0\r\nAuthentication-Info: nextnonce=\"".utf8)
              + bytes + Array("\"\r\n\r\n".utf8)),
        ]
    }
    let session = try makeSession()
    for _ in 0..<2 {
      let result = try await session.result(of: request(server.url))
      #expect(result.outcome == .ok, "\(result)")
    }
    let sent = server.requests.compactMap { $0.header("Authorization") }
    #expect(sent.count == 2 && sent.allSatisfy { $0.contains("nonce=\"n\"") }, "\(sent)")
  }

  /// Credentials of a netrc file are those of the session.
  @Test func `a server can't make the message long`() async throws {
    let realm = String(repeating: "e\u{301}\u{302}", count: 10_000)
    let scheme = String(repeating: "S", count: 10_000)
    let server = try ScriptedServer { _ in
      .good(
        401,
        headers: [
          ("WWW-Authenticate", "\(scheme) realm=\"\(realm)\""),
          ("WWW-Authenticate", Array(repeating: "Other", count: 5000).joined(separator: ", ")),
        ])
    }
    let result = try await makeSession().result(of: try makeRequest(server.url))
    let message = try #require(result.error).description
    #expect(message.contains("SSS") && message.contains("Other") && message.contains("…"))
    #expect(message.utf8.count < 1000)
  }

  @Test(arguments: [PasswordScheme.basic, .digest, .strongestOffered])
  func `credentials of the session that were refused are not sent again to that origin`(
    scheme: PasswordScheme
  ) async throws {
    let script: ScriptedServer.Script = { request in
      .good(
        401,
        headers: [("WWW-Authenticate", "Digest realm=a, nonce=\"\(request.number)\", qop=auth")])
    }
    let (server, other) = (try ScriptedServer(script: script), try ScriptedServer(script: script))
    var configuration = TransferSession.Configuration()
    var netrc = try Netrc(parsing: "machine 127.0.0.1 login canary password canary")
    netrc.scheme = scheme
    configuration.netrc = netrc
    let session = try TransferSession(configuration)
    for number in 0..<3 {
      let result = try await session.result(of: makeRequest(server.url + "/\(number)"))
      #expect(result.outcome == .failed)
      if number == 0 { continue }
      #expect(result.attempts == 0)
      #expect(result.error?.code == .credentialsRefused, "\(result)")
      #expect(!"\(result)".contains("canary"))
    }
    #expect(server.requests.count { $0.header("Authorization") != nil } == 1)
    #expect(server.requests.count == (scheme == .basic ? 1 : 2))
    // Others are.
    _ = try await session.result(of: makeRequest(other.url))
    #expect(other.requests.contains { $0.header("Authorization") != nil })
    _ = try await session.result(of: request(server.url, .basic(user: "other", password: "p")))
    #expect(server.requests.last?.header("Authorization") == "Basic b3RoZXI6cA==")
  }

  @Test func `a program that sends refused credentials with another request may do so`()
    async throws
  {
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(401, headers: [("WWW-Authenticate", "Basic realm=a")]) : .good()
    }
    let session = try makeSession()
    let basic = Credentials.basic(user: "me", password: "p")
    #expect(try await session.result(of: request(server.url, basic)).outcome == .failed)
    #expect(try await session.result(of: request(server.url, basic)).outcome == .ok)
  }

  @Test func `a nonce that is too old is replaced, and not for ever`() async throws {
    let server = try Self.asking(["n1", "n2", "n3"])
    let result = try await makeSession().result(of: request(server.url))
    #expect(result.outcome == .ok)
    #expect(result.attempts == 4)
    let endless = try ScriptedServer { request in
      .good(
        401,
        headers: [
          ("WWW-Authenticate", "Digest realm=a, nonce=\"\(request.number)\", qop=auth, stale=true")
        ])
    }
    let refused = try await makeSession().result(of: request(endless.url))
    #expect(refused.outcome == .failed)
    #expect(refused.attempts == 6)
  }

  /// Regression: each challenge set the count of its nonce back. A server that sees a count twice takes that for a
  /// replay (RFC 7616 §3.4), so a right password was refused.
  @Test func `requests that get the same nonce at the same time count it together`() async throws {
    let asked = try Gate()
    let server = try ScriptedServer { request in
      if request.header("Authorization") != nil { return .good() }
      if request.number == 3 { asked.open() }
      _ = asked.wait()
      return .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
    }
    let session = try makeSession()
    let put = try request(server.url)
    let outcomes = await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { await session.result(of: put).outcome } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes == [.ok, .ok, .ok, .ok])
    let sent = server.requests.compactMap { $0.header("Authorization") }
    #expect(sent.count == 4)
    for count in 1...4 {
      #expect(sent.count { $0.contains("nc=0000000\(count)") } == 1, "\(sent)")
    }
  }

  @Test func `a nonce that comes back is counted on`() async throws {
    let nonces = ["a", "b", "a", "a"]
    let server = try ScriptedServer { request in
      guard request.number < nonces.count else {
        return .good(headers: [("Authentication-Info", "nextnonce=a")])
      }
      let challenge = "Digest realm=a, nonce=\(nonces[request.number]), qop=auth, stale=true"
      return .good(401, headers: [("WWW-Authenticate", challenge)])
    }
    let session = try makeSession()
    let first = try await session.result(of: request(server.url))
    #expect(first.outcome == .ok, "\(String(describing: first.error))")
    #expect(try await session.result(of: request(server.url)).outcome == .ok)
    let sent = server.requests.compactMap { $0.header("Authorization") }
    let expected = [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("a", 4)]
    #expect(sent.count == expected.count)
    for (header, (nonce, count)) in zip(sent, expected) {
      #expect(
        header.contains("nonce=\"\(nonce)\"") && header.contains("nc=0000000\(count)"), "\(header)")
    }
  }

  @Test func `a nonce that is always too old refuses no credentials`() async throws {
    let server = try ScriptedServer { _ in
      .good(
        401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth, stale=true")])
    }
    var configuration = TransferSession.Configuration()
    configuration.sharesCredentials = true
    let session = try TransferSession(configuration)
    let result = try await session.result(of: request(server.url))
    #expect(result.outcome == .failed && result.attempts == 6)
    #expect("\(String(describing: result.error))".contains("nonce of the credentials is too old"))
    #expect(try await session.result(of: request(server.url)).error?.code == .statusRefused)
  }

  @Test func `a nonce that the server names is used for the next request`() async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
        : .good(headers: [("Authentication-Info", "qop=auth, nextnonce=\"n\(request.number)\"")])
    }
    let session = try makeSession()
    for _ in 0..<3 { _ = try await session.result(of: request(server.url)) }
    let sent = server.requests.compactMap { $0.header("Authorization") }
    #expect(sent.count == 3)
    for (header, nonce) in zip(sent, ["n", "n1", "n2"]) {
      #expect(header.contains("nonce=\"\(nonce)\"") && header.contains("nc=00000001"), "\(header)")
    }
  }

  @Test func `nothing but Digest is sent if that was asked for`() async throws {
    let server = try ScriptedServer { _ in
      .good(401, headers: [("WWW-Authenticate", "Basic realm=\"a\"")])
    }
    let result = try await makeSession().result(of: request(server.url))
    #expect(result.outcome == .failed && result.attempts == 1)
    #expect(server.requests.allSatisfy { $0.header("Authorization") == nil })
    #expect("\(String(describing: result.error))".contains("asks for credentials (Basic, realm"))
  }

  @Test(arguments: [true, false])
  func `the strongest scheme that is offered is used`(offersDigest: Bool) async throws {
    let server = try ScriptedServer { request in
      if request.header("Authorization") != nil { return .good() }
      let digest = [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")]
      return .good(
        401, headers: [("WWW-Authenticate", "Basic realm=\"a\"")] + (offersDigest ? digest : []))
    }
    let session = try makeSession()
    for _ in 0..<2 {
      let result = try await session.result(
        of: request(server.url, .strongestOffered(user: "me", password: "p")))
      #expect(result.outcome == .ok)
    }
    let sent = server.requests.compactMap { $0.header("Authorization") }
    #expect(server.requests.count == 3 && sent.count == 2)
    #expect(sent.allSatisfy { $0.hasPrefix(offersDigest ? "Digest " : "Basic bWU6cA==") })
  }

  /// RFC 7617 §2.2: all paths below the directory of the one that was asked for.
  @Test func `on challenge, credentials are sent at once to the part of the server that asked`()
    async throws
  {
    let server = try ScriptedServer { request in
      request.header("Authorization") != nil || !request.target.hasPrefix("/in/")
        ? .good() : .good(401, headers: [("WWW-Authenticate", "Basic realm=a, Bearer realm=a")])
    }
    for credentials in [
      Credentials.basic(user: "me", password: "p", onChallenge: true),
      .bearer("t", onChallenge: true),
    ] {
      let session = try makeSession()
      let before = server.requests.count
      for target in ["/in/a", "/in/b/c", "/out"] {
        let result = try await session.result(of: request(server.url + target, credentials))
        #expect(result.outcome == .ok)
      }
      #expect(
        server.requests.dropFirst(before).map { $0.header("Authorization") != nil }
          == [false, true, true, false])
    }
    #expect(server.faults == [])
  }

  @Test func `another origin gets no credentials, even if it asks`() async throws {
    let there = try Self.asking()
    let target = there.url
    let here = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? .good(
          401,
          headers: [
            ("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth, domain=\"\(target)/ /\"")
          ])
        : .good(307, headers: [("Location", target)])
    }
    var put = try request(here.url)
    put.options.redirects.allowsOtherOrigins = true
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .failed && result.status == 401)
    #expect(there.requests.map { $0.header("Authorization") } == [nil])
    #expect(here.faults + there.faults == [])
  }

  @Test func `a refusal in the middle of the body is answered with the complete body`() async throws {
    let body = noise(20_000_000)
    let server = try Self.asking(refuse: [.readBody(upTo: 1_000_000)])
    var put = try request(server.url, Self.digest, .bytes(body))
    put.options.expectation = .never
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.last?.bodyCount == body.count)
    #expect(server.requests.filter { $0.responseStatus == 200 }.count == 1)
    #expect(server.requests.last?.body == Array(body.prefix(8 << 20)))
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test func `a 401 costs no attempt of the retries`() async throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0, 1: .good(503)
      case 2: .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
      default: .good()
      }
    }
    var put = try request(server.url)
    put.options.retry = RetryPolicy(attempts: 3)
    put.options.retry.baseDelay = .milliseconds(1)
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .ok)
    #expect(result.attempts == 4)
  }

  // MARK: Bodies that can be read once

  @Test func `a stream is begun only after the server has asked for it`() async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? [
          .skipBody,
          .respond(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")]),
        ] : .good()
    }
    let result = try await makeSession().result(
      of: request(server.url, Self.digest, oneShot(noise(300_000))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.bodyCount) == [0, 300_000])
    #expect(server.requests.map(\.expectsContinue) == [true, true])
    #expect(server.faults == [])
  }

  @Test func `no byte of a stream is sent to a server that asks for nothing`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(200)] }
    var put = try request(server.url, Self.digest, oneShot("important".utf8, length: 9))
    put.options.expectation.timeout = .milliseconds(10)
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .notReplayable)
    #expect("\(String(describing: result.error))".contains("nothing of it was sent"))
    #expect(result.totalBytesSent == 0)
    #expect(server.waitForEnds())
    #expect(server.requests.allSatisfy { $0.bodyCount == 0 })
  }

  @Test func `without Expect, a stream that would have to wait is not sent at all`() async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    var put = try request(server.url, Self.digest, oneShot("important".utf8))
    put.options.expectation = .never
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .notReplayable)
    #expect("\(String(describing: result.error))".contains("was not sent"))
    #expect(result.attempts == 0)
    #expect(server.requests.isEmpty && server.faults == [])
  }

  /// The server accepts the first challenge, and forgets it before the stream comes.
  @Test func `a stream that was begun is not sent again`() async throws {
    let server = try ScriptedServer { request in
      let challenge = ("WWW-Authenticate", "Digest realm=a, nonce=\"\(request.number)\", qop=auth")
      return switch request.number {
      case 0: .good(401, headers: [challenge])
      case 1: .good()
      default: [.continue100, .readBody, .respond(401, headers: [challenge])]
      }
    }
    let session = try makeSession()
    let first = try await session.result(of: request(server.url))
    #expect(first.outcome == .ok)
    let result = try await session.result(
      of: request(server.url, Self.digest, oneShot("important".utf8)))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .notReplayable)
    #expect("\(String(describing: result.error))".contains("TransferOptions.spoolsBody"))
    #expect(server.requests.count == 3)
  }

  /// Regression: at the head, the body counted as begun, so a stream received the 503 as well.
  @Test func `a stream receives one response if its one-shot body was not begun`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.skipBody, .respond(503, body: "busy")] : .good(body: "done")
    }
    let received = ReceivedText()
    var post = try makeRequest(server.url, oneShot("important".utf8), attempts: 2)
    post.options.expectation = .always
    post.options.expectation.timeout = .seconds(60)
    post.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: post)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(received.text == "done")
  }
}
