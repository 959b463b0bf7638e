import FormStream
import Foundation
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The scripted HTTP/2 server that other tests rely on.
@Suite struct ScriptedHTTP2ServerTests {
  private func curl2(_ arguments: String...) throws -> Invocation {
    try curl(["--http2-prior-knowledge", "-w", "%{http_code} "] + arguments)
  }

  @Test func `a body is taken as far as the windows are opened, and recorded`() throws {
    let place = try TemporaryDirectory()
    let bytes = noise(1_000_000)
    try place.write("body", bytes)
    let server = try ScriptedHTTP2Server { request in
      request.number == 0
        ? .good(201, headers: [("X-Long", String(repeating: "x", count: 300))], body: "made ")
        : [.read(upTo: 100_000), .respond(413), .resetStream(.noError)]
    }
    let said = try curl2("-D", place.path("head"), "-T", place.path("body"), server.url)
    #expect(said.output == "made 201 ")
    #expect(
      try String(contentsOfFile: place.path("head"), encoding: .utf8).contains("x-long: xxx"))
    _ = try curl2("-T", place.path("body"), server.url)
    server.stop()
    #expect(server.faults == [])
    #expect(server.requests.map(\.isComplete) == [true, false])
    #expect(server.requests.map(\.responseStatus) == [201, 413])
    #expect(server.requests.map(\.bodyCountAtResponse) == [1_000_000, 100_000])
    #expect(server.requests.map(\.allowedCount).last == 100_000)
    #expect(server.requests.first?.body == bytes)
  }

  @Test func `requests are handled side by side on a connection`() async throws {
    let (begun, gate) = (try Gate(), try Gate())
    let server = try ScriptedHTTP2Server { request in
      request.number == 0
        ? [.open(begun), .waitFor(gate)] + .good() : [.readBody, .open(gate), .respond(201)]
    }
    let certificates = try TestCertificates()
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    var configuration = TransferSession.Configuration()
    configuration.tls.authorities = LocalPath(certificates.authority)
    let session = try TransferSession(configuration)
    async let first = session.result(of: makeRequest(proxy.url))
    #expect(await onNewThread { begun.wait() })
    let second = try await session.result(of: makeRequest(proxy.url))
    #expect(second.status == 201)
    #expect(try await first.status == 200)
    server.stop()
    #expect(server.requests.map(\.connection) == [0, 0])
    #expect(server.requests.map(\.isComplete) == [true, true])
    #expect(server.faults == [])
  }

  @Test func `streams and connections are ended as the script says`() throws {
    let server = try ScriptedHTTP2Server { request in
      switch request.number {
      case 0: [.readBody, .resetStream(.internalError)]
      case 1: [.readBody, .goAway(.none, .enhanceYourCalm), .finish]
      case 2: [.readBody, .close]
      case 3: [.readBody, .informational(103), .respond(200, ends: false), .data([65], ends: true)]
      default: [.readBody, .reset]
      }
    }
    #expect(try curl2("-d", "a", server.url).stderr.contains("INTERNAL_ERROR"))
    #expect(try curl2("-d", "a", server.url).exit != 0)
    #expect(try curl2("-d", "a", server.url).exit != 0)
    #expect(try curl2("-d", "a", server.url).output == "A200 ")
    #expect(try curl2("-d", "a", server.url).exit != 0)
    #expect(server.waitForEnds(5))
    #expect(
      server.connections[1...] == [
        .closedByClient, .closedByServer, .closedByClient, .resetByServer,
      ])
    #expect(server.faults == [])
  }

  @Test func `it is reached under TLS, too`() throws {
    let certificates = try TestCertificates()
    let server = try ScriptedHTTP2Server { _ in .good(body: "safe ") }
    var options = TLSProxy.Options()
    options.protocols = ["h2"]
    let proxy = try TLSProxy(to: server.port, certificates.server, options)
    let said = try curl(
      "--cacert", certificates.authority, "-d", "abc", "-w", "%{http_version}", proxy.url)
    #expect(said.output == "safe 2")
    #expect(server.requests.map(\.body) == [Array("abc".utf8)])
    #expect(server.faults == [])
  }
}
