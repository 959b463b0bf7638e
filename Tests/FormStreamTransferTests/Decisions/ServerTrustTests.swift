import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// Programs that decide on servers' certificates.
@Suite struct ServerTrustTests {
  private let made: TestCertificates
  private let server: ScriptedServer

  init() throws {
    made = try TestCertificates()
    server = try ScriptedServer { _ in .good(body: "safe") }
  }

  /// What a program was asked.
  private final class Asked: Sendable {
    private let list = Guarded<[ServerTrust]>([])
    var all: [ServerTrust] { list.withLock { $0 } }
    func note(_ trust: ServerTrust) { list.withLock { $0.append(trust) } }
  }

  /// Opened once by a test.
  private actor Latch {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
      if !isOpen { await withCheckedContinuation { waiting.append($0) } }
    }

    func open() {
      isOpen = true
      for task in waiting { task.resume() }
      waiting = []
    }
  }

  private func session(
    _ asked: Asked, _ version: TransferSession.Configuration.Version = .automatic,
    _ decide: @escaping @Sendable (ServerTrust) async -> ServerTrust.Decision
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.version = version
    configuration.tls.authorities = LocalPath(made.authority)
    configuration.serverTrust = { trust in
      asked.note(trust)
      return await decide(trust)
    }
    return try TransferSession(configuration)
  }

  @Test func `a program can trust what the platform refuses, and is asked once`() async throws {
    for (pair, says) in [
      (made.selfSigned, "it is self-signed"), (made.expired, "it expired at"),
      (made.wrongHost, "it is not for the host \"localhost\", but for elsewhere.example"),
    ] {
      let proxy = try TLSProxy(to: server.port, pair)
      let asked = Asked()
      let session = try session(asked) { _ in .trust }
      let before = server.requests.count
      for number in 0..<3 {
        let body = noise(200_000, seed: UInt64(number))
        let result = await session.result(of: try makeRequest(proxy.url, .bytes(body)))
        #expect(result.outcome == .ok, "\(String(describing: result.error))")
        #expect(result.attempts == 1)
        #expect(result.isServerVerified == false)
        #expect(server.requests.last?.body == body)
      }
      #expect(server.requests.count == before + 3)
      let trust = try #require(asked.all.first)
      #expect(asked.all.count == 1)
      #expect(trust.origin.description == proxy.url)
      #expect(!trust.isVerified && trust.platformDecision == .refuse)
      #expect(trust.problem?.contains(says) == true, "\(String(describing: trust.problem))")
      #expect(trust.certificates.count == 1)
      // DER: a SEQUENCE.
      #expect(trust.certificates.first?.first == 0x30)
    }
    #expect(server.faults.isEmpty)
  }

  @Test func `a program can refuse what the platform trusts, and nothing is sent`() async throws {
    let proxy = try TLSProxy(to: server.port, made.server)
    let asked = Asked()
    let session = try session(asked) { _ in .refuse }
    for _ in 0..<2 {
      let result = await session.result(of: try makeRequest(proxy.url, attempts: 3))
      #expect(result.outcome == .failed)
      #expect(result.error?.code == .certificateRefused)
      #expect(
        result.error?.description.contains("this program refuses the server's certificate") == true)
      #expect(result.attempts == 1)
      #expect(result.isServerVerified == nil)
    }
    #expect(asked.all.count == 1)
    #expect(asked.all.first?.isVerified == true)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [TransferSession.Configuration.Version.automatic, .http11, .http2])
  func `requests that wait for the same decision ask once`(
    _ version: TransferSession.Configuration.Version
  ) async throws {
    let http2 = try ScriptedHTTP2Server { _ in .good() }
    var options = TLSProxy.Options()
    options.protocols = ["h2", "http/1.1"]
    options.http2Port = http2.port
    let proxy = try TLSProxy(to: server.port, made.selfSigned, options)
    let gate = Latch()
    let asked = Asked()
    let session = try session(asked, version) { _ in
      await gate.wait()
      return .trust
    }
    let tasks = try (0..<6).map { _ in session.start(try makeRequest(proxy.url)) }
    #expect(await eventually { !asked.all.isEmpty })
    await gate.open()
    for task in tasks {
      let result = await task.result
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(result.attempts == 1)
    }
    #expect(asked.all.count == 1)
    #expect(server.requests.count + http2.requests.count == 6)
  }

  @Test func `another certificate is asked about again`() async throws {
    let asked = Asked()
    let session = try session(asked) { $0.platformDecision }
    let first = try TLSProxy(to: server.port, made.server)
    #expect(await session.result(of: try makeRequest(first.url)).isServerVerified == true)
    let second = try TLSProxy(to: server.port, made.expired)
    let refused = await session.result(of: try makeRequest(second.url))
    #expect(refused.error?.code == .certificateRefused)
    #expect(asked.all.map(\.isVerified) == [true, false])
  }

  @Test func `a request can be cancelled while the program decides, and others go on`() async throws {
    let slow = try TLSProxy(to: server.port, made.selfSigned)
    let fast = try TLSProxy(to: server.port, made.server)
    let asked = Asked()
    let gate = Latch()
    let session = try session(asked) { trust in
      if !trust.isVerified { await gate.wait() }
      return .trust
    }
    let waiting = session.start(try makeRequest(slow.url))
    #expect(await eventually { !asked.all.isEmpty })
    #expect(await session.result(of: try makeRequest(fast.url)).outcome == .ok)
    var limited = try makeRequest(slow.url)
    limited.options.timeLimits.attempt = .milliseconds(100)
    let late = await session.result(of: limited)
    #expect(late.error?.code == .timedOut, "\(String(describing: late.error))")
    waiting.cancel()
    let result = await waiting.result
    #expect(result.outcome == .cancelled)
    await gate.open()
    #expect(await session.result(of: try makeRequest(slow.url)).outcome == .ok)
    #expect(server.requests.count == 2)
  }

  @Test func `a body that can be read once is not spent by the question`() async throws {
    let proxy = try TLSProxy(to: server.port, made.selfSigned)
    let session = try session(Asked()) { _ in .trust }
    let result = await session.result(of: try makeRequest(proxy.url, oneShot(noise(300_000))))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.body) == [noise(300_000)])
  }
}
