import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A server that refuses a body before it is complete, and closes.
@Suite struct EarlyResponseTests {
  private static let size = 200 * 1024 * 1024
  private static let refusal: [ScriptedStep] = [
    .readBody(upTo: 3_000_000),
    .respond(413, headers: [("Connection", "close")], body: "too big"), .close,
  ]

  @Test(arguments: [Duration.zero, .microseconds(200), .milliseconds(1)])
  func `a refusal before the end of the body is received`(pause: Duration) async throws {
    let server = try ScriptedServer { _ in Self.refusal }
    let session = try makeSession()
    for _ in 0..<100 {
      let size = Self.size
      var request = try TransferRequest(
        .post, server.url,
        body: .part(
          .stream(length: Int64(size)) { SlowSource(size, pause: pause) }))
      request.options.expectation = .never
      let result = await session.result(of: request)
      #expect(result.status == 413, "\(String(describing: result.error))")
      #expect(result.outcome == .failed)
      #expect(result.attempts == 1)
    }
    #expect(server.completeBodyCount == 0)
  }

  @Test func `a refusal before the end of a file is received`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.sparse("large", size: Int64(Self.size))
    let server = try ScriptedServer { _ in Self.refusal }
    let session = try makeSession()
    for _ in 0..<100 {
      var request = try TransferRequest(.put, server.url, body: .file(file))
      request.options.expectation = .never
      let result = await session.result(of: request)
      #expect(result.status == 413, "\(String(describing: result.error))")
      #expect(result.outcome == .failed)
    }
    #expect(server.completeBodyCount == 0)
  }

  /// A server that ends its side and reads on loses no response. If it closes at once, the connection can break under
  /// TLS before the client has read the response: then the outcome is unknown.
  @Test(arguments: [true, false])
  func `under TLS a refusal is received, or unknown if the server closes at once`(
    readsOn: Bool
  ) async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedServer { _ in
      Self.refusal.dropLast() + [readsOn ? .finish : .close]
    }
    let proxy = try TLSProxy(to: server.port, certificates.server)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    var refusals = 0
    for _ in 0..<20 {
      let size = Self.size
      var request = try TransferRequest(
        .post, proxy.url,
        body: .part(.stream(length: Int64(size)) { SlowSource(size, pause: .microseconds(200)) }))
      request.options.expectation = .never
      let result = await session.result(of: request)
      if result.status == 413 {
        #expect(result.outcome == .failed)
        refusals += 1
      } else {
        #expect(result.outcome == .unknown)
        #expect(result.status == nil)
        #expect(result.error?.code == .connectionLost, "\(String(describing: result.error))")
      }
    }
    #expect(readsOn ? refusals == 20 : refusals > 0)
    #expect(server.completeBodyCount == 0)
  }
}
