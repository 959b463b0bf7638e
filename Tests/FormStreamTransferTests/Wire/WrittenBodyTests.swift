import FormStream
import Foundation
import FormStreamTestSupport
import Synchronization
import Testing
import FormStreamTransfer

/// Bodies that a function writes while they are sent.
@Suite struct WrittenBodyTests {
  @Test(arguments: [nil, 3_000_000] as [Int64?])
  func `what is written is sent, for each attempt again`(_ length: Int64?) async throws {
    let server = try ScriptedServer { request in .good(request.number == 0 ? 503 : 200) }
    let piece = noise(1_000_000)
    let body = TransferBody.writing(length: length, type: "text/x", replay: .repeatable) {
      writer in
      for _ in 0..<3 { try await writer.write(piece) }
    }
    let result = try await makeSession().result(of: makeRequest(server.url, body, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(result.contentLength == length)
    #expect(server.requests.map(\.body) == [piece + piece + piece, piece + piece + piece])
    #expect(server.requests.last?.header("Content-Type") == "text/x")
    expectConsistency(result, at: server)
  }

  @Test func `it is written while it is sent, as a part of a form too`() async throws {
    let (reached, goOn) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 200), .open(reached), .waitFor(goOn)] + .good()
    }
    let form = Form {
      Part.text("a", 1)
      Part(
        name: "b",
        body: .writing { writer in
          try await writer.write(String(repeating: "x", count: 300))
          // The server has received the beginning before the rest is written.
          _ = await onNewThread { reached.wait() }
          goOn.open()
          try await writer.write("the end")
        })
    }
    let result = try await makeSession().result(of: makeRequest(server.url, .form(form)))
    #expect(result.outcome == .ok)
    #expect(server.requests.first?.bodyText.contains("xthe end\r\n--") == true)
    #expect(result.framing == .chunked)
  }

  @Test(
    arguments: [(10, .streamTooShort), (8, .streamTooLong)] as [(Int64, TransferError.Code)])
  func `fewer or more bytes than announced fail the request`(
    _ length: Int64, _ code: TransferError.Code
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let body = TransferBody.writing(length: length) { try await $0.write("123456789") }
    let result = try await makeSession().result(of: makeRequest(server.url, body))
    #expect(result.outcome != .ok)
    #expect(result.error?.code == code)
    #expect(server.completeBodyCount == 0)
  }

  @Test func `an error of the writer is the underlying one`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let body = TransferBody.writing { writer in
      try await writer.write("beginning")
      throw TestError(3)
    }
    let result = try await makeSession().result(of: makeRequest(server.url, body, attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.attempts == 1)
    #expect(result.error?.code == .streamFailed)
    #expect(result.error?.underlying as? TestError == TestError(3))
    #expect(server.completeBodyCount == 0)
  }

  @Test(arguments: [307, 503])
  func `it is sent once, unless it is said to be the same each time`(_ status: Int) async throws {
    let server = try ScriptedServer { request in
      request.number > 0
        ? .good()
        : [.continueIfExpected, .readBody, .respond(status, headers: [("Location", "/2")])]
    }
    // A sequence that can be iterated once, as most can: a second time it is empty.
    let rows = AsyncStream<String> { continuation in
      continuation.yield("the rows")
      continuation.finish()
    }
    let body = TransferBody.writing { writer in
      for await row in rows { try await writer.write(row) }
    }
    let result = try await makeSession().result(of: makeRequest(server.url, body, attempts: 2))
    #expect(result.outcome != .ok)
    #expect(result.error?.description.contains("can be read once") == true)
    #expect(server.requests.map(\.bodyText) == ["the rows"])
  }

  @Test func `a body with another length than its digest is not sent completely`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let passes = Passes()
    let body = TransferBody.writing(replay: .repeatable) { writer in
      if passes.next() == 1 { try await writer.write("the rows") }
    }
    var request = try makeRequest(server.url, body)
    request.options.sendsDigest = true
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .sourceChanged)
    #expect(result.error?.code == .sourceChanged)
    #expect(server.completeBodyCount == 0)
  }

  /// How a request ends while its writer waits for what never comes.
  enum End: CaseIterable { case cancelled, timeLimit, refused, closed }

  @Test(arguments: End.allCases)
  func `a writer that writes nothing more is cancelled when the request ends`(_ end: End)
    async throws
  {
    let (waits, cancelled) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      switch end {
      case .cancelled, .timeLimit: [.continueIfExpected, .stall]
      case .refused: [.continueIfExpected, .waitFor(waits), .respond(413), .finish]
      case .closed: [.continueIfExpected, .waitFor(waits), .respond(200), .close]
      }
    }
    let body = TransferBody.writing { writer in
      let (nothing, never) = AsyncStream<Void>.makeStream()
      // Its first bytes are being read.
      waits.open()
      for await _ in nothing {}
      if Task.isCancelled { cancelled.open() }
      never.finish()
    }
    var request = try makeRequest(server.url, body)
    if end == .timeLimit { request.options.timeLimits.attempt = .seconds(2) }
    let task = try makeSession().start(request)
    #expect(await onNewThread { waits.wait() })
    if end == .cancelled { task.cancel() }
    #expect(await task.result.outcome != .ok)
    #expect(await onNewThread { cancelled.wait() })
  }

  @Test func `the writer is cancelled when the request ends`() async throws {
    let (reached, ended) = (try Gate(), try Gate())
    let server = try ScriptedServer { _ in
      [.continueIfExpected, .readBody(upTo: 1000), .open(reached), .stall]
    }
    let body = TransferBody.writing { writer in
      defer { ended.open() }
      while true { try await writer.write([UInt8](repeating: 7, count: 10_000)) }
    }
    let task = try makeSession().start(makeRequest(server.url, body))
    #expect(await onNewThread { reached.wait() })
    task.cancel()
    #expect(await task.result.error?.code == .cancelled)
    #expect(await onNewThread { ended.wait() })
  }
}

/// Counts the passes over a body.
private final class Passes: Sendable {
  private let count = Atomic(0)
  func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
