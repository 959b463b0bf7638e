import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Bodies that a function writes while they are sent.
@Suite struct WrittenBodyTests {
  @Test(arguments: [nil, 3_000_000] as [Int64?])
  func `what is written is sent, for each attempt again`(_ length: Int64?) async throws {
    let server = try ScriptedServer { request in .good(request.number == 0 ? 503 : 200) }
    let piece = noise(1_000_000)
    let body = TransferBody.writing(length: length, type: "text/x") { writer in
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
