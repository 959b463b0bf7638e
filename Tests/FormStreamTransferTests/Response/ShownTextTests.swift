import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Messages show text from outside without control characters: they get into logs.
@Suite struct ShownTextTests {
  private static let hostile = "a\r\nSet-Cookie: x\u{0}\u{1B}[2J\u{202E}\u{85}b"

  /// What throws an error about that text.
  private static let failures: [(name: String, fail: @Sendable (String) async throws -> Void)] = [
    (
      "a header of a part",
      { text in
        _ = try Form { Part(name: "a", headers: [text: "b"], body: .text("c")) }.layout()
      }
    ),
    ("a boundary", { _ = try Boundary($0) }),
    ("a boundary to parse with", { _ = try FormParser(boundary: $0) }),
    ("a Content-Type to parse with", { _ = try FormParser(contentType: $0) }),
    ("a path", { text in _ = try Form { Part.file("a", text) }.layout() }),
    ("the path of a part", { text in _ = try Form { Part.file(text, "/proc/nonexistent") }.layout() }),
    (
      "a name in a body",
      { text in
        let parser = try FormParser(boundary: "B")
        let body = "--B\r\n\(text.replacing("\r\n", with: "")): x\r\n\r\n\r\n--B--"
        _ = try CollectedForm(reading: InputStream(data: Data(body.utf8)), with: parser, limit: 10)
      }
    ),
    ("a URL", { _ = try TransferRequest(.get, $0) }),
    ("a URL with a good start", { _ = try TransferRequest(.get, "http://a/" + $0) }),
    ("a host", { _ = try TransferRequest(.get, "http://\($0)/") }),
    ("a scheme", { _ = try TransferRequest(.get, "\($0)://a/") }),
    (
      "a header of a request",
      { text in
        var request = try TransferRequest(.get, "http://127.0.0.1:1/")
        request.headers[text] = "b"
        try await TransferSession().send(request)
      }
    ),
    (
      "a user agent",
      { text in
        var configuration = TransferSession.Configuration()
        configuration.userAgent = text
        _ = try TransferSession(configuration)
      }
    ),
    (
      "an interface",
      { text in
        var configuration = TransferSession.Configuration()
        configuration.localInterface = text
        try await TransferSession(configuration).send(TransferRequest(.get, "http://127.0.0.1:1/"))
      }
    ),
    (
      "authorities",
      { text in
        var configuration = TransferSession.Configuration()
        configuration.tls.authorities = LocalPath(text)
        _ = try TransferSession(configuration)
      }
    ),
    (
      "a proxy",
      { text in
        var configuration = TransferSession.Configuration()
        configuration.proxy = try .proxy(text)
        _ = try TransferSession(configuration)
      }
    ),
    (
      "cookies",
      { text in
        var configuration = TransferSession.Configuration()
        configuration.cookies = .session(file: LocalPath("/proc/nonexistent/" + text))
        _ = try TransferSession(configuration).saveCookies(to: LocalPath("/proc/nonexistent/" + text))
      }
    ),
    ("netrc", { _ = try Netrc(parsing: "machine a login b password c \($0) d") }),
    (
      "a place for a download",
      { text in
        try await TransferSession().download("http://127.0.0.1:1/", to: "/proc/nonexistent/" + text)
      }
    ),
  ]

  /// The names of headers and boundaries were printed with their CR, LF and NUL.
  @Test(arguments: 0..<failures.count)
  func `no message has control characters of what it names`(_ index: Int) async throws {
    let (name, fail) = Self.failures[index]
    let error = await #expect(throws: (any Error).self, "\(name)") { try await fail(Self.hostile) }
    let text = error.map { "\($0)" } ?? ""
    let bad = text.unicodeScalars.filter {
      $0.value < 0x20 || [0x7F, 0x85, 0x202E].contains($0.value)
    }
    #expect(bad.isEmpty, "\(name): \(text.debugDescription)")
  }

  /// A server's text in messages about its responses.
  @Test(arguments: [
    "HTTP/1.1 302 Found\r\nLocation: http://a\u{1B}[2J\u{7F}b/\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: \u{1B}[2J://b/\r\n\r\n",
    "HTTP/1.1 401 No\r\nWWW-Authenticate: \u{1B}[2J realm=\"\u{1B}\"\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: \u{1B}[2J\r\nContent-Length: 1\r\n\r\na",
    "HTTP/1.1 \u{1B}[2J OK\r\n\r\n", "\u{1B}[2J\r\n\r\n", "HTTP/1.1 200 OK\r\n\u{1B}[2J\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: \u{1B}[2J\r\n\r\n",
  ])
  func `no message has control characters of the server`(_ response: String) async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(response), .close] }
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseCompression = ResponseCompression(limit: 100)
    request.options.redirects.allowsOtherOrigins = true
    let result = try await makeSession().result(of: request)
    let text = result.error?.description ?? ""
    #expect(
      text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
      "\(text.debugDescription)")
  }
}
