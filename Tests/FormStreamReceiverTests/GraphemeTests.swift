import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Heads are bytes: to Swift, a delimiter and a combining mark after it are one character, and some characters are equal
/// to others.
@Suite struct GraphemeTests {
  /// Regression: a query became a part of a stored name.
  @Test(arguments: [
    ("/f?\u{301}token=SECRET", "f"), ("/\u{301}f", "\u{301}f"), ("/a?/\u{301}", "a"),
    ("/f?x/\u{301}", "f"), ("http://h/\u{301}b?\u{301}c", "\u{301}b"), ("HTTP://h/b", "b"),
  ])
  func `a path ends where its query begins`(_ target: String, _ name: String) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: "PUT \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    #expect(response.status == 200)
    #expect(server.handler.parts.map { Array(($0.filename ?? "").utf8) } == [Array(name.utf8)])
  }

  @Test(arguments: ["http://h:80?\u{301}/c", "/d\u{301}/", "/?\u{301}"])
  func `a path that names no file names none`(_ target: String) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: "PUT \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    #expect(response.status == 200)
    #expect(server.handler.parts.map(\.filename) == [nil])
  }

  /// Regression: such a form was stored as a file, or its parts needed no names.
  @Test(arguments: [
    "multipart/form-data;\u{301}boundary=B", "multipart/form-data;\u{301}x=y; boundary=B",
    "multipart/\u{301}form-data; boundary=B", "MULTIPART/form-data ;\u{301}; boundary=B",
  ])
  func `a form is a form whatever follows its type`(_ type: String) async throws {
    let server = try TestServer()
    let body = "--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n"
    let response = try await server.response(
      to: "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: \(type)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    // A part of a form needs a name.
    #expect(response.status == 400 || type.contains("/\u{301}"), "\(response)")
    #expect(server.handler.parts.allSatisfy { $0.bytes == Array("x".utf8) })
  }

  @Test func `a token may begin with a combining mark`() async throws {
    let server = try TestServer { $0.token = "\u{301}secret" }
    let response = try await server.response(
      to: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        + "Authorization: Bearer \u{301}secret\r\n\r\n")
    #expect(response.status == 200)
  }

  @Test(arguments: [
    "localhost:\u{301}", "localhost.\u{301}", "[\u{301}::1]", "[::1]\u{301}", "\u{301}localhost",
    "loca\u{212A}", "\u{2100}",
  ])
  func `a name that only looks like this machine's is another`(_ host: String) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: \(host)\r\nOrigin: http://\(host)\r\nConnection: close\r\n"
        + "Content-Length: 0\r\n\r\n")
    #expect([400, 403].contains(response.status))
    #expect(server.handler.targets == [])
  }

  /// To Swift, U+00E9 and U+0065 U+0301 are equal.
  @Test func `an origin is compared by its bytes`() async throws {
    let server = try TestServer { $0.address = "0.0.0.0" }
    let response = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: caf\u{E9}\r\nOrigin: http://cafe\u{301}\r\n"
        + "Connection: close\r\nContent-Length: 0\r\n\r\n")
    #expect(response.status == 403)
  }
}
