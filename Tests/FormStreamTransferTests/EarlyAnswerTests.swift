import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A source that takes its time for each piece.
final class SlowSource: ByteSource {
  private var left: Int
  private let pause: Duration

  init(_ count: Int, pause: Duration) {
    left = count
    self.pause = pause
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let (seconds, attoseconds) = pause.components
    if pause > .zero { Thread.sleep(forTimeInterval: Double(seconds) + Double(attoseconds) / 1e18) }
    let count = min(buffer.count, left, 64 * 1024)
    for index in 0..<count { buffer[index] = 7 }
    left -= count
    return count
  }

  func close() {}
}

/// A server that refuses a body before it has it, and closes.
@Suite struct EarlyAnswerTests {
  private static let size = 200 * 1024 * 1024
  private static let refusal: [ScriptedStep] = [
    .readBody(upTo: 3_000_000),
    .respond(413, headers: [("Connection", "close")], body: "too big"), .close,
  ]

  @Test(arguments: [Duration.zero, .microseconds(200), .milliseconds(1)])
  func `a refusal in the middle of the body is what is told`(pause: Duration) async throws {
    let server = try ScriptedServer { _ in Self.refusal }
    let session = try patientSession()
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

  @Test func `a file is refused no less clearly`() async throws {
    let place = try TemporaryDirectory()
    let file = try place.sparse("large", size: Int64(Self.size))
    let server = try ScriptedServer { _ in Self.refusal }
    let session = try patientSession()
    for _ in 0..<100 {
      var request = try TransferRequest(.put, server.url, body: .file(file))
      request.options.expectation = .never
      let result = await session.result(of: request)
      #expect(result.status == 413, "\(String(describing: result.error))")
      #expect(result.outcome == .failed)
    }
    #expect(server.completeBodyCount == 0)
  }

  @Test func `under TLS it is told, or unknown`() async throws {
    let certificates = try TestCertificates()
    let server = try ScriptedServer { _ in Self.refusal }
    let front = try TLSProxy(to: server.port, certificates.server)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    for _ in 0..<20 {
      let size = Self.size
      var request = try TransferRequest(
        .post, front.url,
        body: .part(.stream(length: Int64(size)) { SlowSource(size, pause: .microseconds(200)) }))
      request.options.expectation = .never
      let result = await session.result(of: request)
      #expect(result.status == 413 && result.outcome == .failed || result.outcome == .unknown)
      if result.status == nil {
        #expect(result.error?.code == .connectionLost, "\(String(describing: result.error))")
      }
    }
    #expect(server.completeBodyCount == 0)
  }
}
