import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Requests that are refused before a byte of the body is read.
@Suite struct RefusalTests {
  private static func upload(
    _ headers: String = "", body: String = "abc", host: String = "h:1"
  ) -> String {
    "POST /a HTTP/1.1\r\nHost: \(host)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n"
      + "Connection: close\r\n\r\n\(body)"
  }

  @Test(arguments: [
    "", "Authorization: Bearer other\r\n", "Authorization: Bearer\r\n",
    "Authorization: Bearer \r\n",
    "Authorization: secre\r\n", "Authorization: secret\r\n", "Authorization: Bearer secre\r\n",
    "Authorization: Bearer secrets\r\n", "Authorization: Bearer SECRET\r\n",
    "Authorization: Bearer secret\r\nAuthorization: Bearer secret\r\n",
    "Authorization: Bearer x\r\nAuthorization: Bearer secret\r\n",
    "Authorization: Basic c2VjcmV0\r\n", "Authorization: Basic dTpvdGhlcg==\r\n",
    "Authorization: Basic !!!!\r\n", "Authorization: Basic secret\r\n", "Authorization: Basic\r\n",
    "Authorization: Digest username=\"secret\"\r\n", "Proxy-Authorization: Bearer secret\r\n",
  ])
  func `a client without the token is refused, and the response says how to send it`(
    _ header: String
  ) async throws {
    for isHeld in [false, true] {
      let server = try TestServer { $0.token = "secret" }
      let response = try await server.response(
        to: isHeld
          ? "POST /a HTTP/1.1\r\nHost: h\r\n\(header)Content-Length: 3\r\nExpect: 100-continue\r\n\r\n"
          : Self.upload(header))
      #expect(response.status == 401)
      #expect(
        response.headers("WWW-Authenticate") == [
          "Basic realm=\"FormStream\", charset=\"UTF-8\"", "Bearer realm=\"FormStream\"",
        ])
      #expect(!response.description.contains("secret"))
      #expect(server.handler.targets == [])
      #expect(try await server.reportedRequests(1).map(\.status) == [401])
    }
  }

  @Test(arguments: [
    "Authorization: Bearer secret:y\r\n", "authorization: bearer secret:y\r\n",
    "AUTHORIZATION:  BEARER   secret:y\r\n", "Authorization: Basic dTpzZWNyZXQ6eQ==\r\n",
    "Authorization: basic OnNlY3JldDp5\r\n",
  ])
  func `a client with the token is accepted`(_ header: String) async throws {
    let server = try TestServer { $0.token = "secret:y" }
    #expect(try await server.response(to: Self.upload(header)).status == 200)
    let page = try await server.response(
      to: "GET / HTTP/1.1\r\nHost: localhost\r\n\(header)Connection: close\r\n\r\n")
    #expect(page.status == 200)
    #expect(page.headers("Content-Type") == ["text/html; charset=utf-8"])
  }

  @Test(arguments: ["GET /", "HEAD /", "GET /x", "DELETE /", "OPTIONS *"])
  func `without the token every request is refused, whatever its target`(_ line: String)
    async throws
  {
    let server = try TestServer { $0.token = "secret" }
    let response = try await server.response(
      to: "\(line) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".replacing("HEAD", with: "GET"))
    #expect(response.status == 401)
  }

  @Test(arguments: [
    "null", "http://h", "http://h:2", "http://evil.example", "https://h:1.evil.example",
    "http://h:1/", "h:1", "", "http://h:1 http://x", "file://", "http://x@h:1",
  ])
  func `an upload from a page of another site is refused`(_ origin: String) async throws {
    let server = try TestServer()
    let response = try await server.response(to: Self.upload("Origin: \(origin)\r\n"))
    #expect(response.status == 403)
    #expect(response.text.contains("\"foreign-origin\""))
    #expect(server.handler.targets == [])
  }

  @Test(arguments: ["http://h:1", "https://h:1", "HTTP://H:1"])
  func `an upload from our own page is accepted`(_ origin: String) async throws {
    let server = try TestServer { $0.address = "0.0.0.0" }
    #expect(try await server.response(to: Self.upload("Origin: \(origin)\r\n")).status == 200)
  }

  /// A site's name can be made to resolve to this machine: its pages would then have the same origin as ours.
  @Test(arguments: [
    ("evil.example:8080", 403), ("evil.example", 403), ("127.evil.example", 403),
    ("127.0.0.1.evil.example", 403), ("localhost.evil.example:1", 403), ("127.0.0.1:8080", 200),
    ("127.0.0.1", 200), ("localhost:8080", 200), ("LocalHost", 200), ("[::1]:8080", 200),
    ("[::1]", 200), ("[::2]", 403), ("10.0.0.1", 403), ("127.0.0.256", 403), ("127.0.1", 200),
    ("127.1:80", 200), ("0x7f.1", 200), ("2130706433", 200), ("0177.0.0.01:8080", 200),
    ("0:80", 200),
    ("0.0.0.0:8080", 200), ("127.0.0.1.", 200), ("localhost.:8080", 200), ("a.b.LOCALHOST:80", 200),
    ("notlocalhost", 403), (".evil.example", 403), ("[0:0:0:0:0:0:0:1]:80", 200), ("[::]:80", 200),
    ("[::ffff:127.0.0.1]", 200), ("[::FFFF:7f00:1]:1", 200), ("[::ffff:10.0.0.1]", 403),
    ("[::1", 403),
    ("128.1", 403), ("0x80000001", 403),
  ])
  func `an upload from a page that was opened by a foreign name of this machine is refused`(
    _ host: String, _ status: Int
  ) async throws {
    let request = Self.upload("Origin: http://\(host)\r\n", host: host)
    #expect(try await TestServer().response(to: request).status == status)
    // Without an Origin header, no page sends it.
    #expect(try await TestServer().response(to: Self.upload(host: host)).status == 200)
    // A client with the token is trusted.
    let server = try TestServer { $0.token = "secret" }
    let known = Self.upload(
      "Origin: http://\(host)\r\nAuthorization: Bearer secret\r\n", host: host)
    #expect(try await server.response(to: known).status == 200)
  }

  /// Such a page could read whose machine this is.
  @Test(arguments: [
    ("evil.example:8080", 403), ("127.0.0.1.evil.example", 403), ("10.0.0.1", 403),
    ("localhost:8080", 200), ("127.1", 200), ("[::1]:8080", 200),
  ])
  func `the page is not shown under a foreign name of this machine`(
    _ host: String, _ status: Int
  ) async throws {
    let setUp: (inout Receiver.Configuration) -> Void = { $0.page.owner = "anna on sunbox" }
    for method in ["GET", "POST"] {
      let request =
        "\(method) / HTTP/1.1\r\nHost: \(host)\r\nAccept: text/html\r\nConnection: close\r\n"
        + "Origin: http://\(host)\r\n\(method == "POST" ? "Content-Length: 0\r\n" : "")\r\n"
      let response = try await TestServer(InMemoryHandler(), setUp).response(to: request)
      #expect(response.status == status)
      #expect(response.text.contains("sunbox") == (status == 200 && method == "GET"))
    }
    // Programs of HTTP/1.0 need not send a name.
    let old = try await TestServer(InMemoryHandler(), setUp).response(to: "GET / HTTP/1.0\r\n\r\n")
    #expect(old.status == 200)
    // Browsers ask for the token for each name.
    let server = try TestServer {
      setUp(&$0)
      $0.token = "secret"
    }
    let known =
      "GET / HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n"
    #expect(try await server.response(to: known).text.contains("sunbox"))
  }

  @Test(arguments: [
    ("evil.example", false), ("sunbox.evil.example", false), ("192.168.1.5:8080", true),
    ("[fe80::1]:8080", true), ("localhost", true),
  ])
  func `where others can connect, the page names its owner only under a name of this machine`(
    _ host: String, _ isNamed: Bool
  ) async throws {
    let server = try TestServer {
      $0.address = "0.0.0.0"
      $0.page.owner = "anna on sunbox"
    }
    let response = try await server.response(
      to: "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
    #expect(response.status == 200)
    #expect(response.text.contains("Send files"))
    #expect(response.text.contains("sunbox") == isNamed)
  }

  @Test func `under TLS a page that came without it is another site`() async throws {
    let server = try TestServer { $0.tls = try? .forTests() }
    let port = server.receiver.port
    for (scheme, status) in [("http", "403"), ("https", "200")] {
      let result = try await onNewThread {
        try curl(
          "-k", "-d", "a=b", "-H", "Origin: \(scheme)://127.0.0.1:\(port)", "-w", "%{http_code}",
          "-o", "/dev/null", server.receiver.url)
      }
      #expect(result.output == status)
    }
  }

  /// Regression: an address in an unusual spelling was not recognized as this machine's, so a page of any site that
  /// resolved to it could upload.
  @Test(
    arguments: ["0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "127.8.8.8"].filter {
      hasIPv6 || !$0.contains(":")
    })
  func `the name is checked however the address to listen on is spelled`(_ address: String)
    async throws
  {
    let server = try TestServer { $0.address = address }
    let host = address.hasPrefix("0") ? "::1" : address.hasPrefix("::") ? "127.0.0.1" : address
    let request = Self.upload("Origin: http://evil.example\r\n", host: "evil.example")
    let response = try await onNewThread {
      let client = try RawClient(.ip(host, port: server.receiver.port))
      try client.send(request)
      return try client.response()
    }
    #expect(response.status == 403)
  }

  @Test(arguments: [" ", "\t", "  \t "])
  func `blanks after a value are not part of it`(_ blanks: String) async throws {
    let server = try TestServer { $0.token = "secret" }
    let response = try await server.response(
      to: Self.upload(
        "Origin: http://h:1\(blanks)\r\nAuthorization: Bearer secret\(blanks)\r\n",
        host: "h:1\(blanks)"))
    #expect(response.status == 200, "\(response)")
  }

  @Test func `a second Origin header of another site is refused`() async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: Self.upload("Origin: http://h:1\r\nOrigin: http://evil.example\r\n"))
    #expect(response.status == 403)
  }

  @Test func `unknown paths and unsupported methods are refused`() async throws {
    let server = try TestServer()
    let responses = try await server.responses(
      to: "GET /x HTTP/1.1\r\nHost: [::1]\r\n\r\n" + "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n"
        + "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n" + "get / HTTP/1.1\r\nHost: h\r\n\r\n"
        + "GET /?x HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        + "GET http://[::1]/ HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        + "GET http://[::1]?x HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        + "GET //x HTTP/1.1\r\nHost: [::1]\r\n\r\n"
        + "PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    #expect(responses.map(\.status) == [404, 405, 405, 405, 200, 200, 200, 404, 405])
    for response in responses where response.status == 405 {
      #expect(response.headers("Allow") == ["GET, HEAD, POST, PUT"])
    }
  }

  @Test(arguments: ["GET /", "GET /x", "DELETE /"])
  func `a request that is not an upload is never asked for its body`(_ line: String) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: "\(line) HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n")
    #expect(response.status == (line == "GET /" ? 200 : line == "GET /x" ? 404 : 405))
    #expect(response.closes)
  }

  @Test func `a body without a length is refused`() async throws {
    for expectation in ["", "Expect: 100-continue\r\n"] {
      let server = try TestServer()
      // What follows may be a body, so it must not be read as a request.
      let responses = try await server.responses(
        to: "POST /a HTTP/1.1\r\nHost: h\r\n\(expectation)\r\nPOST /b HTTP/1.1\r\nHost: h\r\n"
          + "Content-Length: 0\r\n\r\n")
      #expect(responses.map(\.status) == [411])
      #expect(server.handler.targets == [])
    }
  }

  /// Regression: what followed was read as a request if the refusal had another reason than the missing length.
  @Test(arguments: ["Authorization: Bearer wrong", "Content-Range: bytes 0-1/2", "If-Match: *"])
  func `what follows a refused upload without a length is not read`(_ field: String) async throws {
    for method in ["POST", "PUT"] {
      let server = try TestServer { $0.token = field.hasPrefix("Authorization") ? "right" : nil }
      let responses = try await server.responses(
        to: "\(method) /a HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\nPUT /b HTTP/1.1\r\nHost: h\r\n"
          + "Content-Length: 0\r\n\r\n")
      #expect(
        responses.count == 1 && responses[0].status >= 400 && responses[0].closes, "\(responses)")
      #expect(server.handler.targets == [])
    }
  }

  @Test func `a body whose announced length exceeds the limit is not asked for`() async throws {
    let server = try TestServer { $0.limits.body = 2 }
    #expect(try await server.response(to: Self.upload()).status == 413)
    let held = try await server.response(
      to: "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    #expect(held.status == 413)
    #expect(held.text.contains("more than 2 bytes"))
    #expect(server.handler.targets == [])
    #expect(try await server.response(to: Self.upload(body: "ab")).status == 200)
  }

  @Test func `a body announced by Expect is asked for`() async throws {
    let server = try TestServer()
    let statuses = try await onNewThread {
      let client = try server.client()
      try client.send(
        "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
      let first = try client.response()
      try client.send("abc")
      return [first.status, try client.response().status]
    }
    #expect(statuses == [100, 200])
  }

  @Test func `a chunk above the limit is refused`() async throws {
    let server = try TestServer { $0.limits.body = 5 }
    let head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    let response = try await server.response(to: head + "5\r\nabcde\r\n1\r\nf\r\n0\r\n\r\n")
    #expect(response.status == 413)
    #expect(response.text.contains("\"body_bytes\":5,\"complete\":false"))
    #expect(server.handler.parts == [])
    #expect(try await server.response(to: head + "5\r\nabcde\r\n0\r\n\r\n").status == 200)
  }

  @Test(arguments: ["gzip", "GZIP", "br, gzip", "identity, gzip", "x"])
  func `compressed bodies are refused`(_ coding: String) async throws {
    let server = try TestServer()
    let response = try await server.response(to: Self.upload("Content-Encoding: \(coding)\r\n"))
    #expect(response.status == 415)
    #expect(response.text.contains("\"encoding-unsupported\""))
    #expect(server.handler.targets == [])
  }

  @Test func `the coding identity is accepted`() async throws {
    let server = try TestServer()
    let response = try await server.response(to: Self.upload("Content-Encoding: Identity\r\n"))
    #expect(response.status == 200)
  }

  /// Under TLS, where libmicrohttpd sends the responses, heads are checked in the same way.
  @Test func `under TLS the responses are the same`() async throws {
    let server = try TestServer {
      $0.token = "secret"
      $0.tls = try? .forTests()
      $0.limits.body = 100
    }
    func statuses(_ arguments: String...) async throws -> [String] {
      let all =
        ["-k", "-w", "\n%{http_code}", "-o", "/dev/null"] + arguments + [server.receiver.url]
      let result = try await onNewThread { try curl(all) }
      return result.output.split(separator: "\n").map(String.init)
    }
    #expect(try await statuses("-d", "abc") == ["401"])
    #expect(try await statuses("-d", "abc", "-H", "Transfer-Encoding: chunked") == ["401"])
    #expect(try await statuses("-d", "abc", "-u", "x:secret") == ["200"])
    #expect(try await statuses("-d", "abc", "-u", "x:secret", "-H", "Origin: null") == ["403"])
    #expect(try await statuses("-u", "x:secret") == ["200"])
    #expect(try await statuses("-u", "x:secret", "-I") == ["200"])
    #expect(try await statuses("-u", "x:secret", "-X", "DELETE") == ["405"])
    #expect(try await statuses("-u", "x:secret", "-X", "POST") == ["411"])
    let long = String(repeating: "x", count: 10_000)
    #expect(try await statuses("-u", "x:secret", "-d", long) == ["413"])
    #expect(
      try await statuses("-u", "x:secret", "-d", long, "-H", "Transfer-Encoding: chunked") == [
        "413"
      ])
    #expect(
      try await statuses(
        "-u", "x:secret", "-H", "Content-Type: multipart/form-data; boundary=b", "-d", "rubbish")
        == ["400"])
  }
}
