import FormStream
import Foundation
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Authentication by servers that are widely used, in front of one that records what reaches it.
@Suite(.serialized) struct AuthenticationServerTests {
  private static let size = 100 << 20
  /// Made once: it takes seconds.
  private static let large = noise(size)

  /// Compares bodies with the bytes that every one of them must have.
  private final class Received: Sendable {
    private let expected: [UInt8]
    private let state = Guarded((counts: [Int: Int](), isSame: true))

    init(_ expected: [UInt8]) {
      self.expected = expected
    }

    func take(_ request: Int, _ bytes: UnsafeRawBufferPointer) {
      state.withLock { state in
        let start = state.counts[request, default: 0]
        state.counts[request] = start + bytes.count
        let end = start + bytes.count
        guard end <= expected.count, let first = bytes.baseAddress else {
          return state.isSame = bytes.isEmpty
        }
        let isSame = expected[start..<end].withUnsafeBytes { piece in
          piece.baseAddress.map { memcmp($0, first, piece.count) == 0 } ?? true
        }
        if !isSame { state.isSame = false }
      }
    }

    var counts: [Int] { state.withLock { $0.counts.values.sorted() } }
    var isSame: Bool { state.withLock(\.isSame) }
  }

  private struct Setting {
    let bytes: [UInt8]
    let received: Received
    let server: ScriptedServer
    let real: RealServer

    init(
      _ kind: RealServer.Kind, _ authentication: RealServer.Options.Authentication,
      size: Int = AuthenticationServerTests.size
    ) throws {
      bytes = Array(AuthenticationServerTests.large.prefix(size))
      let received = Received(bytes)
      self.received = received
      var options = ScriptedServer.Options()
      options.keptBodyLimit = 0
      options.onBody = { received.take($0, $1) }
      server = try ScriptedServer(options) { _ in .good(201, body: "stored") }
      var real = RealServer.Options()
      real.authentication = authentication
      self.real = try RealServer(kind, to: server.port, nil, real)
    }

    func request(_ credentials: Credentials, _ body: TransferBody) throws -> TransferRequest {
      var request = try TransferRequest(.post, real.url + "/a?b=c", body: body)
      request.credentials = credentials
      request.options.computesDigest = true
      return request
    }
  }

  private static let user = "Mufasa"
  private static let password = "Circle of Life"

  @Test(arguments: [ContinuePolicy.automatic, .never])
  func `apache: a large body arrives once with the right answer, and no empty POST is sent`(
    policy: ContinuePolicy
  ) async throws {
    let setting = try Setting(.apache, .digest)
    let place = try TemporaryDirectory()
    let file = try place.write("large", setting.bytes)
    let session = try makeSession()
    var request = try setting.request(
      .digest(user: Self.user, password: Self.password), .file(file))
    request.options.expectation = policy
    for attempts in [2, 1] {
      let result = await session.result(of: request)
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(result.status == 201 && result.attempts == attempts)
      #expect(result.bytesSent == Int64(Self.size))
    }
    #expect(setting.received.counts == [Self.size, Self.size])
    #expect(setting.received.isSame)
    #expect(setting.server.completeBodyCount == 2)
    // It notes a request only after the response.
    #expect(await eventually { (try? setting.real.log().count) ?? 0 >= 3 })
    setting.real.stop()
    let log = try setting.real.log()
    #expect(log.map(\.status) == [401, 201, 201])
    #expect(log.allSatisfy { $0.announced == "\(Self.size)" })
    // With Expect, the 401 comes before the body.
    if policy == .automatic { #expect(log[0].received < 10_000) }
  }

  @Test(arguments: [RealServer.Kind.apache, .nginx])
  func `Basic at once, or after a challenge, with a large body`(kind: RealServer.Kind) async throws {
    let setting = try Setting(kind, .basic)
    let place = try TemporaryDirectory()
    let file = try place.write("large", setting.bytes)
    for (onChallenge, attempts) in [(false, 1), (true, 2)] {
      let credentials = Credentials.basic(
        user: Self.user, password: Self.password, onChallenge: onChallenge)
      let result = try await makeSession().result(of: setting.request(credentials, .file(file)))
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
      #expect(result.attempts == attempts)
    }
    #expect(setting.received.counts == [Self.size, Self.size])
    #expect(setting.received.isSame)
  }

  @Test func `apache: a stream is begun after the 401, and arrives`() async throws {
    let setting = try Setting(.apache, .digest, size: 3_000_000)
    let result = try await makeSession().result(
      of: setting.request(
        .digest(user: Self.user, password: Self.password), oneShot(setting.bytes)))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(setting.received.counts == [3_000_000])
    #expect(setting.received.isSame)
  }

  @Test func `apache and nginx: a wrong password is sent once`() async throws {
    for (kind, scheme, credentials) in [
      (.apache, .digest, .digest(user: Self.user, password: "canary")),
      (.apache, .basic, .strongestOffered(user: Self.user, password: "canary")),
      (.nginx, .basic, .basic(user: Self.user, password: "canary")),
    ] as [(RealServer.Kind, RealServer.Options.Authentication, Credentials)] {
      let setting = try Setting(kind, scheme, size: 10)
      let result = try await makeSession().result(
        of: setting.request(credentials, .bytes(setting.bytes)))
      #expect(result.outcome == .failed && result.status == 401)
      let message = "\(String(describing: result.error))"
      #expect(message.contains("(\(scheme.rawValue), realm \"vault\")"), "\(message)")
      #expect(!message.contains("canary"))
      #expect(setting.server.requests.isEmpty)
    }
  }
}
