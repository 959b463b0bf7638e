import Foundation
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// What the errors that `send` throws know about the request.
@Suite struct RefusalTests {
  private struct Problem: Codable, Equatable {
    let title: String
  }

  private func refusal(
    _ steps: [ScriptedStep], change: (inout TransferRequest) -> Void = { _ in }
  ) async throws -> TransferError {
    let server = try ScriptedServer { _ in steps }
    var request = try makeRequest(server.url)
    change(&request)
    let sent = request
    let error = await #expect(throws: TransferError.self) { try await makeSession().send(sent) }
    return try #require(error)
  }

  @Test func `the response of a refused request is in its error`() async throws {
    let error = try await refusal(.good(409, body: #"{"title":"taken"}"#))
    #expect(error.code == .statusRefused)
    #expect(error.outcome == .failed)
    #expect(error.status == 409)
    #expect(error.response?.text == #"{"title":"taken"}"#)
    #expect(error.decodedError(as: Problem.self) == Problem(title: "taken"))
    #expect(error.decodedError(as: [Int].self) == nil)
  }

  @Test func `a refused response is kept beside the target`() async throws {
    let place = try TemporaryDirectory()
    let error = try await refusal(.good(404, body: #"{"title":"gone"}"#)) {
      $0.options.responseTarget = .file(place.path("target"))
    }
    #expect(error.decodedError(as: Problem.self)?.title == "gone")
  }

  @Test func `an error without a response says whether the request may have been carried out`()
    async throws
  {
    let error = try await refusal([.readBody, .close])
    #expect(error.outcome == .unknown)
    #expect(error.status == nil)
    #expect(error.response == nil)
    #expect(error.decodedError(as: Problem.self) == nil)
  }

  @Test func `an error that is not a request's has no outcome`() {
    let error = #expect(throws: TransferError.self) { try HTTPURL("ftp://a") }
    #expect(error?.outcome == nil)
    #expect(error?.response == nil)
  }

  @Test func `the error of a result has its outcome and response`() async throws {
    let server = try ScriptedServer { _ in .good(500, body: "broken") }
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.error?.outcome == result.outcome)
    #expect(result.error?.response?.text == "broken")
  }

  /// Without a default case: there are no other outcomes.
  @Test func `a switch over the outcomes is exhaustive`() {
    let known: [String] = TransferResult.Outcome.allCases.map { outcome in
      switch outcome {
      case .ok: "ok"
      case .failed: "failed"
      case .retryable: "retryable"
      case .unknown: "unknown"
      case .sourceChanged: "source-changed"
      case .cancelled: "cancelled"
      }
    }
    #expect(known == TransferResult.Outcome.allCases.map(\.rawValue))
    #expect(known == TransferResult.Outcome.allCases.map(\.description))
  }

  @Test func `a waiting task that is cancelled throws CancellationError`() async throws {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.open(reached), .waitFor(goOn)] + .good() }
    let (session, request) = (try makeSession(), try makeRequest(server.url))
    let waiting = Task { try await session.send(request) }
    #expect(await onNewThread { reached.wait() })
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    goOn.open()
  }

  @Test func `a cancelled transfer's response is a CancellationError, and its result says more`()
    async throws
  {
    let (goOn, reached) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(goOn)] + .good() }
    let task = try makeSession().start(makeRequest(server.url))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.response }
    let result = await task.result
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .cancelled)
    #expect(result.error?.outcome == .unknown)
    goOn.open()
  }

  @Test func `a transfer's response is what send returns or throws`() async throws {
    let server = try ScriptedServer { $0.target == "/ok" ? .good(body: "here") : .good(403) }
    let session = try makeSession()
    #expect(try await session.start(makeRequest(server.url + "/ok")).response.text == "here")
    let error = await #expect(throws: TransferError.self) {
      try await session.start(makeRequest(server.url)).response
    }
    #expect(error?.status == 403)
  }
}
