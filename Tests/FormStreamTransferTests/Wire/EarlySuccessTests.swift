import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A server that reports success before it has the complete body: that can't confirm the complete body.
@Suite struct EarlySuccessTests {
  private static let bytes = noise(8_000_000)

  @Test(
    arguments: ["reads on", "closes", "finishes", "resets", "stalls"], ["measured", "chunked"])
  func `a success before the end of the body is unknown`(end: String, kind: String) async throws {
    let bytes = Self.bytes
    let server = try ScriptedServer { _ in
      let response = ScriptedStep.respond(
        200, headers: end == "reads on" ? [] : [("Connection", "close")], body: "fine")
      return [.readBody(upTo: 10_000), response]
        + (end == "closes"
          ? [.close]
          : end == "finishes"
            ? [.finish] : end == "resets" ? [.reset] : end == "stalls" ? [.stall] : [.readBody])
    }
    var request = try makeRequest(
      server.url,
      kind == "measured" ? .bytes(bytes) : .stream { InputStream(data: Data(bytes)) },
      attempts: 3)
    request.options.expectation = .never
    request.options.timeLimits.stall = .milliseconds(300)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome != .ok)
    // A reset may discard the response: then the body is certainly incomplete.
    if result.status != nil {
      #expect(result.outcome == .unknown)
      #expect(result.error?.code == .respondedEarly)
      #expect(result.attempts == 1)
    } else {
      #expect(end == "resets" || end == "closes")
    }
    #expect(server.faults(except: .cutShort) == [])
  }

  /// The system had taken all of the body, and the server's system had the beginning of it: that was `ok`.
  @Test(.timeLimit(.minutes(1)), arguments: ["measured", "chunked"], [0, 10_000])
  func `a success is unknown while the body's end is still on this machine`(
    kind: String, taken: Int
  ) async throws {
    // More than the other side takes that doesn't read, and less than a send queue has room for.
    let bytes = noise(1_000_000)
    let isHandedOver = try Gate()
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: taken), .waitFor(isHandedOver),
        .respond(200, headers: [("Connection", "close")], body: "fine"), .stall,
      ]
    }
    var request = try makeRequest(
      .put, server.url,
      kind == "measured" ? .bytes(bytes) : .stream { InputStream(data: Data(bytes)) })
    request.options.expectation = .never
    let task = try makeSession().start(request)
    for await step in task.progress where step.handedOver == Int64(bytes.count) {
      isHandedOver.open()
    }
    let result = await task.result
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly)
    #expect(result.error?.description.contains(" after 1000000 of") == false)
    #expect(result.response?.text == "fine")
    #expect(result.response?.isTruncated == false)
    #expect(task.progress.current.acknowledged ?? 0 < Int64(bytes.count))
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test(arguments: [413, 503, 401])
  func `a refusal before the end of the body counts, if the server reads on`(status: Int)
    async throws
  {
    let bytes = Self.bytes
    let server = try ScriptedServer { request in
      request.bodyCount == 0 && request.number == 0
        ? [.readBody(upTo: 10_000), .respond(status, body: "no"), .readBody] : .good()
    }
    let session = try makeSession()
    var request = try makeRequest(server.url, .bytes(bytes), attempts: 2)
    request.options.expectation = .never
    let result = await session.result(of: request)
    if status == 503 {
      #expect(result.outcome == .ok)
      #expect(result.attempts == 2)
      #expect(server.requests.last?.body == bytes)
    } else {
      #expect(result.outcome == .failed)
      #expect(result.status == status)
      #expect(result.response?.text == "no")
    }
    let next = try await session.result(of: makeRequest(server.url))
    #expect(next.outcome == .ok)
    #expect(server.requests.last?.bodyText == "important")
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test func `an early refusal is kept in memory if the target is a file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: 3_000_000),
        .respond(413, headers: [("Connection", "close")], body: "too big"), .close,
      ]
    }
    for round in 0..<10 {
      let size = Int64(200 << 20)
      var request = try makeRequest(
        server.url,
        .part(.stream(length: size) { SlowSource(Int(size), pause: .milliseconds(1)) }))
      request.options.expectation = .never
      request.options.responseTarget = .file(place.local("answer-\(round)"))
      let result = try await makeSession().result(of: request)
      #expect(result.status == 413)
      #expect(result.outcome == .failed)
      #expect(result.response?.text == "too big")
      #expect(!FileManager.default.fileExists(atPath: place.path("answer-\(round)")))
    }
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test(arguments: [1, 65_536, 300_000, 3_000_000])
  func `a success after the last byte counts, however fast it arrives`(size: Int) async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let bytes = noise(size)
    for _ in 0..<10 {
      var request = try makeRequest(.put, server.url, .bytes(bytes))
      request.options.expectation = .never
      let result = await session.result(of: request)
      #expect(result.outcome == .ok)
      let stream = try await session.result(
        of: makeRequest(.put, server.url, .stream { InputStream(data: Data(bytes)) }))
      #expect(stream.outcome == .ok)
    }
    #expect(server.completeBodyCount == 20)
    #expect(server.faults == [])
  }
}
