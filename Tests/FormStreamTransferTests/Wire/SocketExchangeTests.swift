import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// What an exchange over a socket does when bytes come and go at awkward moments.
@Suite(.timeLimit(.minutes(2))) struct SocketExchangeTests {
  // MARK: Early responses

  /// The end of the body was on this machine when the success began. What is read with an interim response is as old as it.
  @Test func `a success that begins together with an interim response is as early as that`() async throws {
    let bytes = noise(1_000_000)
    let (isHandedOver, hasRead) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.index == 0
        ? .good()
        : [
          .waitFor(isHandedOver), .send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Le"),
          .waitFor(hasRead), .readBody, .send("ngth: 0\r\n\r\n"),
        ]
    }
    var request = try makeRequest(.put, server.url, .bytes(bytes))
    request.options.expectation = .never
    request.options.trace = { if $0.kind == .responseHead { hasRead.open() } }
    let session = try makeSession()
    _ = try await session.result(of: makeRequest(.get, server.url, nil))
    let task = session.start(request)
    for await step in task.progress where step.handedOver == Int64(bytes.count) { isHandedOver.open() }
    let result = await task.result
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(server.connections.count == 1)
  }

  /// The end of the body was on this machine when the success arrived, and is at the server when it is read.
  @Test func `a success that arrives during a pause is as early as its arrival`() async throws {
    let bytes = noise(1_000_000)
    let (isPaused, isAnswered, mayRead) = (try Gate(), try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.method == "GET"
        ? .good()
        : [
          .waitFor(isPaused), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .open(isAnswered), .waitFor(mayRead),
          .readBody,
        ]
    }
    var request = try makeRequest(.put, server.url, .bytes(bytes))
    request.options.expectation = .never
    let session = try makeSession()
    let task = session.start(request)
    for await step in task.progress where step.handedOver == Int64(bytes.count) { break }
    task.pause()
    // A session does one thing after the other: the pause has begun, and then the response has arrived.
    _ = try await session.result(of: makeRequest(.get, server.url, nil))
    isPaused.open()
    #expect(await onNewThread { isAnswered.wait() })
    _ = try await session.result(of: makeRequest(.get, server.url, nil))
    mayRead.open()
    #expect(await onNewThread { server.wait { $0.first?.hasCompleteBody == true } })
    task.resume()
    let result = await task.result
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
  }

  /// As Python's server for CGI programs does.
  @Test func `a success over a new connection that ends after the request confirms it`() async throws {
    let bytes = noise(20_000_000)
    let server = try ScriptedServer { _ in
      [.send("HTTP/1.0 200 Output follows\r\n"), .readBody, .send("Content-Length: 2\r\n\r\nok")]
    }
    var request = try makeRequest(server.url, .bytes(bytes))
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  @Test func `an upload goes on although nobody takes its early response`() async throws {
    let isSent = try Gate()
    let server = try ScriptedServer { _ in
      [.readBody(upTo: 1000), .respond(200, headers: [("Connection", "close")], bytes: noise(3_000_000)), .readBody]
    }
    var request = try makeRequest(server.url, .bytes(noise(20_000_000)))
    request.options.expectation = .never
    request.options.responseTarget = .stream { _ in _ = isSent.wait() }
    let task = try makeSession().start(request)
    #expect(await onNewThread { server.wait { $0.first?.hasCompleteBody == true } })
    isSent.open()
    #expect(await task.result.outcome == .unknown)
  }

  /// Nothing of a body that can be read only once may go to a server that didn't ask for it.
  @Test func `a success in place of 100 doesn't ask for the body`() async throws {
    let server = try ScriptedServer { _ in [.respond(200), .readBody] }
    var put = try makeRequest(.put, server.url, oneShot("important".utf8, length: 9))
    put.credentials = .digest(user: "a", password: "b")
    let result = try await makeSession().result(of: put)
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .respondedEarly, "\(String(describing: result.error))")
    #expect(server.waitForEnds())
    #expect(server.requests.allSatisfy { $0.bodyCount == 0 })
  }

  // MARK: Interim responses

  @Test func `a server may report its progress as often as it likes while the body moves`() async throws {
    let server = try ScriptedServer { _ in
      (1...300).flatMap { [ScriptedStep.readBody(upTo: $0 * 100_000), .informational(102)] } + [.readBody, .respond(200)]
    }
    var request = try makeRequest(server.url, .bytes(noise(40_000_000)))
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  @Test func `an empty body is not asked about`() async throws {
    let server = try ScriptedServer { request in request.index == 0 ? [.readBody, .respond(417)] : .good() }
    var request = try makeRequest(server.url, .bytes([]))
    request.options.expectation = .always
    let result = try await makeSession().result(of: request)
    #expect(result.status == 417)
    #expect(server.requests.map(\.expectsContinue) == [false])
  }

  // MARK: Unix-domain sockets

  private func session(at place: TemporaryDirectory) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.unixSocket = place.local("socket")
    return try TransferSession(configuration)
  }

  @Test func `what has arrived over a Unix-domain socket is passed on at once`() async throws {
    let place = try TemporaryDirectory()
    let goOn = try Gate()
    let server = try ScriptedServer(on: .unix(place.local("socket"))) { _ in
      [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitFor(goOn), .send("def")]
    }
    let response = try await session(at: place).open(makeRequest(.get, server.url, nil))
    var pieces: [String] = []
    for try await piece in response.body {
      pieces.append(String(decoding: piece, as: UTF8.self))
      goOn.open()
    }
    #expect(pieces == ["abc", "def"])
  }

  @Test func `an idle Unix-domain socket stays open while the server reads the end of its request`() async throws {
    let place = try TemporaryDirectory()
    let answered = try Gate()
    let server = try ScriptedServer(on: .unix(place.local("socket"))) { request in
      request.number == 0 ? [.respond(200), .waitFor(answered), .readBody] : .good()
    }
    let session = try session(at: place)
    _ = try await session.result(of: makeRequest(server.url, .bytes(noise(50_000))))
    answered.open()
    #expect(await onNewThread { server.wait { $0.first?.hasCompleteBody == true } })
    for _ in 0..<2 { #expect(try await session.result(of: makeRequest(server.url)).outcome == .ok) }
    #expect(server.connections.count == 1)
  }

  @Test func `a server that speaks first over a Unix-domain socket has not seen the request`() async throws {
    let place = try TemporaryDirectory()
    var options = ScriptedServer.Options()
    options.onConnect = { _ in [.send("220 mail.example ready\r\n"), .stall] }
    let server = try ScriptedServer(on: .unix(place.local("socket")), options) { _ in [.unexpected] }
    for _ in 0..<20 {
      let result = try await session(at: place).result(of: makeRequest(.delete, server.url, nil))
      // If the request was written before the greeting was there, the greeting is its response.
      #expect(result.outcome == .retryable || result.error?.code == .malformedResponse)
      #expect(result.outcome != .ok)
    }
  }

  // MARK: Messages

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Le", "within the head of its response"),
    ("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 5001) + "\r\n", "more than 5000 headers"),
    ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", "is a CR without an LF"),
  ])
  func `what is wrong with a head is named`(_ head: String, _ words: String) async throws {
    let server = try ScriptedServer { _ in [.readBody, .send(head), .close] }
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.error?.description.contains(words) == true, "\(String(describing: result.error))")
  }

  @Test(arguments: ["Content-Length: 1\r\nContent-Length: 2", "Content-Length: two", "Transfer-Encoding: odd"])
  func `a head that is refused is shown`(_ framing: String) async throws {
    let shown = ReceivedText()
    let server = try ScriptedServer { _ in [.readBody, .send("HTTP/1.1 200 OK\r\nX-Server: odd\r\n\(framing)\r\n\r\n")] }
    var request = try makeRequest(server.url)
    request.options.trace = { if $0.kind == .responseHead { shown.append($0.text) } }
    let result = try await makeSession().result(of: request)
    #expect(result.error?.code == .malformedResponse)
    #expect(result.response == nil)
    #expect(shown.text == "HTTP/1.1 200 OK\nX-Server: odd\n" + framing.replacing("\r\n", with: "\n"))
  }

  // MARK: The next request

  /// A fault of a request that was never written says nothing about the request before it.
  @Test func `a request that can't be written over a kept connection is not sent`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let session = try makeSession()
    #expect(try await session.result(of: makeRequest(server.url)).outcome == .ok)
    var request = try makeRequest(server.url)
    request.options.requestTarget = "/a#b"
    let result = await session.result(of: request)
    #expect(result.outcome == .failed)
    #expect(result.totalBytesSent == 0)
    #expect(result.error?.description.contains("could not be sent") == true, "\(String(describing: result.error))")
    #expect(server.requests.count == 1)
  }

  @Test func `an attempt on a new connection takes the place of the idle one`() async throws {
    let server = try ScriptedServer { request in request.number == 0 ? .good(503, headers: [("Retry-After", "0")]) : .good() }
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.maximumConnectionsPerHost = 1
    let session = try TransferSession(configuration)
    let result = try await session.result(of: makeRequest(server.url, attempts: 2))
    #expect(result.outcome == .ok)
    #expect(await eventually { server.connections.first?.end == .closedByClient })
    #expect(server.connections.count == 2)
    withExtendedLifetime(session) {}
  }
}
