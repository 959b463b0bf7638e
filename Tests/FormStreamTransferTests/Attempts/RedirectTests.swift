import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Redirects: a body is sent again completely, and a redirect is not followed if the response there would prove
/// nothing.
@Suite struct RedirectTests {
  /// A server that redirects `/start` with a status, and responds to everything else.
  private func server(_ status: Int, to location: String = "/end") throws -> ScriptedServer {
    try ScriptedServer { request in
      request.target == "/start"
        ? .good(status, headers: [("Location", location)], body: "elsewhere")
        : .good(body: "arrived")
    }
  }

  @Test(arguments: [307, 308], ["bytes", "file", "form", "stream", "measured", "large"])
  func `307 and 308 send the complete body again`(status: Int, kind: String) async throws {
    let place = try TemporaryDirectory()
    let bytes = noise(kind == "large" ? 3_000_000 : 100_000)
    let file = try place.write("file", bytes)
    let body: TransferBody =
      switch kind {
      case "file": .file(file)
      case "form": .form(Form(boundary: try Boundary("B")) { Part.file("f", file) })
      case "stream": .stream { InputStream(data: Data(bytes)) }
      case "measured": .stream(length: Int64(bytes.count)) { InputStream(data: Data(bytes)) }
      default: .bytes(bytes)
      }
    let server = try server(status)
    var request = try makeRequest(server.url + "/start", body)
    request.options.computesDigest = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.response?.text == "arrived")
    #expect(result.attempts == 2)
    #expect(result.redirects == 1)
    #expect(server.requests.map(\.target) == ["/start", "/end"])
    #expect(server.requests.map(\.method) == ["POST", "POST"])
    #expect(server.requests.first?.body == server.requests.last?.body)
    if kind != "form" { #expect(server.requests.last?.body == bytes) }
    #expect(Set(server.requests.map { $0.header("Content-Type") }).count == 1)
    #expect(result.totalBytesSent == 2 * result.bytesSent)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [307, 308])
  func `a stream that can be read once is not sent again after a redirect`(status: Int) async throws {
    let server = try server(status)
    let result = try await makeSession().result(
      of: makeRequest(server.url + "/start", oneShot("once".utf8, length: 4), attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .notReplayable)
    #expect(result.error?.description.contains("/end") == true)
    #expect(server.requests.count == 1)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [300, 301, 302, 304, 305], [HTTPMethod.post, .put, .patch, .delete])
  func `a request that changes something does not follow a redirect that may become a GET`(
    status: Int, method: HTTPMethod
  ) async throws {
    let server = try server(status)
    let result = try await makeSession().result(
      of: makeRequest(
        method, server.url + "/start", method == .delete ? nil : .bytes("b".utf8), attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.status == status)
    #expect(result.error?.code == .redirectRefused)
    #expect(result.error?.subject == "/end")
    #expect(result.error?.description.contains("/end") == true)
    #expect(server.requests.map(\.method) == [method.description])
    expectConsistency(result, at: server)
  }

  @Test(arguments: [HTTPMethod.post, .put, .delete])
  func `303 means success, and its page is fetched`(method: HTTPMethod) async throws {
    let server = try server(303)
    var request = try makeRequest(
      method, server.url + "/start", method == .delete ? nil : .bytes("b".utf8))
    request.headers.append("X-Mine", "1")
    request.options.idempotencyKey = .random()
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.status == 200)
    #expect(result.response?.text == "arrived")
    #expect(result.attempts == 1)
    #expect(result.redirects == 1)
    #expect(server.requests.map(\.method) == [method.description, "GET"])
    let page = try #require(server.requests.last)
    #expect(page.framing == .none)
    #expect(page.header("X-Mine") == "1")
    #expect(page.header("Content-Type") == nil)
    #expect(page.header("Idempotency-Key") == nil)
    expectConsistency(result, at: server)
  }

  @Test(arguments: ["missing", "cut", "silent", "looping", "elsewhere", "nowhere", "none"])
  func `whatever happens to the page, the request succeeded`(page: String) async throws {
    let server = try ScriptedServer { request in
      guard request.method == "GET" else {
        let location =
          switch page {
          case "elsewhere": "http://127.0.0.2:9/"
          case "nowhere": "ftp://example.org/"
          default: "/page"
          }
        return .good(303, headers: [("Location", location)], body: "done")
      }
      return switch page {
      case "missing": .good(404, body: "no such page")
      case "cut": [.respond(200, body: "part", framing: .announced(100)), .close]
      case "silent": [.close]
      case "looping": .good(302, headers: [("Location", "/page")])
      default: [.unexpected]
      }
    }
    let url = server.url + "/start"
    if page == "none" {
      let bare = try ScriptedServer { _ in .good(303, body: "done") }
      let result = try await makeSession().result(of: makeRequest(bare.url))
      #expect(result.outcome == .failed, "303 without a Location says nothing")
      return expectConsistency(result, at: bare)
    }
    let result = try await makeSession().result(of: makeRequest(url, attempts: 3))
    #expect(result.outcome == .ok)
    #expect(result.error == nil)
    #expect(result.status == 303)
    #expect(result.response?.text == "done")
    #expect(result.attempts == 1)
    #expect(server.requests.count { $0.method == "POST" } == 1)
    expectConsistency(result, at: server)
  }

  @Test func `a stream gets the body of the page that a 303 names, and not that of the 303`()
    async throws
  {
    let server = try server(303)
    let received = ReceivedText()
    var request = try makeRequest(server.url + "/start")
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(received.text == "arrived")
    expectConsistency(result, at: server)
  }

  @Test func `a page that can't be used leaves the file untouched`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")], body: "done") : .good(404, body: "no page")
    }
    var request = try makeRequest(server.url)
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.status == 303)
    #expect(result.response?.text == "done")
    #expect(!FileManager.default.fileExists(atPath: place.path("response")))
    expectConsistency(result, at: server)
  }

  @Test(arguments: [301, 302, 303, 307, 308], [HTTPMethod.get, .head])
  func `a request that changes nothing follows all redirects`(status: Int, method: HTTPMethod)
    async throws
  {
    let server = try server(status)
    let result = try await makeSession().result(
      of: makeRequest(method, server.url + "/start", nil))
    #expect(result.outcome == .ok)
    #expect(result.redirects == 1)
    #expect(result.response?.url.description == server.url + "/end")
    #expect(server.requests.map(\.method) == [method.description, method.description])
    expectConsistency(result, at: server)
  }

  @Test(arguments: [0, 1, 5])
  func `at most the allowed number of redirects is followed`(limit: Int) async throws {
    let server = try ScriptedServer { request in
      let number = Int(request.target.dropFirst()) ?? 0
      return number < limit
        ? .good(307, headers: [("Location", "/\(number + 1)")]) : .good(body: "end")
    }
    var request = try makeRequest(server.url + "/0")
    request.options.redirects.limit = limit
    let session = try makeSession()
    let enough = await session.result(of: request)
    #expect(enough.outcome == .ok)
    #expect(enough.redirects == limit)
    #expect(enough.attempts == limit + 1)
    expectConsistency(enough, at: server)
    guard limit > 0 else { return }
    request.options.redirects.limit = limit - 1
    let tooMany = await session.result(of: request)
    #expect(tooMany.outcome == .failed)
    #expect(tooMany.error?.code == .tooManyRedirects)
    #expect(tooMany.attempts == limit)
    #expect(server.completeBodyCount == enough.attempts + tooMany.attempts)
    #expect(server.faults == [])
  }

  @Test(arguments: [HTTPMethod.get, .post])
  func `a redirect loop ends at the limit`(method: HTTPMethod) async throws {
    let server = try ScriptedServer { _ in .good(308, headers: [("Location", "")]) }
    let looping = try ScriptedServer { _ in .good(308, headers: [("Location", "/")]) }
    let body: TransferBody? = method == .get ? nil : .bytes("b".utf8)
    let session = try makeSession()
    let result = try await session.result(
      of: makeRequest(method, looping.url, body, attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .tooManyRedirects)
    #expect(result.redirects == 5)
    #expect(looping.requests.count == 6)
    expectConsistency(result, at: looping)
    // An empty reference means the same URL (RFC 3986 §4.4), or is refused; it is never a success.
    let empty = try await session.result(of: makeRequest(method, server.url, body))
    #expect(empty.outcome == .failed)
    expectConsistency(empty, at: server)
  }

  @Test func `a redirect before the end of the body is followed with the complete body`()
    async throws
  {
    let bytes = noise(8_000_000)
    let server = try ScriptedServer { request in
      request.target == "/start"
        ? [
          .readBody(upTo: 10_000),
          .respond(307, headers: [("Location", "/end"), ("Connection", "close")]), .finish,
        ] : .good()
    }
    var request = try makeRequest(.put, server.url + "/start", .bytes(bytes))
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.target) == ["/start", "/end"])
    #expect(server.requests.last?.body == bytes)
    #expect(result.attempts == 2)
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test func `a 303 before the end of the body is not a success`() async throws {
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: 10_000),
        .respond(303, headers: [("Location", "/end"), ("Connection", "close")]), .finish,
      ]
    }
    var request = try makeRequest(server.url, .bytes(noise(8_000_000)))
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly)
    #expect(server.requests.count == 1)
    #expect(server.faults(except: .cutShort) == [])
  }
}
