import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// The tag by which a program recognizes its requests.
@Suite struct TagTests {
  /// A record of a program.
  private struct Photo: Sendable, Equatable {
    let id: Int
  }

  /// Where a tag was seen.
  private final class Log: Sendable {
    private let entries = Guarded<[String: Photo?]>([:])
    var places: [String] { entries.withLock { $0.keys.sorted() } }
    var tags: [Photo?] { entries.withLock { $0.values.map(\.self) } }
    func add(_ place: String, _ tag: (any Sendable)?) { entries.withLock { $0[place] = tag as? Photo } }
  }

  private static let script: ScriptedServer.Script = { request in
    switch request.number {
    case 0: .good(503, headers: [("Retry-After", "0")])
    case 1: .good(401, headers: [("WWW-Authenticate", "Bearer realm=\"api\"")])
    case 2: .good(307, headers: [("Location", "/end")])
    default: .good(body: "arrived")
    }
  }

  private func tagged(_ method: HTTPMethod, _ url: String, _ log: Log) throws -> TransferRequest {
    var request = try makeRequest(method, url, method == .get ? nil : .bytes("a".utf8), attempts: 2)
    request.tag = Photo(id: 7)
    request.options.trace = { log.add("trace", $0.tag) }
    request.options.willRetry = { log.add("retry", $0.tag) }
    request.options.decisions.challenge = {
      log.add("challenge", $0.tag)
      return .bearer("new")
    }
    request.options.decisions.redirect = {
      log.add("redirect", $0.tag)
      return .follow
    }
    request.options.decisions.responseHead = {
      log.add("head", $0.tag)
      return nil
    }
    return request
  }

  @Test func `the tag of a request comes back in everything that is said about it`() async throws {
    let server = try ScriptedServer(script: Self.script)
    let log = Log()
    let task = try makeSession().start(try tagged(.post, server.url, log))
    for await progress in task.progress { log.add("progress", progress.tag) }
    let result = await task.result
    log.add("task", task.request.tag)
    log.add("result", result.tag)
    log.add("response", result.response?.tag)
    #expect(
      log.places == [
        "challenge", "head", "progress", "redirect", "response", "result", "retry", "task", "trace",
      ])
    #expect(log.tags.allSatisfy { $0 == Photo(id: 7) })
    #expect(result.outcome == .ok && server.requests.count == 4)
    #expect(server.requests.allSatisfy { !$0.headText.contains("Photo") })
  }

  @Test func `the tag of a download comes back, too`() async throws {
    let server = try ScriptedServer(script: Self.script)
    let (log, place) = (Log(), try TemporaryDirectory())
    let task = try makeSession().startDownload(
      try tagged(.get, server.url, log), DownloadSettings(.file(place.path("copy"))))
    for await progress in task.progress { log.add("progress", progress.tag) }
    let result = await task.result
    log.add("result", result.tag)
    log.add("response", result.file?.response.tag)
    #expect(log.places == ["challenge", "progress", "redirect", "response", "result", "retry", "trace"])
    #expect(log.tags.allSatisfy { $0 == Photo(id: 7) }, "\(log.tags)")
  }

  @Test func `a refusal, an open response and a request that never begins have the tag`() async throws {
    let server = try ScriptedServer { _ in .good(404, body: "no") }
    let session = try makeSession()
    var request = try TransferRequest(.get, server.url)
    request.tag = Photo(id: 1)
    let refused = await #expect(throws: TransferError.self) { try await session.send(request) }
    #expect(refused?.response?.tag as? Photo == Photo(id: 1))
    let open = try await session.open(request)
    let unaccepted = await #expect(throws: TransferError.self) { try await open.accepted() }
    #expect(unaccepted?.response?.tag as? Photo == Photo(id: 1))
    await session.finish()
    #expect(await session.result(of: request).tag as? Photo == Photo(id: 1))
    #expect(await session.result(of: try TransferRequest(.get, server.url)).tag == nil)
  }
}
