import FormStream
import Glibc
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// What an exceeded time limit means for a request.
@Suite struct TimeLimitTests {
  private static let short = Duration.milliseconds(300)

  private func result(
    of request: TransferRequest, change: (inout TransferOptions) -> Void
  ) async throws -> TransferResult {
    var request = request
    request.options.expectation = .never
    change(&request.options)
    return try await makeSession().result(of: request)
  }

  @Test func `a body without a response in time is unknown`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let result = try await result(of: makeRequest(server.url, attempts: 3)) {
      $0.timeLimits.response = Self.short
    }
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .responseTimedOut)
    #expect(result.attempts == 1)
    expectConsistency(result, at: server)
  }

  @Test func `informational responses don't count as a response`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .informational(102), .stall] }
    let result = try await result(of: makeRequest(server.url)) {
      $0.timeLimits.response = Self.short
    }
    #expect(result.outcome == .unknown)
    #expect(result.error?.code == .responseTimedOut)
    expectConsistency(result, at: server)
  }

  @Test(arguments: [HTTPMethod.put, .get])
  func `an idempotent request is repeated`(method: HTTPMethod) async throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .stall] : .good()
    }
    let result = try await result(
      of: makeRequest(method, server.url, method == .get ? nil : .bytes([1]), attempts: 2)
    ) { $0.timeLimits.response = Self.short }
    #expect(result.outcome == .ok)
    #expect(result.attempts == 2)
    expectConsistency(result, at: server)
  }

  @Test func `a server that stops reading can't have the complete body`() async throws {
    let server = try ScriptedServer { _ in [.readBody(upTo: 1000), .stall] }
    let size = Int64(64 << 20)
    let place = try TemporaryDirectory()
    let file = try place.sparse("large", size: size)
    let result = try await result(of: makeRequest(server.url, .file(file))) {
      $0.timeLimits.stall = Self.short
      $0.computesDigest = true
    }
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .stalled)
    #expect(result.bytesSent < size)
    #expect(result.sha256 == nil)
    expectConsistency(result, at: server, bodies: 0, but: [.cutShort])
  }

  @Test(arguments: [HTTPMethod.post, .get])
  func `a response that stalls is incomplete`(method: HTTPMethod) async throws {
    let server = try ScriptedServer { _ in
      [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"), .stall]
    }
    let result = try await result(
      of: makeRequest(method, server.url, method == .get ? nil : .bytes([1]))
    ) { $0.timeLimits.stall = Self.short }
    #expect(result.outcome == (method == .post ? .ok : .retryable))
    #expect(result.error?.code == .stalled)
    #expect(result.response?.isTruncated == true)
    #expect(result.response?.text == "part")
    expectConsistency(result, at: server)
  }

  @Test func `an attempt has its own limit, whatever it is doing`() async throws {
    let server = try ScriptedServer { request in
      request.target == "/sent" ? [.readBody, .stall] : [.readBody(rate: 100_000)]
    }
    let place = try TemporaryDirectory()
    let file = try place.sparse("large", size: 64 << 20)
    let partly = try await result(of: makeRequest(server.url + "/slow", .file(file))) {
      $0.timeLimits.attempt = Self.short
    }
    #expect(partly.outcome == .retryable)
    #expect(partly.error?.code == .timedOut)
    let sent = try await result(of: makeRequest(server.url + "/sent")) {
      $0.timeLimits.attempt = Self.short
    }
    #expect(sent.outcome == .unknown)
    #expect(sent.error?.code == .timedOut)
    #expect(server.completeBodyCount == 1)
    #expect(server.faults(except: .cutShort) == [])
  }

  /// Each took less than the limit, and both together took more.
  @Test(arguments: [false, true])
  func `reading ahead is a part of the first attempt`(spools: Bool) async throws {
    let server = try ScriptedServer { _ in
      [.readBody, .sendSlowly(Array(Self.slowOK.utf8), each: .milliseconds(20))]
    }
    let body = TransferBody.part(
      .stream(replay: .once) { SlowSource(10, pause: .milliseconds(250)) })
    let result = try await result(of: makeRequest(server.url, body)) {
      $0.timeLimits.attempt = .seconds(1)
      $0.readAhead = spools ? 1 : 1000
      $0.spoolsBody = spools
    }
    #expect(result.outcome != .ok)
    #expect(result.error?.code == .timedOut)
    #expect(result.error?.description.contains("1 s") == true)
  }

  @Test func `measuring a body for its length is a part of the repetition`() async throws {
    let server = try ScriptedServer { request in
      request.framing == .chunked ? [.respond(411), .skipBody] : .good()
    }
    let body = TransferBody.part(.stream { SlowSource(10, pause: .milliseconds(350)) })
    var request = try makeRequest(server.url, body)
    request.options.expectation = .always
    request.options.timeLimits.attempt = .seconds(1)
    let result = try await makeSession().result(of: request)
    #expect(result.error?.code == .timedOut)
    #expect(server.completeBodyCount == 0)
  }

  private static let slowOK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  @Test func `the wait for a 100 is limited, too`() async throws {
    let server = try ScriptedServer { _ in [.stall] }
    var request = try makeRequest(server.url)
    request.options.expectation = .always
    request.options.expectation.timeout = .seconds(60)
    request.options.timeLimits.stall = Self.short
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .stalled)
    #expect(result.bytesSent == 0)
    #expect(await onNewThread { server.waitForEnds() })
    expectConsistency(result, at: server, bodies: 0, but: [.cutShort])
  }

  @Test func `a server that accepts no connection was not reached`() async throws {
    let crowded = try CrowdedListener()
    let result = try await result(of: makeRequest("http://127.0.0.1:\(crowded.port)/")) {
      $0.timeLimits.connect = Self.short
    }
    #expect(result.outcome == .retryable)
    #expect(result.error?.code == .connectTimedOut)
    #expect(result.attempts == 1)
    #expect(result.totalBytesSent == 0)
  }
  @Test func `a low rate is not a stall`() async throws {
    let server = try ScriptedServer { _ in .good() }
    var request = try makeRequest(server.url, .bytes(noise(24_000)))
    request.options.maximumRate = 8000
    request.options.timeLimits.stall = .milliseconds(500)
    request.options.expectation = .never
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.faults == [])
  }
}

/// A port whose queue is full: connections are neither accepted nor refused.
private final class CrowdedListener {
  let port: UInt16
  private var descriptors: [Int32] = []

  init() throws {
    let kind =
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let listening = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    var copy = address
    let isListening = withUnsafeMutablePointer(to: &copy) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, size) == 0 && listen(listening, 0) == 0
          && getsockname(listening, $0, &size) == 0
      }
    }
    guard isListening else { throw SystemError(number: errno) }
    port = UInt16(bigEndian: copy.sin_port)
    descriptors = [listening]
    // A queue of length 0 has room for one connection; further ones get no reply.
    for _ in 0..<8 {
      let client = socket(AF_INET, kind, 0)
      withUnsafeMutablePointer(to: &copy) {
        _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, size) }
      }
      descriptors.append(client)
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
