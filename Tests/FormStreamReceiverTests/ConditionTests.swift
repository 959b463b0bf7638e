import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Conditional uploads (RFC 9110 §13).
@Suite struct ConditionTests {
  @Test(arguments: [false, true])
  func `with If-None-Match a file is stored only under a free name`(_ overwrites: Bool)
    async throws
  {
    let server = try DirectoryServer(overwrites: overwrites)
    #expect(try await server.put("one", "If-None-Match: *").status == 200)
    let second = try await server.put("two", "If-None-Match: *")
    #expect(second.status == 412, "\(second)")
    #expect(second.text.contains(#""code":"precondition-failed""#), "\(second)")
    #expect(server.names == ["a"])
    #expect(try server.text("a") == "one")
    #expect(try await server.put("two", to: "/d/a", "if-none-match:  * ").status == 200)
    #expect(try await server.put("two", to: "/d/a", "If-None-Match: *").status == 412)
    #expect(server.names == ["a", "d"])
  }

  @Test func `if the name is taken, the body is not asked for`() async throws {
    let server = try DirectoryServer()
    #expect(try await server.put("one").status == 200)
    let response = try await server.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    )
    #expect(response.status == 412, "\(response)")
  }

  @Test func `if two uploads may store only under a free name, one of them does`() async throws {
    let server = try DirectoryServer(overwrites: true)
    let clients = try (0..<8).map { _ in try server.client() }
    for client in clients {
      try client.send(
        "PUT /a HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\nContent-Length: 3\r\n\r\nab")
    }
    let statuses = try await onNewThread {
      [clients = clients.map { SendableBox($0) }] in
      for client in clients { try client.value.send("c") }
      return try clients.map { try $0.value.response().status }
    }
    #expect(statuses.sorted() == [200] + [Int](repeating: 412, count: 7))
    #expect(server.names == ["a"])
  }

  /// The receiver gives no entity tags, and looks at no dates.
  @Test(
    arguments: [
      "If-Match: *", "If-Match: \"x\"", "If-None-Match: \"x\"", "If-None-Match: W/\"x\", \"y\"",
      "If-None-Match: *, \"x\"", "If-Match:", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
      "If-None-Match: *\r\nIf-Match: *",
    ], ["PUT", "POST"])
  func `a condition that can't be checked is refused`(_ header: String, _ method: String)
    async throws
  {
    let server = try DirectoryServer()
    let response = try await server.put("abc", header, method: method)
    #expect(response.status == 501, "\(response)")
    #expect(response.text.contains(#""code":"condition-unsupported""#), "\(response)")
    #expect(server.names == [])
  }

  /// The name is not that of the request's target, so the condition is not about it.
  @Test func `If-None-Match is refused for a POST, and if the handler does not support it`()
    async throws
  {
    let server = try DirectoryServer()
    #expect(try await server.put("abc", "If-None-Match: *", method: "POST").status == 501)
    #expect(server.names == [])
    let other = try TestServer()
    let response = try await other.response(
      to:
        "PUT /a HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"
    )
    #expect(response.status == 501)
    #expect(other.handler.targets == [])
  }

  /// RFC 9110 §13.1.3: "A recipient MUST ignore the If-Modified-Since header field if … the request method is neither
  /// GET nor HEAD."
  @Test func `If-Modified-Since is no condition of an upload`() async throws {
    let server = try DirectoryServer()
    let response = try await server.put(
      "abc", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(response.status == 200)
  }
}
