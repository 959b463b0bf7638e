import FormStream
import Foundation
import FormStreamMultipart
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Where a response's body goes, and what remains if it is incomplete.
@Suite struct ResponseTargetTests {
  @Test(arguments: [0, 1, 99, 100, 101])
  func `memory keeps bytes up to its limit`(limit: Int) async throws {
    let body = String(repeating: "a", count: 100)
    let server = try ScriptedServer { _ in .good(body: body) }
    let session = try makeSession()
    for _ in 0..<2 {
      var request = try makeRequest(server.url)
      request.options.responseTarget = .truncated(at: limit)
      let result = await session.result(of: request)
      #expect(result.outcome == .ok)
      #expect(result.error == nil)
      #expect(result.response?.body.count == min(limit, 100))
      #expect(result.response?.isTruncated == (limit < 100))
    }
    // The bytes over the limit are read, so that the connection can be reused.
    #expect(server.connections.count == 1)
    #expect(server.faults == [])
  }

  @Test(arguments: [HTTPMethod.post, .get])
  func `a body far over the limit ends the connection, and is not a failure`(method: HTTPMethod)
    async throws
  {
    let piece = [UInt8](repeating: 65, count: 20 << 20)
    let server = try ScriptedServer { _ in
      [.readBody, .respond(200, bytes: piece, framing: .announced(1 << 30)), .stall]
    }
    var request = try makeRequest(
      method, server.url, method == .get ? nil : .bytes("b".utf8), attempts: 3)
    request.options.responseTarget = .truncated(at: 10)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(result.attempts == 1)
    #expect(result.response?.isTruncated == true)
    #expect(result.response?.body.count == 10)
    expectConsistency(result, at: server)
  }

  @Test func `a file that is replaced keeps its mode`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "new") }
    for mode in [0o600, 0o640] {
      try place.write("response", "old")
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: place.path("response"))
      var request = try makeRequest(server.url)
      request.options.responseTarget = .file(place.local("response"))
      #expect(await (try makeSession()).result(of: request).outcome == .ok)
      #expect(place.bytes("response") == Array("new".utf8))
      let attributes = try FileManager.default.attributesOfItem(atPath: place.path("response"))
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
    }
  }

  @Test(arguments: [404, 409, 500, 302])
  func `a refused response doesn't replace a good file, and is kept in memory`(status: Int)
    async throws
  {
    let place = try TemporaryDirectory()
    try place.write("response", "old")
    let server = try ScriptedServer { _ in
      .good(status, headers: [("Location", "ftp://example.org/")], body: "refused")
    }
    var request = try makeRequest(server.url)
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.status == status)
    #expect(result.response?.text == "refused")
    #expect(try text(place) == "old")
    #expect(try names(place) == ["response"])
    expectConsistency(result, at: server)
  }

  @Test func `an empty response creates an empty file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good() }
    var request = try makeRequest(.get, server.url, nil)
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(try text(place) == "")
    expectConsistency(result, at: server)
  }

  @Test(arguments: ["cut", "reset", "silent", "refused", "garbage", "stalled"])
  func `an existing file survives a failed transfer`(end: String) async throws {
    let place = try TemporaryDirectory()
    try place.write("response", "old")
    let server = try ScriptedServer { _ in
      switch end {
      case "cut": [.respond(200, body: "new", framing: .announced(100)), .close]
      case "reset": [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnew"), .reset]
      case "stalled": [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnew"), .stall]
      case "garbage": [.send("new"), .close]
      case "refused": .good(302, headers: [("Location", "ftp://example.org/")], body: "moved")
      default: [.close]
      }
    }
    var request = try makeRequest(.get, server.url, nil, attempts: 2)
    request.options.responseTarget = .file(place.local("response"))
    if end == "stalled" { request.options.timeLimits.stall = .milliseconds(200) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome != .ok)
    #expect(try text(place) == "old")
    #expect(try names(place) == ["response"])
    expectConsistency(result, at: server)
  }

  @Test func `a POST is a success even if its response is incomplete`() async throws {
    let place = try TemporaryDirectory()
    try place.write("response", "old")
    let server = try ScriptedServer { _ in
      [.readBody, .respond(200, body: "new", framing: .announced(100)), .close]
    }
    var request = try makeRequest(server.url)
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.error?.code == .connectionLost)
    #expect(result.response?.isTruncated == true)
    #expect(try text(place) == "old")
    #expect(try names(place) == ["response"])
    expectConsistency(result, at: server)
  }

  @Test(arguments: ["no/such/directory", ".", "a\u{0}b"], [HTTPMethod.post, .get])
  func `a file that can't be written has its own error code`(name: String, method: HTTPMethod)
    async throws
  {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "new") }
    var request = try makeRequest(
      method, server.url, method == .get ? nil : .bytes("b".utf8), attempts: 3)
    request.options.responseTarget = .file(place.local(name))
    let session = try makeSession()
    let result = await session.result(of: request)
    // The server carried out the request, whatever happens to its response.
    #expect(result.outcome == (method == .post ? .ok : .failed))
    #expect(result.error?.code == .responseNotStored)
    #expect(result.status == 200)
    #expect(result.attempts == 1)
    #expect(try names(place) == [])
    expectConsistency(result, at: server)
    await #expect(throws: TransferError.self) { try await session.send(request) }
  }

  @Test func `a device or a FIFO is not replaced by a file`() async throws {
    let place = try TemporaryDirectory()
    try makeFIFO(place.local("response"))
    let server = try ScriptedServer { _ in .good(body: "new") }
    var request = try makeRequest(server.url)
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.error?.code == .responseNotStored)
    #expect(result.error?.description.contains("a stream as the target") == true)
    let status = try FileStatus(of: place.local("response"), followsSymlinks: false)
    #expect(status.kind == .pipe)
    #expect(try names(place) == ["response"])
  }

  @Test func `a stream receives the response in pieces`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0
        ? .good(503, body: "not this")
        : .good(body: "piece by piece", framing: .chunks(of: 3, trailers: []))
    }
    let received = ReceivedText()
    var request = try makeRequest(server.url, attempts: 2)
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(received.text == "piece by piece")
    expectConsistency(result, at: server)
  }

  @Test(arguments: [HTTPMethod.post, .get])
  func `a stream that throws ends the response, and the outcome stays`(method: HTTPMethod)
    async throws
  {
    let body = String(repeating: "a", count: 4_000_000)
    let server = try ScriptedServer { _ in .good(body: body) }
    let received = ReceivedText()
    var request = try makeRequest(
      method, server.url, method == .get ? nil : .bytes("b".utf8), attempts: 3)
    request.options.responseTarget = .stream { bytes in
      received.append(bytes)
      throw TestError(7)
    }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == (method == .post ? .ok : .failed))
    #expect(result.error?.code == .responseNotStored)
    #expect(result.error?.underlying as? TestError == TestError(7))
    #expect(result.attempts == 1)
    #expect(result.response?.isTruncated == true)
    #expect(received.text.utf8.count < 4_000_000)
    expectConsistency(result, at: server)
  }

  @Test func `a stream doesn't receive the same bytes again`() async throws {
    let server = try ScriptedServer { _ in
      [.respond(200, body: "part", framing: .announced(100)), .close]
    }
    let received = ReceivedText()
    var request = try makeRequest(.get, server.url, nil, attempts: 3)
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectionLost)
    #expect(result.attempts == 1)
    #expect(received.text == "part")
    expectConsistency(result, at: server)
  }

  private func text(_ place: TemporaryDirectory) throws -> String {
    // Foundation leaks 4 KiB for each empty file that it reads.
    try run(program: "/bin/cat", [place.path("response")]).output
  }

  private func names(_ place: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
  }
}
