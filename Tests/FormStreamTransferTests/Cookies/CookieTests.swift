import FormStream
import Foundation
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Cookies that a session keeps.
@Suite struct CookieTests {
  private func session(_ policy: CookiePolicy, engines: Int = 1) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.cookies = policy
    configuration.engines = engines
    return try TransferSession(configuration)
  }

  @Test func `cookies are kept only by choice`() async throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=1")]) }
    for (policy, expected) in [
      (CookiePolicy.none, [nil, nil]), (.session(), [nil, "a=1"]),
    ] as [(CookiePolicy, [String?])] {
      let (session, before) = (try session(policy), server.requests.count)
      for _ in 0..<2 { _ = try await session.result(of: makeRequest(server.url)) }
      #expect(server.requests.dropFirst(before).map { $0.header("Cookie") } == expected)
    }
    #expect(server.faults == [])
  }

  @Test func `a jar's cookies and the request's own go in one line`() async throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=1; Path=/")]) }
    let session = try session(.session())
    var request = try makeRequest(server.url)
    _ = await session.result(of: request)
    request.headers.append("Cookie", "own=2")
    request.headers.append("Cookie", "other=3")
    _ = await session.result(of: request)
    #expect(server.requests.last?.values(of: "Cookie") == ["a=1; own=2; other=3"])
  }

  @Test func `a redirect, a retry and an answer to a challenge send the cookies of the response before`() async throws {
    let server = try ScriptedServer(requests: [
      .good(307, headers: [("Location", "/next"), ("Set-Cookie", "a=1; Path=/")]),
      .good(503, headers: [("Retry-After", "0"), ("Set-Cookie", "b=1")]),
      .good(401, headers: [("WWW-Authenticate", #"Digest realm="r", nonce="n", qop="auth""#), ("Set-Cookie", "a=2; Path=/")]),
      .good(headers: [("Set-Cookie", "c=1")]), .good(),
    ])
    let session = try session(.session())
    var request = try TransferRequest(.get, server.url)
    request.credentials = .digest(user: "u", password: "p")
    request.options.retry = RetryPolicy(attempts: 2)
    request.options.retry.baseDelay = .milliseconds(1)
    let result = await session.result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    request.credentials = nil
    _ = await session.result(of: request)
    #expect(
      server.requests.map { $0.header("Cookie") } == [nil, "a=1", "a=1; b=1", "a=2; b=1", "a=2; b=1; c=1"])
  }

  /// RFC 6265bis §5.2: "User agents MAY ignore Set-Cookie header fields contained in responses with 100-level status codes". A
  /// response that can't be read as one must not change what later requests send.
  @Test func `interim responses and trailers set no cookies`() async throws {
    let server = try ScriptedServer { _ in
      [
        .readBody, .informational(103, headers: [("Set-Cookie", "interim=1")]),
        .respond(
          200, headers: [("Set-Cookie", "final=1")],
          framing: .chunked(trailers: [("Set-Cookie", "trailer=1")])),
      ]
    }
    let session = try session(.session())
    for _ in 0..<2 { #expect(await session.result(of: try makeRequest(server.url)).outcome == .ok) }
    #expect(server.requests.map { $0.header("Cookie") } == [nil, "final=1"])
  }

  /// As in curl.
  @Test func `cookies belong to the host of a Host header`() async throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=1; Domain=a.example")]) }
    let session = try session(.session())
    for host in ["a.example:81", "b.a.example", "c.example", nil] {
      var request = try makeRequest(server.url)
      if let host { request.headers.append("Host", host) }
      _ = await session.result(of: request)
    }
    #expect(server.requests.map { $0.header("Cookie") } == [nil, "a=1", nil, nil])
  }

  @Test func `cookies stay with their domain, and those of a header with their origin`()
    async throws
  {
    let there = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "there=1")]) }
    let target = there.url(host: "localhost")
    let here = try ScriptedServer { _ in
      .good(307, headers: [("Location", target), ("Set-Cookie", "here=1")])
    }
    let session = try session(.session())
    for _ in 0..<2 {
      var request = try makeRequest(here.url)
      request.headers.append("Cookie", "own=1")
      request.options.redirects.allowsOtherOrigins = true
      let result = await session.result(of: request)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    #expect(here.requests.map { $0.header("Cookie") } == ["own=1", "here=1; own=1"])
    #expect(there.requests.map { $0.header("Cookie") } == [nil, "there=1"])
  }

  @Test func `a public suffix can't set cookies for all its domains`() async throws {
    let server = try ScriptedServer { _ in
      .good(headers: [
        ("Set-Cookie", "wide=1; Domain=co.uk"), ("Set-Cookie", "fine=1; Domain=a.co.uk"),
        ("Set-Cookie", "secret=1; Secure"),
      ])
    }
    var configuration = TransferSession.Configuration()
    configuration.cookies = .session()
    for name in ["a.co.uk", "b.co.uk", "x.a.co.uk"] {
      configuration.addresses.append(try #require(HostAddress("\(name):\(server.port):127.0.0.1")))
    }
    let session = try TransferSession(configuration)
    for name in ["a.co.uk", "b.co.uk", "x.a.co.uk"] {
      _ = try await session.result(of: makeRequest(server.url(host: name)))
    }
    #expect(server.requests.map { $0.header("Cookie") } == [nil, nil, "fine=1"])
  }

  @Test func `a file is read and written, and only its owner can read it`() async throws {
    let place = try TemporaryDirectory()
    try place.write(
      "in",
      "# Netscape HTTP Cookie File\r\n\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tcanary\n"
        + "Set-Cookie: lined=2; domain=127.0.0.1; path=/\nelsewhere.example\tFALSE\t/\tFALSE\t0\tx\ty\n"
    )
    let server = try ScriptedServer { _ in
      .good(headers: [("Set-Cookie", "new=3; Max-Age=1000"), ("Set-Cookie", "kept=; Max-Age=0")])
    }
    let first = try session(.session(file: LocalPath(place.path("in"))))
    _ = try await first.result(of: makeRequest(server.url))
    #expect(
      server.requests.last?.header("Cookie")?.split(separator: "; ").sorted()
        == ["kept=canary", "lined=2"])
    try place.write("out", "an older file")
    try first.saveCookies(to: LocalPath(place.path("out")))
    let second = try session(.session(file: LocalPath(place.path("out"))))
    _ = try await second.result(of: makeRequest(server.url))
    #expect(
      server.requests.last?.header("Cookie")?.split(separator: "; ").sorted()
        == ["lined=2", "new=3"])
    let out = place.path("out")
    #expect(try String(contentsOfFile: out, encoding: .utf8).contains("elsewhere.example"))
    let mode = try FileManager.default.attributesOfItem(atPath: out)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() == ["in", "out"])
  }

  /// A `String` has CR LF as one character: the file was one long comment.
  @Test func `a file with CR LF at the ends of its lines is read`() async throws {
    let place = try TemporaryDirectory()
    try place.write(
      "in", "# Netscape HTTP Cookie File\r\n\r\n127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\t1\r\n")
    let server = try ScriptedServer { _ in .good() }
    let session = try session(.session(file: place.local("in")))
    _ = try await session.result(of: makeRequest(server.url))
    #expect(server.requests.last?.header("Cookie") == "kept=1")
    try session.saveCookies(to: place.local("out"))
    #expect(
      try String(contentsOfFile: place.path("out"), encoding: .utf8)
        == "# Netscape HTTP Cookie File\n\n127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\t1\n")
  }

  /// The domain was empty, as if the line named no host.
  @Test func `a cookie for the domain of a dot is sent nowhere`() async throws {
    let place = try TemporaryDirectory()
    try place.write("in", ".\tTRUE\t/\tFALSE\t0\tq\t1\n")
    let server = try ScriptedServer { _ in .good() }
    _ = try await session(.session(file: place.local("in"))).result(of: makeRequest(server.url))
    #expect(server.requests.map { $0.header("Cookie") } == [nil])
  }

  /// How a request for this machine can still leave it.
  enum Detour: CaseIterable { case none, proxy, replacedHost, address, here }

  /// `localhost` counts as encrypted.
  @Test(arguments: Detour.allCases)
  func `a Secure cookie of this machine doesn't leave it`(detour: Detour) async throws {
    let place = try TemporaryDirectory()
    try place.write("in", "localhost\tFALSE\t/\tTRUE\t0\tkept\t1\n")
    let server = try ScriptedServer { _ in .good() }
    var configuration = TransferSession.Configuration()
    configuration.cookies = .session(file: place.local("in"))
    let port = server.port
    switch detour {
    case .none: break
    case .proxy: configuration.proxy = try .proxy("http://127.0.0.1:\(port)")
    case .replacedHost:
      configuration.replacedHosts = [try #require(HostReplacement("localhost:\(port):other.example:"))]
      configuration.addresses = [try #require(HostAddress("other.example:\(port):127.0.0.1"))]
    case .address: configuration.addresses = [try #require(HostAddress("LOCALHOST:\(port):127.0.0.2,127.0.0.1"))]
    case .here:
      configuration.replacedHosts = [try #require(HostReplacement("::127.0.0.1:\(port)"))]
      configuration.addresses = [try #require(HostAddress("+localhost:\(port):127.0.0.1,[::1]"))]
    }
    let session = try TransferSession(configuration)
    let result = await session.result(of: try makeRequest(server.url(host: "localhost")))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map { $0.header("Cookie") } == [detour == .none || detour == .here ? "kept=1" : nil])
  }

  /// RFC 6265 §4.1.1 has no bytes beyond ASCII, and servers send them anyway.
  @Test func `a value that is not UTF-8 is sent and saved as it is`() async throws {
    let place = try TemporaryDirectory()
    let line = Array("127.0.0.1\tFALSE\t/\tFALSE\t0\tlatin\tv".utf8) + [0xE9, 0x0A]
    try place.write("in", line)
    let server = try ScriptedServer { _ in .good() }
    let session = try session(.session(file: place.local("in")))
    _ = try await session.result(of: makeRequest(server.url))
    let head = try #require(server.requests.last?.head)
    #expect(head.split(separator: 0x0A).contains(Array("Cookie: latin=v".utf8) + [0xE9, 0x0D]))
    try session.saveCookies(to: place.local("out"))
    let saved = try Data(contentsOf: URL(fileURLWithPath: place.path("out")))
    #expect(saved.suffix(line.count) == Data(line))
  }

  /// libcurl 7.88 sent `Cookie: ` without the end of the line, so that the next header became the cookie.
  @Test func `a cookie that is too long to be sent is an error`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good() }
    // The second has no path: libcurl takes / then.
    for (start, name) in [
      ("127.0.0.1\tFALSE\t/\tFALSE\t0\t", "n"), ("127.0.0.1\tFALSE\tFALSE\t0\t", "nn"),
    ] {
      for (count, isSent) in [(4900, true), (9000, false)] {
        try place.write("in", "\(start)\(name)\t\(String(repeating: "v", count: count))\n")
        let policy = CookiePolicy.session(file: place.local("in"))
        if isSent {
          _ = try await session(policy).result(of: makeRequest(server.url))
          #expect(server.requests.last?.header("Cookie")?.utf8.count == name.utf8.count + 1 + count)
        } else {
          let error = #expect(throws: TransferError.self) { try session(policy) }
          #expect(error?.code == .cookiesUnusable)
          #expect(error?.description.contains("Line 1") == true)
          #expect(error?.description.contains("vvv") == false)
        }
      }
    }
    #expect(server.faults == [])
  }

  @Test(arguments: [4000, 5000, 9000, 60000])
  func `a cookie that a server sets takes no other header with it`(count: Int) async throws {
    let value = String(repeating: "v", count: count)
    let server = try ScriptedServer { _ in
      .good(headers: [
        ("Set-Cookie", "a=\(value)"), ("Set-Cookie", "b=\(value)"), ("Set-Cookie", "c=\(value)"),
      ])
    }
    let session = try session(.session())
    var request = try makeRequest(server.url)
    request.headers.append("Authorization", "Bearer x")
    for _ in 0..<2 { #expect(await session.result(of: request).outcome == .ok) }
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer x", "Bearer x"])
    #expect((server.requests.last?.header("Cookie") != nil) == (count == 4000))
    #expect(server.faults == [])
  }

  @Test(arguments: ["ALL", "canary", "a\tb\tc", "a\tb\tc\td\te\tf\0\tcanary", "{\"canary\": 1}"])
  func `a file that is none of cookies is an error that shows nothing of it`(line: String) throws {
    let place = try TemporaryDirectory()
    try place.write("in", "# first\n\(line)\n")
    let error = #expect(throws: TransferError.self) {
      try session(.session(file: LocalPath(place.path("in"))))
    }
    #expect(error?.code == .cookiesUnusable)
    let message = "\(String(describing: error))"
    #expect(message.contains("Line 2") && !message.contains("canary"), "\(message)")
    #expect(throws: TransferError.self) { try session(.session(file: "missing")) }
    let none = #expect(throws: TransferError.self) { try session(.none).saveCookies(to: "x") }
    #expect(none?.code == .invalidSetting)
    let unwritable = #expect(throws: TransferError.self) {
      try session(.session()).saveCookies(to: LocalPath(place.path("no/such")))
    }
    #expect(unwritable?.code == .cookiesUnusable)
  }

  @Test func `a device or a FIFO is not replaced by a file of cookies`() throws {
    let place = try TemporaryDirectory()
    try makeFIFO(place.local("jar"))
    let error = #expect(throws: TransferError.self) {
      try session(.session()).saveCookies(to: place.local("jar"))
    }
    #expect(error?.code == .cookiesUnusable)
    #expect(error?.description.contains("a FIFO") == true)
    #expect(
      try FileStatus(of: place.local("jar"), followsSymlinks: false).kind == .pipe)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["jar"])
  }

  @Test func `many requests on several engines share one jar`() async throws {
    let server = try ScriptedServer { request in
      .good(headers: [("Set-Cookie", "c\(request.number)=1")])
    }
    let session = try session(.session(), engines: 4)
    for _ in 0..<3 {
      let tasks = try (0..<20).map { _ in session.start(try makeRequest(server.url)) }
      for task in tasks { #expect(await task.result.outcome == .ok) }
    }
    _ = try await session.result(of: makeRequest(server.url))
    #expect(server.requests.last?.header("Cookie")?.split(separator: "; ").count == 60)
    #expect(server.faults == [])
  }

  @Test func `no cookie is in a trace`() async throws {
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "canary=1")]) }
    let session = try session(.session())
    let received = ReceivedText()
    for _ in 0..<2 {
      var request = try makeRequest(server.url)
      request.options.trace = { received.append($0.description + "\n") }
      _ = await session.result(of: request)
    }
    #expect(server.requests.last?.header("Cookie") == "canary=1")
    #expect(!received.text.contains("canary"), "\(received.text)")
    #expect(received.text.contains("> Cookie: ***"))
  }
}
