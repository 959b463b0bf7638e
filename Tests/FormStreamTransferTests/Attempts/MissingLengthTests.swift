import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Servers that take only bodies whose length is announced.
@Suite struct MissingLengthTests {
  /// A stream that can be opened again.
  private func replayable(_ bytes: [UInt8]) -> TransferBody {
    .part(.stream { ScriptedSource(bytes) })
  }

  private func refusing(_ status: Int, early: Bool) throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.framing == .chunked else { return .good() }
      return early ? [.respond(status), .skipBody] : .good(status)
    }
  }

  @Test(arguments: [411, 501], [false, true])
  func `after a refusal, a body that can be read again is sent with its length`(
    status: Int, early: Bool
  ) async throws {
    let server = try refusing(status, early: early)
    let result = try await makeSession().result(
      of: makeRequest(server.url, replayable(noise(3000))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(result.attempts == 2 && result.contentLength == 3000)
    #expect(server.requests.map(\.framing) == [.chunked, .contentLength(3000)])
    #expect(server.requests.last?.body == noise(3000))
    expectConsistency(result, at: server, bodies: early ? 1 : 2)
  }

  @Test(arguments: [411, 501])
  func `a server that refuses the length, too, is not asked again`(status: Int) async throws {
    let server = try ScriptedServer { _ in .good(status) }
    let result = try await makeSession().result(
      of: makeRequest(server.url, replayable(noise(3000)), attempts: 3))
    #expect(result.outcome == .failed && result.status == status)
    #expect(server.requests.map(\.framing) == [.chunked, .contentLength(3000)])
  }

  @Test(arguments: [411, 501], [false, true])
  func `a body that can be read once is refused, and the setting that helps is named`(
    status: Int, early: Bool
  ) async throws {
    let server = try refusing(status, early: early)
    let result = try await makeSession().result(of: makeRequest(server.url, oneShot(noise(3000))))
    #expect(result.outcome == .failed && result.status == status)
    #expect(result.error?.description.contains("TransferOptions.spoolsBody") == true)
    var spooled = try makeRequest(server.url, oneShot(noise(3000)))
    spooled.options.spoolsBody = true
    let second = try await makeSession().result(of: spooled)
    #expect(second.outcome == .ok && second.attempts == 1)
    #expect(server.requests.last?.body == noise(3000))
  }

  @Test func `a stream that has another length the second time is a changed source`() async throws {
    let server = try refusing(411, early: false)
    let record = SourceRecord()
    let body = TransferBody.part(
      .stream { ScriptedSource(noise(record.opens == 0 ? 10 : 11), record: record) })
    let result = try await makeSession().result(of: makeRequest(server.url, body))
    #expect(result.outcome == .sourceChanged)
    #expect(server.requests.count == 1)
  }

  /// What such a server says of a body in chunks: it may have taken it for an empty one.
  private static let old = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"

  @Test func `a success in HTTP 1.0 does not confirm a body that was sent in chunks`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(Self.old), .close] }
    let result = try await makeSession().result(of: makeRequest(server.url, oneShot(noise(10))))
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .lengthRequired)
    #expect(result.error?.description.contains("TransferOptions.spoolsBody") == true)
    let known = try await makeSession().result(
      of: makeRequest(server.url, oneShot(noise(10), length: 10)))
    #expect(known.outcome == .ok)
  }

  /// Once more does no harm, and shows whether the server has the body.
  @Test(arguments: ["PUT", "key", "unsafe", "POST"])
  func `after a success in HTTP 1.0, a body that may be sent twice goes again with its length`(
    how: String
  ) async throws {
    let server = try ScriptedServer { request in
      let text = request.framing == .chunked ? "nothing" : "all of it"
      return [
        .readBody,
        .send("HTTP/1.0 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"), .close,
      ]
    }
    var request = try makeRequest(how == "PUT" ? .put : .post, server.url, replayable(noise(3000)))
    if how == "key" { request.options.idempotencyKey = .random() }
    request.options.retry.retriesUnsafe = how == "unsafe"
    let received = ReceivedText()
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await makeSession().result(of: request)
    if how == "POST" {
      #expect(result.outcome == .unknown && result.error?.code == .lengthRequired)
      #expect(server.requests.map(\.framing) == [.chunked])
    } else {
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(server.requests.map(\.framing) == [.chunked, .contentLength(3000)])
    }
    // The caller gets one response: the last.
    #expect(received.text == (how == "POST" ? "nothing" : "all of it"))
    #expect(server.faults == [])
  }

  /// The first may have been carried out, with an empty body.
  @Test(arguments: [400, 503])
  func `if the body with its length is refused then, what became of the request is not known`(
    status: Int
  ) async throws {
    let server = try ScriptedServer { request in
      request.framing == .chunked ? [.readBody, .send(Self.old), .close] : .good(status)
    }
    let result = try await makeSession().result(
      of: makeRequest(.put, server.url, replayable(noise(3000))))
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(server.requests.map(\.framing) == [.chunked, .contentLength(3000)])
  }

  @Test func `a server that is known to speak HTTP 1.0 gets the length at once`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(Self.old), .close] }
    let session = try makeSession()
    #expect(try await session.result(of: makeRequest(server.url)).outcome == .ok)
    let again = try await session.result(of: makeRequest(server.url, replayable(noise(3000))))
    #expect(again.outcome == .ok && again.attempts == 1)
    let once = try await session.result(of: makeRequest(server.url, oneShot(noise(3000))))
    #expect(once.outcome == .failed && once.attempts == 0)
    #expect(once.error?.code == .lengthRequired)
    #expect(server.requests.map(\.framing) == [.contentLength(9), .contentLength(3000)])
    // Another server is another server.
    let other = try ScriptedServer { _ in .good() }
    #expect(
      try await session.result(of: makeRequest(other.url, oneShot(noise(10)))).outcome == .ok)
  }
}
