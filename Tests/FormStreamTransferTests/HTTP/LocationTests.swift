import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Which values of `Location` are followed.
@Suite struct LocationTests {
  private func result(of location: String, method: HTTPMethod = .post) async throws -> (
    TransferResult, ScriptedServer
  ) {
    let server = try ScriptedServer { request in
      let text = location.replacing("HERE", with: request.header("Host") ?? "")
      guard request.target == "/a/start?q" else { return .good(body: "arrived") }
      return [
        .readBody, .send("HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: \(text)\r\n\r\n"),
      ]
    }
    let body: TransferBody? = method == .get ? nil : .bytes("b".utf8)
    let result = try await makeSession().result(
      of: makeRequest(method, server.url + "/a/start?q", body))
    return (result, server)
  }

  @Test(arguments: [
    ("/end", "/end"), ("end", "/a/end"), ("./end", "/a/end"), ("../end", "/end"),
    ("../../../end", "/end"), ("?end", "/a/start?end"), ("//HERE/end", "/end"),
    ("http://HERE/end", "/end"), ("HTTP://HERE/end", "/end"), ("http://HERE", "/"),
    ("/end#there", "/end"), ("http://HERE/end?a=b#c", "/end?a=b"), ("/a b", "/a%20b"),
    ("/ä", "/%c3%a4"), ("/%2e%2E%41", "/%2e%2E%41"), ("/end\t ", "/end"),
    ("http://user:word@HERE/end", "/end"), ("//user@HERE/end", "/end"),
    ("/http://elsewhere.example/", "/http://elsewhere.example/"),
    // RFC 9112 §5.2: a folded line is one line with a space.
    ("\r\n /end", "/end"), ("\r\n\t/end", "/end"), ("/end\r\n ", "/end"),
    ("/a\r\n  b", "/a%20b"), ("/a?b:\r\n c:d", "/a?b:+c:d"),
  ])
  func `a location in the same origin is followed`(location: String, target: String) async throws {
    let (result, server) = try await result(of: location)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.target) == ["/a/start?q", target])
    // Credentials in a Location are not used.
    #expect(server.requests.last?.header("Authorization") == nil)
    expectConsistency(result, at: server)
  }

  /// As curl writes them, too. U+FFFD in their place would name another URL.
  @Test(arguments: [HTTPMethod.put, .post])
  func `bytes that are not UTF-8 are percent-encoded`(method: HTTPMethod) async throws {
    let server = try ScriptedServer { request in
      guard request.target == "/" else { return .good() }
      return [
        .readBody,
        .sendBytes(
          Array("HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: /caf".utf8) + [0xE9]
            + Array("\r\n  %41?ä".utf8) + [0xFF, 0x0D, 0x0A, 0x0D, 0x0A]),
      ]
    }
    let result = try await makeSession().result(of: makeRequest(method, server.url))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.target) == ["/", "/caf%e9%20%41?%c3%a4%ff"])
  }

  @Test func `the URL of a reference that is only a fragment is the same`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(307, headers: [("Location", "#f")]) : .good()
    }
    let result = try await makeSession().result(of: makeRequest(server.url + "/a/b?q"))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.target) == ["/a/b?q", "/a/b?q"])
  }

  @Test(
    arguments: [
      "file:///etc/passwd", "file://HERE/etc/passwd", "ftp://HERE/", "javascript:alert(1)",
      "data:text/plain,a", "gopher://HERE/", "mailto:a@example.org", "ws://HERE/", "scp://HERE/",
      "dict://HERE/", "http://", "http:///", "//", "http://:80/", "http://HERE:99999/",
      "http://[::1/",
      "http://HERE:port/", "/a\u{1}b", "/a\rb", "/a\u{7F}b", "/a\u{0}b", "http://a b/",
      "unix:/tmp/a",
      "HERE/end",
    ], [HTTPMethod.post, .get])
  func `a location that can't be requested is refused, and named`(
    location: String, method: HTTPMethod
  ) async throws {
    let (result, server) = try await result(of: location, method: method)
    #expect(result.outcome != .ok)
    #expect(server.requests.count == 1)
    if result.status != nil {
      #expect(result.outcome == .failed)
      #expect(result.error?.code == .redirectRefused)
      #expect(result.status == 307)
    }
    expectConsistency(result, at: server)
  }

  @Test(arguments: [
    "http://user:canary@elsewhere.example/", "ftp://user:canary@elsewhere.example/",
  ])
  func `an error doesn't show the secrets of a Location`(location: String) async throws {
    let (result, server) = try await result(of: location)
    #expect(result.error?.code == .redirectRefused)
    #expect("\(String(describing: result.error))".contains("canary") == false)
    #expect(result.error?.description.contains("elsewhere.example") == true)
    expectConsistency(result, at: server)
  }

  @Test func `with two Locations, the request stays in its origin`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/"
        ? .good(307, headers: [("Location", "http://127.0.0.2:9/"), ("Location", "/b")]) : .good()
    }
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .redirectRefused)
    expectConsistency(result, at: server)
  }

  /// Browsers and curl take it as none: the response is the last, and explains itself.
  @Test(arguments: [301, 302, 303, 307, 308])
  func `an empty location is none`(status: Int) async throws {
    let server = try ScriptedServer { _ in
      [.send("HTTP/1.1 \(status) x\r\nLocation: \r\nContent-Length: 4\r\n\r\ntext")]
    }
    let result = try await makeSession().result(of: makeRequest(.get, server.url, nil, attempts: 3))
    #expect(result.outcome == .failed && result.error?.code == .statusRefused)
    #expect(result.response?.text == "text")
    #expect(server.requests.count == 1)
    // A 303 says that the request was carried out, whatever it names.
    let posted = try await makeSession().result(of: makeRequest(.post, server.url, nil))
    #expect(posted.outcome == (status == 303 ? .ok : .failed))
  }

  @Test func `a trace says that the password of a location is not used`() async throws {
    let notes = ReceivedText()
    let server = try ScriptedServer { request in
      let host = request.header("Host") ?? ""
      return request.target == "/"
        ? .good(302, headers: [("Location", "http://user:canary@\(host)/end")]) : .good()
    }
    var request = try makeRequest(.get, server.url, nil)
    request.options.trace = { notes.append($0.description) }
    #expect(await (try makeSession()).result(of: request).outcome == .ok)
    #expect(notes.text.contains("user and the password of the Location"), "\(notes.text)")
    #expect(!notes.text.contains("canary"))
  }
}
