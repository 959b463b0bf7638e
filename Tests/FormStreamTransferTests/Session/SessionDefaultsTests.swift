import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// What a session adds to all its requests: headers, and closures that watch them.
@Suite(.timeLimit(.minutes(2))) struct SessionDefaultsTests {
  private func session(
    _ headers: HTTPHeaders = [:], _ change: (inout TransferSession.Configuration) -> Void = { _ in }
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.headers = headers
    change(&configuration)
    return try TransferSession(configuration)
  }

  // MARK: Headers

  @Test func `each request has the session's headers, unless it has its own or leaves them out`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try session(["X-App": "1", "X-Two": "a", "x-two": "b", "Accept": "text/plain", "User-Agent": "app"])
    var request = try makeRequest(.get, server.url, nil)
    #expect(try await session.send(request).status == 200)
    request.headers = ["x-app": "own", "X-Two": "own"]
    request.options.omittedHeaders = ["Accept", "user-agent"]
    let task = session.start(request)
    #expect(await task.result.outcome == .ok && task.request.headers == request.headers)
    let arrived = server.requests
    #expect(arrived.map { $0.header("X-App") } == ["1", "own"])
    #expect(arrived.map { $0.values(of: "X-Two") } == [["a", "b"], ["own"]])
    #expect(arrived.map { $0.header("Accept") } == ["text/plain", nil])
    #expect(arrived.map { $0.header("User-Agent") } == ["app", nil])
  }

  @Test func `the credentials of a request take precedence over the session's`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let netrc = try Netrc(parsing: "machine localhost login me password netrc")
    let session = try session(["Authorization": "Bearer session"]) { $0.netrc = netrc }
    var request = try makeRequest(.get, server.url, nil)
    #expect(try await session.send(request).status == 200)
    request.credentials = .bearer("own")
    #expect(try await session.send(request).status == 200)
    let named = server.url.replacing("127.0.0.1", with: "localhost")
    #expect(try await session.send(makeRequest(.get, named, nil)).status == 200)
    #expect(try await session.send(makeRequest(.get, server.url.replacing("//", with: "//u:p@"), nil)).status == 200)
    let sent = server.requests.map { $0.header("Authorization") }
    #expect(sent == ["Bearer session", "Bearer own", "Basic bWU6bmV0cmM=", "Basic dTpw"])
  }

  /// If each request sent the session's token first, each body would be sent twice after the token has expired.
  @Test func `credentials that replace the session's refused token are sent by later requests at once`() async throws {
    let server = try ScriptedServer {
      $0.header("Authorization") == "Bearer new" ? .good() : .good(401, headers: [("WWW-Authenticate", "Bearer")])
    }
    let session = try session(["Authorization": "Bearer old"]) { configuration in
      configuration.decisions.challenge = { _ in .bearer("new") }
    }
    for _ in 0..<2 {
      let result = try await session.result(of: makeRequest(server.url, .bytes("important".utf8), attempts: 1))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer old", "Bearer new", "Bearer new"])
    // A token of the request is the request's own choice.
    var request = try makeRequest(.get, server.url, nil)
    request.headers["Authorization"] = "Bearer own"
    #expect(await session.result(of: request).outcome == .ok)
    #expect(server.requests.dropFirst(3).map { $0.header("Authorization") } == ["Bearer own", "Bearer new"])
  }

  /// `X-Plain` is a secret of one session, and `X-App-Key` has the name of a secret.
  @Test func `another origin receives the session's headers that are not secret`() async throws {
    let other = try ScriptedServer { _ in .good() }
    let server = try ScriptedServer { _ in .good(307, headers: [("Location", other.url + "/b")]) }
    var headers: HTTPHeaders = [
      "X-App": "1", "Authorization": "Bearer a", "Cookie": "a=b", "X-App-Key": "k", "X-Own": "session's",
    ]
    headers.append("X-Plain", "p", isSecret: true)
    let session = try session(headers)
    var request = try makeRequest(.get, server.url, nil)
    request.headers["X-Own"] = "own"
    request.options.redirects.allowsOtherOrigins = true
    #expect(try await session.send(request).status == 200)
    let place = try TemporaryDirectory()
    #expect(await session.startDownload(request, DownloadSettings(.file(place.path("copy")))).result.outcome == .ok)
    for name in ["X-App", "Authorization", "Cookie", "X-App-Key", "X-Plain", "X-Own"] {
      #expect(server.requests.allSatisfy { $0.header(name) != nil }, "\(name)")
      #expect(other.requests.allSatisfy { $0.header(name) == (name == "X-App" ? "1" : nil) }, "\(name)")
    }
    #expect(other.requests.count == 2)
  }

  @Test func `a download asks for no coding, whatever the session's headers say, also at another origin`() async throws {
    let other = try ScriptedServer { _ in .good(body: "the file") }
    let server = try ScriptedServer { _ in .good(307, headers: [("Location", other.url + "/b")]) }
    let session = try session(["Accept-Encoding": "gzip"])
    let place = try TemporaryDirectory()
    var request = try makeRequest(.get, server.url, nil)
    request.options.redirects.allowsOtherOrigins = true
    let result = await session.startDownload(request, DownloadSettings(.file(place.path("copy")))).result
    #expect(result.outcome == .ok)
    #expect((server.requests + other.requests).allSatisfy { $0.header("Accept-Encoding") != "gzip" })
  }

  @Test(
    arguments: [
      "Content-Type", "content-length", "Host", "Range", "If-Range", "Idempotency-Key", "Upload-Offset", "bad name", "Expect",
    ])
  func `a header that is about one request can't be one of a session`(name: String) throws {
    let error = #expect(throws: TransferError.self) { _ = try session([name: "1"]) }
    #expect(error?.code == .invalidHeader && error?.description.contains(name) == true)
  }

  @Test func `traces mask the session's secrets`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let lines = Guarded<[String]>([])
    var headers: HTTPHeaders = ["Authorization": "Bearer canary"]
    headers.append("X-Plain", "canary", isSecret: true)
    let session = try session(headers) { configuration in
      configuration.trace = { trace in lines.withLock { $0.append(trace.text) } }
    }
    #expect(try await session.send(makeRequest(.get, server.url, nil)).status == 200)
    #expect(lines.withLock { $0.contains { $0.contains("X-Plain: ***") } && !$0.joined().contains("canary") })
  }

  // MARK: Closures

  /// What the closures of a session and of a request saw, by the tag.
  private final class Log: Sendable {
    private let entries = Guarded<[String]>([])
    var all: [String] { entries.withLock(\.self) }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  private func watching(_ log: Log, _ configuration: inout TransferSession.Configuration) {
    configuration.trace = { if $0.kind == .requestHead { log.add("\($0.tag ?? "none") trace") } }
    configuration.willRetry = { log.add("\($0.tag ?? "none") retry \($0.attempt)") }
    configuration.progress = { if $0.phase == .done { log.add("\($0.tag ?? "none") done \($0.handedOver)") } }
  }

  @Test func `one closure of a session watches all requests, beside their own ones`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(503, headers: [("Retry-After", "0")]) : .good(body: "x")
    }
    let (log, own) = (Log(), Log())
    let session = try session { watching(log, &$0) }
    var request = try makeRequest(.post, server.url, .bytes("important".utf8), attempts: 2)
    request.tag = "a"
    request.options.trace = { if $0.kind == .requestHead { own.add("trace") } }
    request.options.willRetry = { own.add("retry \($0.attempt)") }
    let result = await session.result(of: request) { if $0.phase == .done { own.add("done") } }
    #expect(result.outcome == .ok)
    #expect(log.all == ["a trace", "a retry 2", "a trace", "a done 9"])
    #expect(own.all == ["trace", "retry 2", "trace", "done"])
    let untagged = try makeRequest(.get, server.url, nil)
    let opened = try await session.open(untagged)
    #expect(try await opened.text() == "x")
    #expect(await opened.result.outcome == .ok)
    for await (_, result) in session.results(of: [untagged], limit: 1) { #expect(result.outcome == .ok) }
    #expect(log.all.dropFirst(4) == ["none trace", "none done 0", "none trace", "none done 0"])
  }

  /// A download consists of several requests, whose attempts are counted together.
  @Test func `a download counts as one, with the attempts of all its requests`() async throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0: .good(503, headers: [("Retry-After", "0")])
      case 1: [.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 8\r\n\r\nthe "), .reset]
      default: .good(206, headers: [("ETag", "\"1\""), ("Content-Range", "bytes 4-7/8")], body: "file")
      }
    }
    let (log, place) = (Log(), try TemporaryDirectory())
    let session = try session { watching(log, &$0) }
    var request = try makeRequest(.get, server.url, nil, attempts: 5)
    request.tag = "d"
    let result = await session.startDownload(request, DownloadSettings(.file(place.path("copy")))).result
    #expect(result.outcome == .ok, "\(result)")
    #expect(log.all.filter { $0.contains("trace") }.count == server.requests.count)
    #expect(log.all.filter { !$0.contains("trace") } == ["d retry 2", "d retry 3", "d done 0"])
  }

  @Test func `a session's closure for progress that blocks holds up its own request alone`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let (entered, goOn) = (try Gate(), try Gate())
    let session = try session { configuration in
      configuration.progress = { progress in
        guard progress.tag as? String == "slow", progress.phase == .done else { return }
        entered.open()
        #expect(goOn.wait())
      }
    }
    var slow = try makeRequest(.get, server.url, nil)
    slow.tag = "slow"
    let task = session.start(slow)
    #expect(await onNewThread { entered.wait() })
    #expect(try await session.send(makeRequest(.get, server.url, nil)).status == 200)
    #expect(session.tasks == [task])
    goOn.open()
    #expect(await task.result.outcome == .ok && session.tasks.isEmpty)
  }

  /// Swift's shared pool has as many threads as there are cores.
  @Test func `more closures for progress may block than there are cores`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let (blocked, goOn) = (Guarded(0), try Gate())
    let count = ProcessInfo.processInfo.activeProcessorCount + 2
    let session = try session { configuration in
      configuration.progress = { progress in
        guard progress.tag as? String == "slow", progress.phase == .done else { return }
        blocked.withLock { $0 += 1 }
        #expect(goOn.wait())
      }
    }
    var slow = try makeRequest(.get, server.url, nil)
    slow.tag = "slow"
    let tasks = (0..<count).map { _ in session.start(slow) }
    #expect(await eventually { blocked.withLock(\.self) == count })
    #expect(try await session.send(makeRequest(.get, server.url, nil)).status == 200)
    goOn.open()
    for task in tasks { #expect(await task.result.outcome == .ok) }
  }
}
