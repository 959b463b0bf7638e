import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The head of a request.
@Suite struct RequestHeadTests {
  private func sent(
    _ method: HTTPMethod = .post, _ path: String = "/",
    body: TransferBody? = .bytes(Array("b".utf8)),
    change: (inout TransferRequest) throws -> Void = { _ in }
  ) async throws -> RecordedRequest {
    let server = try ScriptedServer { _ in .good() }
    var request = try makeRequest(method, server.url + path, body)
    try change(&request)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    expectConsistency(result, at: server)
    return try #require(server.requests.first)
  }

  @Test func `a head has each needed header once, and nothing else`() async throws {
    let request = try await sent(.put, "/a?b")
    let names = request.headers.map { $0.name.lowercased() }
    #expect(
      Set(names) == [
        "host", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
      ])
    #expect(Set(names).count == names.count)
    #expect(request.headText.hasPrefix("PUT /a?b HTTP/1.1\r\n"))
    #expect(request.header("User-Agent") == "FormStream")
    #expect(request.header("Content-Type") == "application/octet-stream")
    #expect(request.header("Accept-Encoding") == "identity")
  }

  @Test func `headers that are set by hand are sent unchanged`() async throws {
    let request = try await sent { request in
      for (name, value) in [
        ("User-Agent", "mine"), ("Content-Type", "text/plain; charset=utf-8"),
        ("Accept", "text/html"),
        ("Accept-Encoding", "gzip"), ("Host", "other.example"), ("X-Empty", ""),
        ("X-Blank", " \t "),
        ("X-Two", "1"), ("X-Two", "2"), ("X-Ümlaut".replacing("Ü", with: "U"), "ä\u{1F600}"),
        ("X-Semicolon", ";"), ("X-Colon", ": a: b"), ("X-Inner", "a \t b"), ("Cookie", "a=b; c=d"),
        ("x-lower", "1"), ("!#$%&'*+-.^_`|~", "token"),
      ] {
        request.headers.append(name, value)
      }
    }
    for (name, values) in [
      ("User-Agent", ["mine"]), ("Content-Type", ["text/plain; charset=utf-8"]),
      ("Accept", ["text/html"]), ("Accept-Encoding", ["gzip"]), ("Host", ["other.example"]),
      ("X-Empty", [""]), ("X-Blank", [""]), ("X-Two", ["1", "2"]), ("X-Umlaut", ["ä\u{1F600}"]),
      ("X-Semicolon", [";"]), ("X-Colon", [": a: b"]), ("X-Inner", ["a \t b"]),
      ("Cookie", ["a=b; c=d"]), ("!#$%&'*+-.^_`|~", ["token"]),
    ] {
      #expect(request.values(of: name) == values, "\(name)")
    }
    #expect(request.headText.contains("\r\nx-lower: 1\r\n"))
    #expect(request.headText.contains("\r\nX-Empty:\r\n"))
  }

  @Test(arguments: [
    ("", "a"), ("X A", "a"), ("X:", "a"), ("X\r\nY", "a"), ("X\0", "a"), ("Ü", "a"),
    ("X-A", "a\r\nX-B: b"),
    ("X-A", "a\rb"), ("X-A", "a\nb"), ("X-A", "a\0b"), ("X-A", "\u{1}"), ("X-A", "\u{7F}"),
    ("X-A", "a\r\n"), ("Content-Length", "1"), ("content-LENGTH", "1"),
    ("Transfer-Encoding", "chunked"),
    ("Expect", "100-continue"), ("Connection", "close"), ("Keep-Alive", "1"), ("TE", "trailers"),
    ("Trailer", "X"), ("Upgrade", "h2c"), ("HTTP2-Settings", "a"), ("Proxy-Connection", "close"),
    ("X-Long", String(repeating: "a", count: 65_537)),
  ])
  func `a header that contradicts the request or contains a line break is refused`(
    name: String, value: String
  ) async throws {
    let error = try await refusal(of: [name: value])
    #expect(error?.code == .invalidHeader)
    #expect(error?.subject == name)
  }

  @Test func `the number of headers is limited`() async throws {
    var headers = HTTPHeaders((0..<200).map { ("X-\($0)", "a") })
    let request = try await sent { $0.headers = headers }
    #expect(request.header("x-199") == "a")
    headers.append("X", "a")
    let error = try await refusal(of: headers)
    #expect(error?.code == .invalidHeader)
    #expect(error?.description.contains("one too many") == true)
  }

  /// Of two `Host`, libcurl sent the first and dropped the other; two `Content-Type` were both sent.
  @Test(arguments: [("Host", "host"), ("Content-Type", "content-type")])
  func `a header that says one thing can't be given twice`(
    _ name: String, _ again: String
  ) async throws {
    let error = try await refusal(of: HTTPHeaders([(name, "a/example"), (again, "b/example")]))
    #expect(error?.code == .invalidHeader)
    #expect(error?.subject == name)
  }

  /// Both were sent, so that a server could recognize the request by another key than the one in the result.
  @Test(arguments: ["Idempotency-Key", "content-digest"])
  func `a header that an option sends can't be set beside it`(name: String) async throws {
    let error = try await refusal(of: [name: "a"]) { request in
      request.options.idempotencyKey = IdempotencyKey("key")
      request.options.sendsDigest = true
    }
    #expect(error?.code == .invalidHeader)
    #expect(error?.subject.lowercased() == name.lowercased())
  }

  /// The error of a request with these headers, of which nothing is sent.
  private func refusal(
    of headers: HTTPHeaders, change: (inout TransferRequest) -> Void = { _ in }
  ) async throws -> TransferError? {
    let server = try ScriptedServer { _ in [.unexpected] }
    var request = try makeRequest(server.url, .file("/nowhere"))
    request.headers = headers
    change(&request)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.attempts == 0)
    #expect(server.connections.isEmpty)
    return result.error
  }

  @Test(arguments: [
    ("GET", true), ("get", true), ("PROPFIND", true), ("M-SEARCH", true), ("", false),
    ("A B", false),
    ("GET /\r\n", false), ("G\0", false), ("CONNECT", false), ("connect", false), ("GÄT", false),
  ])
  func `a method is a token, and not CONNECT`(text: String, isOne: Bool) {
    #expect((HTTPMethod(parsing: text) != nil) == isOne)
  }

  /// A receiver could not find the parts.
  @Test(arguments: [
    "multipart/form-data; boundary=other", "multipart/form-data", "text/plain",
    "multipart/form-data; boundary=\"mine \"", "multipart/form-data; boundary=mine; boundary=other",
    "application/x-www-form-urlencoded; boundary=mine", "multipart/form-data; boundary=Mine", "",
    "/",
  ])
  func `a Content-Type that doesn't fit the form is refused`(type: String) async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let form = Form(boundary: try Boundary("mine")) { Part.text("a", "b") }
    var request = try makeRequest(server.url, .form(form))
    request.headers.append("content-type", type)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidHeader)
    #expect(result.error?.description.contains("boundary") == true)
    #expect(result.attempts == 0)
    #expect(server.connections.isEmpty)
  }

  @Test(arguments: [
    "multipart/form-data; boundary=mine", "Multipart/Form-Data;BOUNDARY=\"mine\"; charset=utf-8",
    "multipart/related; boundary=mine",
  ])
  func `a Content-Type with the form's own boundary is sent`(type: String) async throws {
    let form = Form(boundary: try Boundary("mine")) { Part.text("a", "b") }
    let request = try await sent(body: .form(form)) {
      $0.headers.append("Content-Type", type)
    }
    #expect(request.values(of: "Content-Type") == [type])
  }

  @Test(arguments: ["PATCH", "DELETE", "OPTIONS", "PUT", "POST", "GET"])
  func `any method may have a body`(name: String) async throws {
    let method = try #require(HTTPMethod(parsing: name))
    let request = try await sent(method, body: .bytes(Array("carried".utf8)))
    #expect(request.method == name)
    #expect(request.bodyText == "carried")
  }

  @Test(arguments: ["a\r\nX: y", "a\nb", "a\0", "\u{7F}"])
  func `a user agent that would add a line is refused`(_ text: String) throws {
    var configuration = TransferSession.Configuration()
    configuration.userAgent = text
    let error = #expect(throws: TransferError.self) { try TransferSession(configuration) }
    #expect(error?.code == .invalidSetting)
  }

  @Test func `HEAD has no body`() async throws {
    let server = try ScriptedServer { _ in .good(body: "here") }
    var request = try makeRequest(.head, server.url, .bytes(Array("b".utf8)))
    request.options.timeLimits.stall = .seconds(2)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .invalidSetting)
    #expect(server.connections.isEmpty)
  }

  @Test(arguments: [
    ("/a", "/a?k=v&s=a+b%26%3D%3F%23%2F%2B&%C3%A4=%25&flag"),
    ("/a?x=1", "/a?x=1&k=v&s=a+b%26%3D%3F%23%2F%2B&%C3%A4=%25&flag"),
    ("/a?", "/a?k=v&s=a+b%26%3D%3F%23%2F%2B&%C3%A4=%25&flag"),
    ("/a#b", "/a?k=v&s=a+b%26%3D%3F%23%2F%2B&%C3%A4=%25&flag"),
  ])
  func `a query is appended to the existing one`(path: String, target: String) async throws {
    let request = try await sent(.get, path, body: nil) {
      $0.query = [
        URLEncodedField("k", "v"), URLEncodedField("s", "a b&=?#/+"), URLEncodedField("ä", "%"),
        URLEncodedField("flag", nil),
      ]
    }
    #expect(request.target == target)
  }

  @Test(arguments: [
    ("plain", "\"plain\""), ("a\"b\\c", "\"a\\\"b\\\\c\""), (" ", "\" \""), ("~", "\"~\""),
  ])
  func `an idempotency key is quoted`(key: String, value: String) async throws {
    let request = try await sent { $0.options.idempotencyKey = IdempotencyKey(key) }
    #expect(request.values(of: "Idempotency-Key") == [value])
  }

  @Test func `an idempotency key is printable and not too long`() {
    for bad in ["", "ä", "a\nb", "\u{7F}", String(repeating: "a", count: 256)] {
      #expect(IdempotencyKey(bad) == nil)
    }
    #expect(IdempotencyKey.random() != IdempotencyKey.random())
  }
}
