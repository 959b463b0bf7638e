import Foundation
import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// libcurl reads nothing from a body without bytes, so the engine has to check that it is still empty. It did not, and
/// reported a file that had grown as sent.
@Suite struct EmptyBodyTests {
  @Test func `a file that reports length 0 but has bytes is not sent`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try await makeSession().result(
      of: TransferRequest(.put, server.url, body: .file("/proc/cpuinfo")))
    #expect(result.outcome == .sourceChanged || result.outcome == .failed)
    #expect(result.error != nil)
    #expect(server.completeBodyCount == 0)
  }

  @Test func `an empty file that grew between two attempts is not sent`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("growing", [])
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return .good() }
      return [
        .readBody,
        .decide { _ in
          _ = try? writeFile(file, Array("more".utf8))
          return [.respond(503, headers: [("Retry-After", "0")])]
        },
      ]
    }
    var request = try TransferRequest(.put, server.url, body: .file(file))
    request.options.retry = RetryPolicy(attempts: 2)
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .sourceChanged)
    #expect(server.requests.count == 1)
  }

  @Test func `an empty file is sent`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.write("empty", [])
    let server = try ScriptedServer { _ in .good() }
    let result = try await makeSession().result(
      of: TransferRequest(.put, server.url, body: .file(file)))
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.framing) == [.contentLength(0)])
    #expect(server.faults.isEmpty)
  }

  @Test func `a stream that announces no bytes must have none`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    let lying = await session.result(
      of: try TransferRequest(
        .post, server.url, body: .stream(length: 0) { InputStream(data: Data("x".utf8)) }))
    #expect(lying.error?.code == .streamTooLong)
    #expect(server.requests.isEmpty)
    let honest = await session.result(
      of: try TransferRequest(
        .post, server.url, body: .stream(length: 0, replay: .once) { InputStream(data: Data()) }))
    #expect(honest.outcome == .ok)
    #expect(server.faults.isEmpty)
  }
}
