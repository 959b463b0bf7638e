import Foundation
import FormStreamReceiver
import FormStreamTestSupport
import Testing

@Suite struct KeyExchangeTests {
  /// Regression: with an RSA certificate, a client could choose a key exchange without forward secrecy, and a cipher of the CBC
  /// kind.
  @Test(arguments: [
    ("AES256-GCM-SHA384", false), ("ECDHE-RSA-AES256-GCM-SHA384", true),
    ("ECDHE-RSA-CHACHA20-POLY1305", true), ("ECDHE-RSA-AES128-GCM-SHA256", true),
    ("ECDHE-RSA-AES256-SHA384", false), ("ECDHE-RSA-AES128-SHA256", false),
    ("ECDHE-RSA-AES256-SHA", false), ("ECDHE-RSA-AES128-SHA", false),
  ])
  func `only key exchanges with forward secrecy are offered, and only ciphers that authenticate`(
    _ cipher: String, _ isOffered: Bool
  ) async throws {
    let server = try Self.server()
    let result = try await Self.connect(to: server, cipher)
    #expect((result.exit == 0) == isOffered, "\(result.output) \(result.stderr)")
  }

  /// Regression: the client's order counted, even if it began with the weakest.
  @Test func `the server chooses the cipher`() async throws {
    let server = try Self.server()
    let result = try await Self.connect(
      to: server, "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384")
    #expect(
      result.output.contains("Cipher is ECDHE-RSA-AES256-GCM-SHA384"),
      "\(result.output) \(result.stderr)")
  }

  @Test func `only under TLS, a response asks for TLS from then on, and no page may be framed`()
    async throws
  {
    let server = try Self.server()
    let plain = try TestServer()
    let heads = try await onNewThread {
      try [server.receiver.url, plain.receiver.url].flatMap { url in
        // A page, a record, and a refusal.
        try [[], ["-d", "a=b"], ["-X", "DELETE"]].map { arguments in
          try run(program: "/usr/bin/curl", ["-sSik"] + arguments + [url]).output.lowercased()
        }
      }
    }
    #expect(
      heads.map { $0.contains("\r\nstrict-transport-security: max-age=31536000\r\n") }
        == [true, true, true, false, false, false], "\(heads)")
    #expect(
      heads.map { $0.contains("\r\nx-frame-options: deny\r\n") }
        == [true, false, false, true, false, false], "\(heads)")
  }

  private static func connect(to server: TestServer, _ ciphers: String) async throws -> Invocation {
    let address = "127.0.0.1:\(server.receiver.port)"
    return try await onNewThread {
      try run(
        program: "/usr/bin/openssl",
        ["s_client", "-connect", address, "-tls1_2", "-cipher", ciphers], standardInput: [])
    }
  }

  /// A server with an RSA certificate.
  private static func server() throws -> TestServer {
    let place = try TemporaryDirectory()
    let made = try run(
      program: "/usr/bin/openssl",
      "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1 -keyout key -out cert"
        .split(separator: " ").map(String.init), in: place)
    #expect(made.exit == 0, "\(made.stderr)")
    let identity = Receiver.TLSIdentity(
      certificate: try String(contentsOfFile: place.path("cert"), encoding: .utf8),
      key: try String(contentsOfFile: place.path("key"), encoding: .utf8))
    return try TestServer { $0.tls = identity }
  }
}
