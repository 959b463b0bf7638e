import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// The functions for the commonest requests.
@Suite struct VerbTests {
  private struct Order: Codable, Equatable {
    var item = "lamp"
    var count = 2
  }

  private static let json = #"{"count":2,"item":"lamp"}"#

  /// What a call sends, and what it returns.
  private func sent<Value>(
    response: String = json, _ call: (TransferSession, String) async throws -> Value
  ) async throws -> (RecordedRequest, Value) {
    let server = try ScriptedServer { _ in .good(body: response) }
    let value = try await call(try makeSession(), server.url + "/a")
    #expect(server.requests.count == 1)
    #expect(server.faults.isEmpty)
    return (try #require(server.requests.first), value)
  }

  @Test func `each verb sends its method and its kind of body`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("file", "from the disk").description
    let form = Form(boundary: try Boundary("B")) { Part.text("a", "b") }
    let body = TransferBody.bytes(Array("any".utf8), type: "text/x-any")
    typealias Call = @Sendable (TransferSession, String) async throws -> TransferResponse
    let calls: [(method: String, type: String?, body: String?, call: Call)] = [
      ("GET", nil, "", { try await $0.get($1) }),
      ("DELETE", nil, "", { try await $0.delete($1) }),
      ("POST", "multipart/form-data; boundary=B", nil, { try await $0.post($1, form: form) }),
      ("POST", "application/json", nil, { try await $0.post($1, json: Order()) }),
      (
        "POST", "application/x-www-form-urlencoded", "a=b+c&a=%26",
        { try await $0.post($1, fields: ["a": "b c", "a": "&"]) }
      ),
      ("POST", "text/x-any", "any", { try await $0.post($1, body: body) }),
      (
        "PUT", "application/octet-stream", "from the disk", { try await $0.put($1, file: file) }
      ),
      ("PUT", "text/x-any", "any", { try await $0.put($1, body: body) }),
      ("PATCH", "application/json", nil, { try await $0.patch($1, body: .json(Order())) }),
      ("PATCH", "text/x-any", "any", { try await $0.patch($1, body: body) }),
    ]
    for (method, type, body, call) in calls {
      let (request, response) = try await sent(call)
      #expect(request.method == method)
      #expect(request.header("Content-Type") == type, "\(method)")
      if let body { #expect(request.bodyText == body, "\(method)") }
      if type == "application/json" {
        #expect(try JSONDecoder().decode(Order.self, from: Data(request.body)) == Order())
      }
      #expect(response.text == Self.json)
    }
  }

  @Test func `a response is decoded, and an error of that says that the request succeeded`()
    async throws
  {
    let (_, order) = try await sent { try await $0.get($1).decoded(as: Order.self) }
    #expect(order == Order())
    let error = await #expect(throws: TransferError.self) {
      try await sent(response: "no JSON") { try await $0.get($1).decoded(as: Order.self) }
    }
    #expect(error?.code == .invalidJSON)
    // The server has accepted the request.
    #expect(error?.outcome == .ok)
    #expect(error?.status == 200)
  }

  @Test func `a call takes a query, headers, credentials, options and progress`() async throws {
    let phases = Guarded<[String]>([])
    var options = TransferOptions()
    options.idempotencyKey = IdempotencyKey("k")
    let (request, _) = try await sent { [options] session, url in
      try await session.get(
        url, query: ["q": "a b", "q": "c"], headers: ["X-Mine": "1"],
        credentials: .basic(user: "u", password: "p"), options: options
      ) { update in
        phases.withLock { $0.append(update.phase.rawValue) }
      }
    }
    #expect(request.target == "/a?q=a+b&q=c")
    #expect(request.header("X-Mine") == "1")
    #expect(request.header("Authorization") == "Basic dTpw")
    #expect(request.header("Idempotency-Key") == "\"k\"")
    #expect(phases.withLock(\.last) == "done")
  }

  @Test func `a URL is a text, a URL of Foundation or an HTTPURL`() async throws {
    for convert: @Sendable (String) throws -> any HTTPURLConvertible in [
      { $0 }, { try #require(URL(string: $0)) }, { try HTTPURL($0) },
    ] {
      let (request, _) = try await sent { try await $0.get(try convert($1)) }
      #expect(request.target == "/a")
    }
    for url: any HTTPURLConvertible in ["/nowhere", URL(filePath: "/nowhere")] {
      let error = await #expect(throws: TransferError.self) { try await makeSession().get(url) }
      #expect(error?.code == .invalidURL)
    }
  }

  @Test func `a file is a text, a URL of Foundation or a LocalPath`() async throws {
    let place = try TemporaryDirectory()
    let path = try place.write("file.txt", "here")
    let files: [any LocalPathConvertible] = [
      path, path.description, URL(filePath: path.description),
    ]
    for file in files {
      let (request, _) = try await sent { try await $0.put($1, file: file) }
      #expect(request.bodyText == "here")
      let part = Part.file("f", file)
      #expect(part.filename == "file.txt")
      let (posted, _) = try await sent { try await $0.post($1, form: Form(parts: [part])) }
      #expect(posted.bodyText.contains("here"))
      _ = try await sent(response: "there") { try await $0.download($1, to: file).response }
      let stored = try String(contentsOfFile: path.description, encoding: .utf8)
      #expect(stored == "there")
      _ = try place.write("file.txt", "here")
    }
  }

  @Test func `a URL that is not a file's fails when it is sent, and nothing is sent`() async throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let (session, url) = (try makeSession(), server.url)
    let page = try #require(URL(string: "https://example.org/file"))
    typealias Call = @Sendable () async throws -> TransferResponse
    let calls: [Call] = [
      { try await session.put(url, file: page) },
      { try await session.post(url, form: Form { Part.file("f", page) }) },
      { try await session.download(url, to: page).response },
    ]
    for call in calls {
      let error = await #expect(throws: TransferError.self) { try await call() }
      #expect(error?.code.rawValue == "not-a-file")
      #expect(error?.description.contains("https://example.org/file") == true)
      #expect(error?.outcome == .failed)
    }
    #expect(server.connections.isEmpty)
  }

  @Test func `a refused download leaves the file, and its response is in the error`() async throws {
    let place = try TemporaryDirectory()
    let path = try place.write("file", "old")
    let server = try ScriptedServer { _ in .good(403, body: "no") }
    let error = await #expect(throws: TransferError.self) {
      try await makeSession().download(server.url, to: path)
    }
    #expect(error?.response?.text == "no")
    let stored = try String(contentsOfFile: path.description, encoding: .utf8)
    #expect(stored == "old")
  }

  private struct Answer: Codable, Sendable, Equatable { var a: String }

  /// It was an error, `invalidJSON`.
  @Test func `a response without a body is decoded as nil if that is asked for`() async throws {
    for (status, head) in [
      (204, ""), (205, "Content-Length: 0\r\n"), (200, "Content-Length: 0\r\n"),
    ] {
      let server = try ScriptedServer { _ in
        [.readBody, .send("HTTP/1.1 \(status) OK\r\n\(head)\r\n")]
      }
      let session = try makeSession()
      #expect(try await session.get(server.url).decoded(as: Answer?.self) == nil)
      #expect(try await session.open(makeRequest(server.url)).decoded(as: Answer?.self) == nil)
      let error = await #expect(throws: TransferError.self) {
        try await session.get(server.url).decoded(as: Answer.self)
      }
      #expect(error?.code == .invalidJSON)
      #expect(error?.outcome == .ok)
    }
    let server = try ScriptedServer { _ in .good(body: "{\"a\":\"b\"}") }
    #expect(try await makeSession().get(server.url).decoded(as: Answer?.self) == Answer(a: "b"))
    let null = try ScriptedServer { _ in .good(body: "null") }
    #expect(try await makeSession().get(null.url).decoded(as: Answer?.self) == nil)
    let blank = try ScriptedServer { _ in .good(body: " ") }
    await #expect(throws: TransferError.self) {
      try await makeSession().get(blank.url).decoded(as: Answer?.self)
    }
  }
}
