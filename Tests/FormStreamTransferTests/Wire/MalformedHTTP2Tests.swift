import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Responses of HTTP/2 that are not valid. RFC 9113 §8.1.1: "Malformed requests or responses that are detected MUST be treated
/// as a stream error of type PROTOCOL_ERROR." Another attempt gets the same response.
@Suite(.timeLimit(.minutes(1))) struct MalformedHTTP2Tests {
  /// A header without compression: its name and its value, each after its length (RFC 7541 §6.2.2).
  private static func header(_ name: String, _ value: String) -> [UInt8] {
    [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
  }

  private static func frame(
    _ kind: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]
  ) -> [UInt8] {
    [
      0, UInt8(payload.count / 256), UInt8(payload.count % 256), kind, flags, 0, 0, 0,
      UInt8(stream),
    ]
      + payload
  }

  /// HEADERS that end the response.
  private static func head(_ stream: Int, _ headers: [UInt8]) -> [UInt8] {
    frame(1, 0x5, stream, headers)
  }

  enum Fault: CaseIterable {
    case noStatus, badStatus, capitals, connectionHeader, lateStatus, lineBreak, twoLengths
    case streamError, dataFirst, compression, noFrame

    func bytes(_ stream: Int) -> [UInt8] {
      let ok = header(":status", "200")
      switch self {
      case .noStatus: return head(stream, header("a", "b"))
      case .badStatus: return head(stream, header(":status", "abc"))
      case .capitals: return head(stream, ok + header("Foo", "b"))
      case .connectionHeader: return head(stream, ok + header("connection", "close"))
      case .lateStatus: return head(stream, header("a", "b") + ok)
      case .lineBreak: return head(stream, ok + header("a", "b\nc"))
      case .twoLengths:
        return head(stream, ok + header("content-length", "2") + header("content-length", "3"))
      case .streamError: return frame(3, 0, stream, [0, 0, 0, 1])
      case .dataFirst: return frame(0, 0x1, stream, Array("abc".utf8))
      case .compression:
        return head(stream, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F])
      case .noFrame: return Array(String(repeating: "this is no frame at all ", count: 5).utf8)
      }
    }

    private func header(_ name: String, _ value: String) -> [UInt8] {
      MalformedHTTP2Tests.header(name, value)
    }
    private func head(_ stream: Int, _ headers: [UInt8]) -> [UInt8] {
      MalformedHTTP2Tests.head(stream, headers)
    }
    private func frame(
      _ kind: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]
    ) -> [UInt8] { MalformedHTTP2Tests.frame(kind, flags, stream, payload) }
  }

  private func session(_ certificates: TestCertificates? = nil) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.version = .http2
    configuration.tls.authorities = certificates.map { LocalPath($0.authority) }
    return try TransferSession(configuration)
  }

  private func server(_ fault: Fault) throws -> ScriptedHTTP2Server {
    try ScriptedHTTP2Server { [.readBody, .sendBytes(fault.bytes($0.stream)), .stall] }
  }

  /// They were taken for broken connections, and sent three times.
  @Test(arguments: Fault.allCases, [HTTPMethod.get, .post])
  func `a malformed response is permanent, and not asked for again`(
    _ fault: Fault, _ method: HTTPMethod
  ) async throws {
    let server = try server(fault)
    var request = try makeRequest(
      method, server.url, method == .get ? nil : .bytes(noise(1000)), attempts: 3)
    request.options.retry.retriesUnsafe = true
    request.options.expectation = .never
    let result = try await session().result(of: request)
    #expect(result.outcome == (method == .get ? .failed : .unknown), "\(result)")
    #expect(result.error?.code == .malformedResponse, "\(String(describing: result.error))")
    #expect(result.error?.description.contains("Version.http11") == true)
    #expect(result.attempts == 1)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [Fault.noStatus, .dataFirst, .compression])
  func `a malformed response is permanent under TLS as well`(_ fault: Fault) async throws {
    let (server, certificates) = (try server(fault), try TestCertificates())
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    let result = try await session(certificates).result(
      of: makeRequest(.get, proxy.url, nil, attempts: 3))
    #expect(result.outcome == .failed, "\(result)")
    #expect(result.error?.code == .malformedResponse, "\(String(describing: result.error))")
    #expect(server.requests.count == 1)
  }

  /// What a server ends for other reasons may succeed the next time.
  @Test(arguments: [
    [ScriptedHTTP2Step.resetStream(.internalError)], [.close], [.finish], [.reset],
    [.goAway(.this), .close],
    [.respond(200, headers: [("Content-Length", "9")], body: "part", ends: false), .close],
  ])
  func `a broken connection is asked for again`(_ steps: [ScriptedHTTP2Step]) async throws {
    let certificates = try TestCertificates()
    for isEncrypted in [false, true] {
      let server = try ScriptedHTTP2Server { [.readBody] + ($0.number == 0 ? steps : []) + .good() }
      var options = TLSProxy.Options()
      options.protocols = ["h2"]
      let proxy = try TLSProxy(to: server.port, certificates.server, options)
      let result = try await session(certificates).result(
        of: makeRequest(.get, isEncrypted ? proxy.url : server.url, nil, attempts: 3))
      #expect(result.outcome == .ok, "\(isEncrypted): \(String(describing: result.error))")
      #expect(server.requests.count == 2)
    }
  }
}
