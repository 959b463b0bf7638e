import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Answers that another was expected behind: where none came, they are what the caller gets.
@Suite struct HeldAnswerTests {
  private func request(
    _ server: ScriptedServer, attempts: Int = 1, into told: ToldText
  ) throws -> TransferRequest {
    var request = try TransferRequest(.post, server.url + "/", body: .bytes(Array("body".utf8)))
    request.options.retry = RetryPolicy(attempts: attempts)
    request.options.retry.baseDelay = .milliseconds(1)
    request.options.responseTarget = .stream { told.append($0) }
    return request
  }

  @Test(arguments: [1, 3]) func `the last refusal is told whole`(attempts: Int) async throws {
    let server = try ScriptedServer { request in
      .good(503, body: String(repeating: "\(request.number)", count: 20_000))
    }
    let told = ToldText()
    let result = try await patientSession().result(
      of: request(server, attempts: attempts, into: told))
    #expect(result.outcome == .retryable)
    #expect(result.attempts == attempts)
    #expect(told.text == String(repeating: "\(attempts - 1)", count: 20_000))
    #expect(result.response?.isTruncated == false)
    #expect(server.faults.isEmpty)
  }

  @Test func `a refusal is told where the server asks for too long a wait`() async throws {
    let server = try ScriptedServer { _ in
      .good(429, headers: [("Retry-After", "100000")], body: "slow down")
    }
    let told = ToldText()
    let result = try await patientSession().result(of: request(server, attempts: 3, into: told))
    #expect(result.outcome == .retryable)
    #expect(result.attempts == 1)
    #expect(told.text == "slow down")
  }

  @Test func `without its page, the answer of a 303 is told`() async throws {
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")], body: "receipt")
        : .good(404, body: "no such page")
    }
    let told = ToldText()
    let result = try await patientSession().result(of: request(server, into: told))
    #expect(result.outcome == .ok)
    #expect(result.status == 303)
    #expect(told.text == "receipt")
    #expect(server.requests.map(\.method) == ["POST", "GET"])
  }

  @Test func `a page that broke off is told as such`() async throws {
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")], body: "receipt")
        : [.respond(200, bytes: Array("half".utf8), framing: .announced(100)), .close]
    }
    let told = ToldText()
    let result = try await patientSession().result(of: request(server, into: told))
    #expect(result.outcome == .ok)
    #expect(result.status == 200)
    #expect(result.response?.isTruncated == true)
    #expect(result.error?.code == .connectionLost)
    #expect(told.text == "half")
  }

  @Test func `a refusal goes into the file that was asked for`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(503, body: "closed") }
    var request = try request(server, attempts: 2, into: ToldText())
    request.options.responseTarget = .file(place.local("answer"))
    let result = try await patientSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(try String(contentsOfFile: place.path("answer"), encoding: .utf8) == "closed")
  }

  @Test func `a request is called off by its progress alone`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let session = try patientSession()
    var task: TransferTask? = session.start(try request(server, into: ToldText()))
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
