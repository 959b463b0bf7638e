import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// What the program decides when the head of a response has arrived.
@Suite struct HeadDecisionTests {
  private struct Refusal: Error {}

  private func session(_ decisions: Decisions) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.decisions = decisions
    configuration.idleLimit = .seconds(600)
    return try TransferSession(configuration)
  }

  private func head(
    _ target: ResponseTarget?, own: ResponseTarget = .memory(), status: Int = 200,
    body: String = "the body"
  ) async throws -> TransferResult {
    let server = try ScriptedServer { _ in .good(status, body: body) }
    var decisions = Decisions()
    decisions.responseHead = { _ in target }
    var request = try makeRequest(server.url)
    request.options.responseTarget = own
    return try await session(decisions).result(of: request)
  }

  @Test func `the body goes where the program says when the head has arrived`() async throws {
    let place = try TemporaryDirectory()
    let received = ReceivedText()
    let (own, chosen) = (place.path("own"), place.path("chosen"))
    let stream = ResponseTarget.stream { received.append($0) }
    for body in ["the body", ""] {
      #expect(try await head(nil, body: body).response?.text == body)
      #expect(try await head(.memory(), own: .file(own), body: body).response?.text == body)
      #expect(try await head(.file(chosen), body: body).outcome == .ok)
      #expect(try String(contentsOfFile: chosen, encoding: .utf8) == body)
    }
    #expect(try await head(stream, own: .file(own)).response?.text == "")
    #expect(received.text == "the body")
    let dropped = try await head(.dropped, own: stream)
    #expect(dropped.outcome == .ok && dropped.response?.isTruncated == true)
    #expect(received.text == "the body")
    // A refusal doesn't become the file.
    let refused = try await head(.file(own), status: 404)
    #expect(refused.status == 404 && refused.response?.text == "the body")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["chosen"])
  }

  @Test func `trailers that arrive before the program has decided stay apart`() async throws {
    let gate = try Gate()
    let server = try ScriptedServer { _ in
      .good(body: "the body", framing: .chunked(trailers: [("X-First", "1"), ("X-Second", "2")]))
    }
    var decisions = Decisions()
    decisions.responseHead = { _ in
      try await gate.opened()
      return .memory()
    }
    let trailers = ReceivedText()
    var request = try makeRequest(server.url)
    request.options.receiveTrailer = { line in trailers.append("<\(String(decoding: line, as: UTF8.self))>") }
    let task = try session(decisions).start(request)
    #expect(await eventually { server.requests.first?.responseStatus == 200 })
    gate.open()
    #expect(await task.result.response?.text == "the body")
    #expect(trailers.text == "<X-First: 1\r\n><X-Second: 2\r\n>")
  }

  @Test func `nothing of the body is received before the program has decided`() async throws {
    let (asked, gate) = (try Gate(), try Gate())
    let size = 40_000_000
    let server = try ScriptedServer { _ in
      [.readBody, .respond(200, bytes: noise(size))]
    }
    var decisions = Decisions()
    decisions.responseHead = { _ in
      asked.open()
      try await gate.opened()
      return .memory(limit: size)
    }
    let session = try session(decisions)
    let task = try session.start(makeRequest(server.url))
    try await asked.opened()
    // Meanwhile the engine serves others.
    let other = try ScriptedServer { _ in .good() }
    var free = try makeRequest(other.url)
    free.options.decisions.responseHead = { _ in nil }
    #expect(await session.result(of: free).outcome == .ok)
    #expect(task.progress.current.received == 0)
    gate.open()
    let result = await task.result
    #expect(result.outcome == .ok)
    #expect(result.response.map { Array($0.body) } == noise(size))
  }

  @Test func `an error or cancelling at the head leaves the outcome that the head says`()
    async throws
  {
    for body in ["the body", ""] {
      let server = try ScriptedServer { _ in .good(body: body) }
      var decisions = Decisions()
      decisions.responseHead = { _ in throw Refusal() }
      let failed = try await session(decisions).result(of: makeRequest(server.url))
      #expect(failed.outcome == .ok)
      #expect(failed.error?.code == .decisionFailed)
      let asked = try Gate()
      decisions.responseHead = { _ in
        asked.open()
        try await Task.sleep(for: .seconds(3600))
        return nil
      }
      let task = try session(decisions).start(makeRequest(server.url))
      try await asked.opened()
      task.cancel()
      #expect(await task.result.outcome == .ok)
    }
  }

  @Test func `the time in a decision is no stall, and counts for the attempt if it is made in one`()
    async throws
  {
    let server = try ScriptedServer { _ in .good(body: "the body") }
    var decisions = Decisions()
    decisions.responseHead = { _ in
      try await waitForStall(longerThan: .milliseconds(50))
      return nil
    }
    var request = try makeRequest(server.url)
    request.options.timeLimits.stall = .milliseconds(50)
    #expect(try await session(decisions).result(of: request).error == nil)
    decisions.responseHead = { _ in
      try await Task.sleep(for: .seconds(3600))
      return nil
    }
    request.options.timeLimits.attempt = .milliseconds(100)
    let late = try await session(decisions).result(of: request)
    #expect(late.error?.code == .timedOut)
    #expect(late.outcome == .ok)
  }

  /// Which response is the last is known only at the end.
  @Test func `a response that turns out to be the last is asked about, too`() async throws {
    let server = try ScriptedServer { _ in
      .good(401, headers: [("WWW-Authenticate", "Bearer")], body: "who?")
    }
    let asked = Guarded<[Int]>([])
    var decisions = Decisions()
    decisions.challenge = { _ in nil }
    decisions.responseHead = { head in
      asked.withLock { $0.append(head.status) }
      return .memory(limit: 3)
    }
    let result = try await session(decisions).result(of: makeRequest(server.url))
    #expect(asked.withLock(\.self) == [401])
    #expect(result.response?.text == "who" && result.response?.isTruncated == true)
  }
}
