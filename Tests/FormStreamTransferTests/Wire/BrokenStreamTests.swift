import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Streams that break their contract.
@Suite struct BrokenStreamTests {
  private struct Sent {
    let result: TransferResult
    let server: ScriptedServer
  }

  private func send(_ body: TransferBody) async throws -> Sent {
    let server = try ScriptedServer { _ in .good() }
    var request = try TransferRequest(.put, server.url, body: body)
    request.options.retry = RetryPolicy(attempts: 3)
    let result = try await makeSession().result(of: request)
    #expect(await eventually { server.connections.allSatisfy { $0.end != nil } })
    #expect(server.faults(except: .cutShort).isEmpty)
    #expect(server.completeBodyCount == 0)
    #expect(server.requests.count <= 1)
    return Sent(result: result, server: server)
  }

  @Test(arguments: [0, 1, 999, 200_000, 299_999])
  func `a stream that is shorter than announced fails`(count: Int) async throws {
    let sent = try await send(.stream(length: 300_000) { InputStream(data: Data(noise(count))) })
    #expect(sent.result.outcome == .failed)
    #expect(sent.result.error?.code == .streamTooShort)
    #expect(sent.result.attempts == 1)
  }

  @Test(arguments: [300_001, 400_000, 3_000_000])
  func `a stream that is longer than announced fails`(count: Int) async throws {
    let sent = try await send(.stream(length: 300_000) { InputStream(data: Data(noise(count))) })
    #expect(sent.result.outcome == .failed)
    #expect(sent.result.error?.code == .streamTooLong)
    #expect(sent.server.requests.allSatisfy { $0.bodyCount < 300_000 })
  }

  @Test(arguments: [300_000, nil] as [Int64?], [1, 2, 1000])
  func `a stream that fails in the middle fails the request with its reason`(
    length: Int64?, call: Int
  ) async throws {
    let record = SourceRecord()
    let sent = try await send(
      .part(
        .stream(length: length) {
          FailingSource(onCall: call, with: TestError(4711), record: record)
        }))
    #expect(sent.result.outcome == .failed)
    #expect(sent.result.error?.code == .streamFailed)
    #expect(sent.result.error?.description.contains("4711") == true)
    #expect(await eventually { record.closes == record.opens })
    #expect(record.opens == 1)
    #expect(record.readsAfterClose == 0)
  }

  @Test(arguments: [300_000, nil] as [Int64?])
  func `a stream that can't be created fails the request`(length: Int64?) async throws {
    let place = try TemporaryDirectory()
    let missing = place.path("missing")
    let body = TransferBody.stream(length: length) { InputStream(fileAtPath: missing) }
    let sent = try await send(body)
    #expect(sent.result.outcome == .failed)
    #expect(sent.result.error != nil)
    let none = try await send(.stream(length: length) { nil })
    #expect(none.result.outcome == .failed)
    #expect(none.result.error?.code == .streamFailed)
  }

  @Test(arguments: [300_000, nil] as [Int64?])
  func `a stream that reports a wrong count fails the request`(length: Int64?) async throws {
    for claim in [-5, Int.max] {
      let record = SourceRecord()
      let sent = try await send(
        .part(.stream(length: length) { LyingSource(record: record) { _ in claim } }))
      #expect(sent.result.outcome == .failed)
      #expect(sent.result.error?.code == .streamFailed)
      #expect(await eventually { record.closes == record.opens })
    }
  }

  @Test func `a stream that can be read once is not sent twice`() async throws {
    for script: [ScriptedStep] in [
      .good(503), [.continueIfExpected, .readBody(upTo: 1000), .reset],
      .good(307, headers: [("Location", "/there")]),
    ] {
      let server = try ScriptedServer { _ in script }
      let record = SourceRecord()
      var request = try TransferRequest(
        .put, server.url,
        body: .part(
          .stream(length: 300_000, replay: .once) { ScriptedSource(noise(300_000), record: record) }
        ))
      request.options.retry = RetryPolicy(attempts: 3)
      request.options.retry.baseDelay = .milliseconds(1)
      let result = try await makeSession().result(of: request)
      #expect(result.outcome != .ok)
      #expect(result.attempts == 1)
      #expect(result.error?.description.contains("read once") == true)
      #expect(record.opens == 1)
      #expect(await eventually { record.closes == 1 })
      #expect(server.requests.count == 1)
      #expect(server.faults.isEmpty)
    }
  }
}
