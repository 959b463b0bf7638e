import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Hosts that are connected to in place of others.
@Suite struct HostReplacementTests {
  @Test(arguments: ["a:1:b:2", ":::", "a::b:", "::[::1]:80", "[::1]:443:127.0.0.1:8443"])
  func `two hosts and two ports are accepted, and each may be empty`(_ text: String) {
    #expect(HostReplacement(text) != nil)
  }

  @Test(arguments: [
    "", "a", "a:1", "a:1:b", "a:1:b:2:c", "a:b:c:d", "a:0:b:1", "a:1:b:65536", "[::1:80:b:1",
    "a:1:b c:2", "a:1:b:2\n",
  ])
  func `everything else is not`(_ text: String) {
    #expect(HostReplacement(text) == nil)
  }

  @Test func `the request goes to the other host, and names its own`() async throws {
    let server = try ScriptedServer { _ in .good(201) }
    var configuration = TransferSession.Configuration()
    configuration.replacedHosts = [
      try #require(HostReplacement("h.invalid:80:127.0.0.1:\(server.port)"))
    ]
    let session = try TransferSession(configuration)
    let request = try TransferRequest(.post, "http://h.invalid/x", body: .bytes(Array("a".utf8)))
    let result = await session.start(request).result
    #expect(result.status == 201)
    #expect(server.requests.map { $0.header("Host") } == ["h.invalid"])
    #expect(result.url.absoluteString == "http://h.invalid/x")
  }

  /// Regression: the message said that the URL's host was not found.
  @Test func `the other host is the one that is not found`() async throws {
    var configuration = TransferSession.Configuration()
    configuration.replacedHosts = ["other.invalid:80:localhost:", "H.invalid::nohost.invalid:"]
      .compactMap(HostReplacement.init)
    let result = try await TransferSession(configuration).result(
      of: makeRequest("http://h.invalid/"))
    #expect(result.outcome != .ok)
    #expect(
      result.error?.description.contains("host \"nohost.invalid\"") == true,
      "\(String(describing: result.error))")
  }
}
