import Foundation
import FormStreamReceiver
import FormStreamTestSupport
import Testing

@Suite struct KeyExchangeTests {
  /// Regression: with an RSA certificate, a client could choose a key exchange without forward secrecy.
  @Test(arguments: [("AES256-GCM-SHA384", false), ("ECDHE-RSA-AES256-GCM-SHA384", true)])
  func `only key exchanges with forward secrecy are offered`(_ cipher: String, _ isOffered: Bool)
    async throws
  {
    let place = try TemporaryDirectory()
    let made = try run(
      program: "/usr/bin/openssl",
      "req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1 -keyout key -out cert"
        .split(separator: " ").map(String.init), in: place)
    #expect(made.exit == 0, "\(made.stderr)")
    let identity = Receiver.TLSIdentity(
      certificate: try String(contentsOfFile: place.path("cert"), encoding: .utf8),
      key: try String(contentsOfFile: place.path("key"), encoding: .utf8))
    let server = try TestServer { $0.tls = identity }
    let address = "127.0.0.1:\(server.receiver.port)"
    let result = try await onNewThread {
      try run(
        program: "/usr/bin/openssl",
        ["s_client", "-connect", address, "-tls1_2", "-cipher", cipher], standardInput: [])
    }
    #expect((result.exit == 0) == isOffered, "\(result.output) \(result.stderr)")
  }
}
