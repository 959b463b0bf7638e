import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// A digest is announced before the body is sent, and the body is read once more to send it: what is sent must have that
/// digest.
@Suite struct ContentDigestTests {
  private static let size = 300_000

  private func request(
    _ url: String, _ body: TransferBody, attempts: Int = 1, coding: BodyCoding = .none
  ) throws -> TransferRequest {
    var request = try makeRequest(.put, url, body, attempts: attempts)
    request.options.sendsDigest = true
    request.options.bodyCoding = coding
    // Nothing of the body is read before the server has the head, and has made the change.
    request.options.expectation = .always
    request.options.expectation.timeout = .seconds(60)
    return request
  }

  /// Overwrites a file so that it is longer than before: the times say the same as if it had only grown.
  private func rewrite(_ path: LocalPath) {
    do {
      try writeFile(path, [UInt8](repeating: UInt8(ascii: "#"), count: Self.size + 1000))
    } catch {
      Issue.record(error)
    }
  }

  private func expectCut(_ result: TransferResult, at server: ScriptedServer) async {
    #expect(result.outcome == .sourceChanged, "\(String(describing: result.error))")
    #expect(result.error?.code == .sourceChanged)
    #expect(await onNewThread { server.waitForEnds() })
    expectConsistency(result, at: server, bodies: 0, but: [.cutShort])
  }

  /// The digest of one version was announced, the bytes of another were sent, and the result was `ok`.
  @Test(arguments: [BodyCoding.none, .gzip], [1, 5000, size])
  func `a file that is rewritten after its digest was announced is not sent completely`(
    coding: BodyCoding, length: Int
  ) async throws {
    let place = try TemporaryDirectory()
    let log = try place.write("log", noise(Self.size))
    let server = try ScriptedServer { _ in [.call { rewrite(log) }] + .good() }
    let body = TransferBody.file(
      log, range: FileRange(offset: 0, length: Int64(length)), growing: true)
    let result = try await makeSession().result(of: request(server.url, body, coding: coding))
    await expectCut(result, at: server)
  }

  @Test func `nor is a form with such a file`() async throws {
    let place = try TemporaryDirectory()
    let log = try place.write("log", noise(Self.size))
    let server = try ScriptedServer { _ in [.call { rewrite(log) }] + .good() }
    let form = Form(boundary: try Boundary("B")) {
      Part(name: "log", body: .file(log, growing: true))
      Part.text("note", "after it")
    }
    await expectCut(
      try await makeSession().result(of: request(server.url, .form(form))), at: server)
  }

  @Test(arguments: [nil, Int64(size)])
  func `nor is a stream that is not the same each time`(length: Int64?) async throws {
    let server = try ScriptedServer { _ in .good() }
    let record = SourceRecord()
    let body = TransferBody.part(
      .stream(length: length) {
        ScriptedSource(noise(Self.size, seed: record.opens == 0 ? 1 : 2), record: record)
      })
    await expectCut(try await makeSession().result(of: request(server.url, body)), at: server)
  }

  @Test func `what is sent again has the digest, too`() async throws {
    let place = try TemporaryDirectory()
    let log = try place.write("log", noise(Self.size))
    let server = try ScriptedServer { request in
      request.number == 0
        ? [.continueIfExpected, .readBody, .call { rewrite(log) }, .respond(503)] : .good()
    }
    let result = try await makeSession().result(
      of: request(server.url, .file(log, growing: true), attempts: 3))
    #expect(result.outcome == .sourceChanged, "\(String(describing: result.error))")
    #expect(result.attempts == 2)
    #expect(await onNewThread { server.waitForEnds() })
    #expect(server.requests.map(\.hasCompleteBody) == [true, false])
    #expect(server.requests.first?.body == noise(Self.size))
    #expect(server.faults(except: .cutShort) == [])
  }

  @Test(arguments: [BodyCoding.none, .gzip])
  func `a body that stays the same is sent as often as needed`(coding: BodyCoding) async throws {
    let place = try TemporaryDirectory()
    let log = try place.write("log", noise(Self.size))
    let server = try ScriptedServer { request in .good(request.number == 0 ? 503 : 200) }
    for length in [0, 1, Int64(Self.size)] {
      var post = try request(
        server.url, .file(log, range: FileRange(offset: 0, length: length), growing: true),
        attempts: 2, coding: coding)
      post.options.computesDigest = length > 0
      let result = try await makeSession().result(of: post)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect((result.sha256 != nil) == (length > 0))
    }
    #expect(server.requests.count == 4)
    #expect(server.requests.allSatisfy { $0.header("Content-Digest") != nil })
    #expect(server.faults == [])
  }
}
