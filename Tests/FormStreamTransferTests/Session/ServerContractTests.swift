import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// A route to a test server, directly or through an intermediary.
enum Route: String, CaseIterable, Sendable {
  case plain, tlsProxy, nginx, nginxTLS, nginxHTTP2, apache

  var isEncrypted: Bool { [.tlsProxy, .nginxTLS, .nginxHTTP2].contains(self) }
  /// Whether an intermediary responds in the server's place.
  var isProxied: Bool { ![.plain, .tlsProxy].contains(self) }
}

/// The intermediaries of one route, kept alive during a test.
struct RouteSetup: Sendable {
  let url: String
  let session: TransferSession
  private var holds: [any AnyObject & Sendable] = []

  init(_ route: Route, to server: ScriptedServer, _ options: RealServer.Options = .init()) throws {
    var configuration = TransferSession.Configuration()
    // Long bodies are not sent over HTTP/2 otherwise.
    if route == .nginxHTTP2 { configuration.version = .http2 }
    if route.isEncrypted {
      let certificates = try TestCertificates()
      holds.append(certificates)
      configuration.tls.authorities = LocalPath(certificates.authority)
      if route == .tlsProxy {
        let proxy = try TLSProxy(to: server.port, certificates.server)
        holds.append(proxy)
        url = proxy.url
      } else {
        let real = try RealServer(.nginx, to: server.port, certificates.server, options)
        holds.append(real)
        url = route == .nginxTLS ? real.urlTLS : real.urlHTTP2
      }
    } else if route == .plain {
      url = server.url
    } else {
      let real = try RealServer(route == .apache ? .apache : .nginx, to: server.port, nil, options)
      holds.append(real)
      url = real.url
    }
    session = try TransferSession(configuration)
  }
}

/// One contract for all servers.
@Suite(.serialized) struct ServerContractTests {
  @Test(arguments: Route.allCases)
  func `bodies arrive byte for byte`(route: Route) async throws {
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let setting = try RouteSetup(route, to: server)
    let bytes = noise(3_000_000)
    let form = Form(boundary: try Boundary("B")) {
      Part.text("a", "1")
      Part.bytes("f", noise(100_000), filename: "f")
    }
    let bodies: [(TransferBody, [UInt8])] = [
      (.form(form), try form.layout().bytes(limit: 1 << 20)), (.bytes(bytes), bytes),
      (.bytes([]), []), (.stream { InputStream(data: Data(bytes)) }, bytes),
      (.stream(length: 3_000_000) { InputStream(data: Data(bytes)) }, bytes),
      (.stream { InputStream(data: Data()) }, []),
    ]
    for (index, (body, sent)) in bodies.enumerated() {
      var request = try TransferRequest(
        index == 0 ? .post : .put, setting.url + "/\(index)", body: body)
      request.options.computesDigest = true
      let result = await setting.session.result(of: request)
      #expect(result.outcome == .ok, "\(index): \(String(describing: result.error))")
      #expect(result.response?.text == "thanks")
      #expect(result.bytesSent == Int64(sent.count))
      #expect(result.attempts == 1)
      let got = try #require(server.requests.last)
      #expect(got.target == "/\(index)")
      #expect(got.body == sent)
      let framing: TransferResult.Framing =
        route == .nginxHTTP2 ? .http2 : index == 3 || index == 5 ? .chunked : .contentLength
      #expect(result.framing == framing, "\(index)")
      #expect(result.response?.version == (route == .nginxHTTP2 ? "2" : "1.1"))
    }
    #expect(server.requests.count == bodies.count)
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: Route.allCases)
  func `twenty bodies sent at once, and then again, arrive unchanged`(route: Route) async throws {
    let server = try ScriptedServer { _ in .good() }
    let setting = try RouteSetup(route, to: server)
    for _ in 0..<2 {
      let tasks = try (0..<20).map { index in
        setting.session.start(
          try TransferRequest(
            .put, setting.url + "/\(index)",
            body: .bytes(noise(50_000 + index, seed: UInt64(index)))))
      }
      for task in tasks {
        let result = await task.result
        #expect(result.outcome == .ok, "\(String(describing: result.error))")
        #expect(result.attempts == 1)
      }
    }
    #expect(server.requests.count == 40)
    for request in server.requests {
      let index = Int(request.target.dropFirst()) ?? -1
      #expect(request.body == noise(50_000 + index, seed: UInt64(index)))
    }
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [Route.nginx, .nginxTLS, .nginxHTTP2], [true, false])
  func `nginx refuses a body that is too large, and the refusal is received or unknown`(
    route: Route, isKnown: Bool
  ) async throws {
    let server = try ScriptedServer { _ in .good() }
    var options = RealServer.Options()
    options.largestBody = 1_000_000
    let setting = try RouteSetup(route, to: server, options)
    let size = 64 << 20
    var refusals = 0
    for _ in 0..<5 {
      var request = try TransferRequest(
        .put, setting.url,
        body: .part(
          .stream(length: isKnown ? Int64(size) : nil) { SlowSource(size, pause: .zero) }))
      request.options.expectation = .never
      let result = await setting.session.result(of: request)
      let isRefused = result.status == 413 && result.outcome == .failed
      #expect(isRefused || route.isEncrypted && result.outcome == .unknown, "\(result)")
      if isRefused { refusals += 1 }
      #expect(result.attempts == 1)
    }
    // Under TLS a single refusal can be lost; nginx doesn't lose them all.
    #expect(refusals > 0)
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
