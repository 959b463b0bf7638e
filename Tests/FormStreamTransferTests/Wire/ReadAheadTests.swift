import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Bodies of unknown length that are read ahead or stored, so that they have a `Content-Length`.
@Suite struct ReadAheadTests {
  private func request(
    _ url: String, _ body: TransferBody, readAhead: Int = 1000, spools: Bool = false,
    attempts: Int = 1
  ) throws -> TransferRequest {
    var request = try makeRequest(url, body, attempts: attempts)
    request.options.readAhead = readAhead
    request.options.spoolsBody = spools
    return request
  }

  @Test(arguments: [0, 1, 1000, 1001, 3_000_000])
  func `a body that ends within the limit has a length, and a longer one is sent in chunks`(
    size: Int
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try await makeSession().result(of: request(server.url, oneShot(noise(size))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.body) == [noise(size)])
    let sent = try #require(server.requests.first)
    #expect(sent.framing == (size <= 1000 ? .contentLength(size) : .chunked))
    #expect((sent.header("Expect") == nil) == (size <= 1000))
    #expect(result.contentLength == (size <= 1000 ? Int64(size) : nil))
    expectConsistency(result, at: server)
  }

  @Test func `a longer body is stored, and has a length`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var post = try request(server.url, oneShot(noise(3_000_000)), spools: true)
    post.options.computesDigest = true
    post.options.sendsDigest = true
    post.options.progressPace = .all
    let steps = ReceivedText()
    let result = try await makeSession().result(of: post) { step in
      steps.append("\(step.phase.rawValue) \(step.total ?? -1)\n")
    }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.body) == [noise(3_000_000)])
    #expect(server.requests.map(\.framing) == [.contentLength(3_000_000)])
    #expect(server.requests.first?.header("Content-Digest") != nil)
    #expect(steps.text.contains("reading -1\n"))
    #expect(steps.text.contains("done 3000000\n"))
    expectConsistency(result, at: server)
  }

  @Test(arguments: [false, true])
  func `a stream that can be read once is retried, redirected and authenticated`(
    spools: Bool
  ) async throws {
    let server = try ScriptedServer { request in
      switch request.number {
      case 0: .good(503)
      case 1: .good(307, headers: [("Location", "/b")])
      case 2: .good(401, headers: [("WWW-Authenticate", "Digest realm=r, nonce=n, qop=auth")])
      default: .good()
      }
    }
    var post = try request(
      server.url, oneShot(noise(900)), readAhead: spools ? 10 : 1000, spools: spools, attempts: 2)
    post.credentials = .digest(user: "me", password: "p")
    let result = try await makeSession().result(of: post)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.body) == Array(repeating: noise(900), count: 4))
    #expect(server.requests.allSatisfy { $0.framing == .contentLength(900) })
    #expect(server.requests.last?.target == "/b")
    #expect(server.faults == [])
  }

  /// What was read ahead is not lost if the server can't be reached at first.
  @Test func `a longer stream that was not begun is retried with all its bytes`() async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.respond(503), .skipBody] : .good()
    }
    var post = try request(server.url, oneShot(noise(5000)), attempts: 2)
    post.options.expectation = .always
    let result = try await makeSession().result(of: post)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.last?.body == noise(5000))
  }

  @Test func `a compressed body has a length if it ends within the limit`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var post = try request(server.url, .bytes("all the same".utf8))
    post.options.bodyCoding = .gzip
    let result = try await makeSession().result(of: post)
    #expect(result.outcome == .ok && result.framing == .contentLength)
    let sent = try #require(server.requests.first)
    #expect(sent.header("Content-Encoding") == "gzip")
    #expect(sent.header("Content-Type") == "application/octet-stream")
    #expect(sent.header("Content-Length") == "\(sent.body.count)")
  }

  @Test func `cancelling ends the reading at once, and interrupts the source`() async throws {
    let server = try ScriptedServer { _ in .good() }
    for spools in [false, true] {
      let (written, cancelled) = (try Gate(), try Gate())
      let body = TransferBody.writing { writer in
        try await writer.write("beginning")
        written.open()
        do { try await Task.sleep(for: .seconds(600)) } catch { cancelled.open() }
      }
      let task = try makeSession().start(
        try request(server.url, body, readAhead: spools ? 3 : 100, spools: spools))
      #expect(await onNewThread { written.wait() })
      task.cancel()
      let result = await task.result
      #expect(result.outcome == .cancelled)
      #expect(await onNewThread { cancelled.wait() })
    }
    #expect(server.completeBodyCount == 0)
  }

  @Test(arguments: [false, true])
  func `a time limit ends the reading, and the message says what was read`(
    spools: Bool
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    let goOn = try Gate()
    let reached = try Gate()
    var post = try request(
      server.url,
      .part(.stream(replay: .once) { BlockingSource(giving: 10, reached: reached, goOn: goOn) }),
      readAhead: spools ? 3 : 1000, spools: spools)
    post.options.timeLimits.attempt = .milliseconds(100)
    let result = try await makeSession().result(of: post)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .timedOut)
    let description = try #require(result.error?.description)
    let words = spools ? "could not be stored" : "could not be read ahead"
    #expect(description.contains("\(words) within 0.1 s"), "\(description)")
    #expect(description.contains("TimeLimits.attempt"))
    #expect(description.contains("TransferOptions.readAhead") == !spools)
    goOn.open()
    #expect(server.requests.isEmpty)
  }

  /// A body that is waited for held the only connection.
  @Test func `other requests go on while a body is read`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var configuration = TransferSession.Configuration()
    configuration.maximumConnectionsPerHost = 1
    let session = try TransferSession(configuration)
    let (reached, goOn) = (try Gate(), try Gate())
    let slow = session.start(
      try request(
        server.url,
        .part(.stream(replay: .once) { BlockingSource(giving: 10, reached: reached, goOn: goOn) })))
    #expect(await onNewThread { reached.wait() })
    let other = try await session.result(of: makeRequest(server.url))
    #expect(other.outcome == .ok)
    goOn.open()
    let result = await slow.result
    #expect(result.outcome == .ok)
    #expect(server.requests.map(\.bodyCount) == [9, 10])
  }
}
