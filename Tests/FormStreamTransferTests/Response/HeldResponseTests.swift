import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Responses that were held because another one was expected: if none arrives, the caller gets them.
@Suite struct HeldResponseTests {
  private func request(
    _ server: ScriptedServer, attempts: Int = 1, into received: ReceivedText
  ) throws -> TransferRequest {
    var request = try TransferRequest(.post, server.url + "/", body: .bytes(Array("body".utf8)))
    request.options.retry = RetryPolicy(attempts: attempts)
    request.options.retry.baseDelay = .milliseconds(1)
    request.options.responseTarget = .stream { received.append($0) }
    return request
  }

  @Test(arguments: [1, 3]) func `the caller gets the complete body of the last refusal`(
    attempts: Int
  )
    async throws
  {
    let server = try ScriptedServer { request in
      .good(503, body: String(repeating: "\(request.number)", count: 20_000))
    }
    let received = ReceivedText()
    let result = try await makeSession().result(
      of: request(server, attempts: attempts, into: received))
    #expect(result.outcome == .retryable)
    #expect(result.attempts == attempts)
    #expect(received.text == String(repeating: "\(attempts - 1)", count: 20_000))
    #expect(result.response?.isTruncated == false)
    #expect(server.faults.isEmpty)
  }

  @Test func `if the server asks for too long a wait, the caller gets its refusal`() async throws {
    let server = try ScriptedServer { _ in
      .good(429, headers: [("Retry-After", "100000")], body: "slow down")
    }
    let received = ReceivedText()
    let result = try await makeSession().result(of: request(server, attempts: 3, into: received))
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 1)
    #expect(received.text == "slow down")
  }

  @Test func `if the page of a 303 is missing, the response of the 303 is delivered`() async throws {
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")], body: "receipt")
        : .good(404, body: "no such page")
    }
    let received = ReceivedText()
    let result = try await makeSession().result(of: request(server, into: received))
    #expect(result.outcome == .ok)
    #expect(result.status == 303)
    #expect(received.text == "receipt")
    #expect(server.requests.map(\.method) == ["POST", "GET"])
  }

  enum Target: CaseIterable { case memory, stream, file }

  /// A body of 3 MB went to a stream with its first 1,048,576 bytes, and nothing said so.
  @Test(arguments: [Target.memory, .stream])
  func `a response of a 303 that is too long to be held is not cut without a word`(target: Target)
    async throws
  {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(
          303, headers: [("Location", "/page")], body: String(repeating: "x", count: 3_000_000))
        : .good(404, body: "no such page")
    }
    let received = ReceivedText()
    var request = try request(server, into: received)
    if target == .memory { request.options.responseTarget = .memory() }
    if target == .file { request.options.responseTarget = .file(place.local("response")) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.status == 303)
    #expect(result.response?.isTruncated == true)
    #expect(result.error?.code == .responseTooLarge)
    #expect(result.error?.description.contains("1048576") == true)
    #expect(!FileManager.default.fileExists(atPath: place.path("response")))
    await #expect(throws: TransferError.self) {
      let response = try await makeSession().open(request)
      _ = try await response.collect(upTo: 4_000_000)
    }
  }

  @Test(arguments: Target.allCases, ["cut", "damaged"])
  func `a response of a 303 that is incomplete is reported if it is the last`(
    target: Target, fault: String
  ) async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      guard request.method == "POST" else { return .good(404, body: "no such page") }
      return fault == "cut"
        ? [
          .readBody,
          .respond(
            303, headers: [("Location", "/page")], bytes: Array("rec".utf8),
            framing: .announced(5000)), .close,
        ]
        : .good(
          303, headers: [("Location", "/page"), ("Content-Encoding", "gzip")],
          body: "this is no gzip")
    }
    var request = try request(server, into: ReceivedText())
    request.options.responseCompression = ResponseCompression(limit: 1_000_000)
    if target == .memory { request.options.responseTarget = .memory() }
    if target == .file { request.options.responseTarget = .file(place.local("response")) }
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok)
    #expect(result.status == 303)
    #expect(result.error?.code == (fault == "cut" ? .connectionLost : .decompressionFailed))
    #expect(!FileManager.default.fileExists(atPath: place.path("response")))
  }

  @Test func `a last refusal that is too long to be held says that it was cut`() async throws {
    let server = try ScriptedServer { _ in
      .good(
        503, headers: [("Retry-After", "100000")], body: String(repeating: "x", count: 3_000_000))
    }
    let received = ReceivedText()
    let result = try await makeSession().result(of: request(server, attempts: 3, into: received))
    #expect(result.outcome == .retryable)
    #expect(received.text.utf8.count == 1_048_576)
    #expect(
      result.error?.description.contains("Only the first 1048576 bytes of its response") == true)
  }

  @Test func `an incomplete page is reported as incomplete`() async throws {
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")], body: "receipt")
        : [.respond(200, bytes: Array("half".utf8), framing: .announced(100)), .close]
    }
    let received = ReceivedText()
    let result = try await makeSession().result(of: request(server, into: received))
    #expect(result.outcome == .ok)
    #expect(result.status == 200)
    #expect(result.response?.isTruncated == true)
    #expect(result.error?.code == .connectionLost)
    #expect(received.text == "half")
  }

  @Test func `a last refusal stays in memory if the target is a file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(503, body: "closed") }
    var request = try request(server, attempts: 2, into: ReceivedText())
    request.options.responseTarget = .file(place.local("response"))
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.response?.text == "closed")
    #expect(!FileManager.default.fileExists(atPath: place.path("response")))
  }

  @Test func `a request can be cancelled by its progress alone`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let session = try makeSession()
    var task: TransferTask<TransferResult>? = session.start(
      try request(server, into: ReceivedText()))
    let bridge = try #require(task?.makeFoundationProgress())
    let updates = try #require(task?.progress)
    task = nil
    #expect(await onNewThread { server.waitForRequests(1) })
    bridge.cancel()
    var last: TransferProgress?
    for await step in updates { last = step }
    #expect(last?.phase == .done)
  }
}
