import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Where connections begin and end on this machine, and how they are kept alive.
@Suite struct AddressTests {
  private func send(
    _ url: String, _ set: (inout TransferSession.Configuration) -> Void
  ) async throws -> TransferResult {
    var configuration = TransferSession.Configuration()
    set(&configuration)
    return try await TransferSession(configuration).result(of: makeRequest(url, attempts: 2))
  }

  @Test(arguments: ["127.0.0.2", "host!127.0.0.2"])
  func `connections begin at an address`(_ name: String) async throws {
    let peers = ReceivedText()
    let server = try ScriptedServer { _ in
      // 127.0.0.2 as the kernel writes it.
      [.call { if hasConnection(from: "0200007F") { peers.append("second") } }] + .good()
    }
    let result = try await send(server.url) { $0.localInterface = name }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(peers.text == "second")
  }

  @Test func `connections begin at an interface`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try await send(server.url) { $0.localInterface = "if!lo" }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  @Test(arguments: ["localhost", "host!localhost"])
  func `connections begin at an address that has to be looked up`(_ name: String) async throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try await send(server.url) { $0.localInterface = name }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  @Test(arguments: ["if!nosuch0", "192.0.2.1", "host!nobody.invalid"])
  func `an interface or address that this machine doesn't have is an error`(_ name: String)
    async throws
  {
    let server = try ScriptedServer { _ in [.unexpected] }
    let result = try await send(server.url) { $0.localInterface = name }
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .interfaceUnusable, "\(String(describing: result.error))")
    #expect(result.attempts == 1)
    #expect(server.requests.isEmpty)
  }

  @Test func `only addresses of one family are used`() async throws {
    let server = try ScriptedServer { _ in .good() }
    let url = "http://both.invalid:\(server.port)/"
    let addresses = [HostAddress("both.invalid:\(server.port):[::1],127.0.0.1")].compactMap(\.self)
    let four = try await send(url) { ($0.addressFamily, $0.addresses) = (.ipv4, addresses) }
    #expect(four.outcome == .ok, "\(String(describing: four.error))")
    // The server listens only at the address of IPv4.
    let six = try await send(url) { ($0.addressFamily, $0.addresses) = (.ipv6, addresses) }
    #expect(six.outcome == .retryable)
    #expect(six.error?.code == .connectFailed, "\(String(describing: six.error))")
    #expect(six.error?.description.contains("Only addresses of IPv6 were tried") == true)
  }

  /// Regression: nothing was said to listen there, and that another attempt may help.
  @Test func `an address that settings exclude is not said to be one where nothing listens`()
    async throws
  {
    let server = try ScriptedServer { _ in .good() }
    let replaced = HostReplacement("h.invalid:80:127.0.0.1:\(server.port)")
    for (url, set, code, says) in [
      (server.url, { $0.addressFamily = .ipv6 }, .invalidSetting, "(AddressFamily.ipv6)"),
      ("http://[::1]:1/", { $0.addressFamily = .ipv4 }, .invalidSetting, "[::1] is an address of"),
      (
        "http://h.invalid/",
        { ($0.addressFamily, $0.replacedHosts) = (.ipv6, [replaced].compactMap(\.self)) },
        .invalidSetting, "127.0.0.1 is an address of IPv4"
      ), (server.url, { $0.localInterface = "::1" }, .interfaceUnusable, "is one of IPv4"),
      (server.url, { $0.localInterface = "host!::1" }, .interfaceUnusable, "is one of IPv4"),
      ("http://[::1]:1/", { $0.localInterface = "127.0.0.1" }, .interfaceUnusable, "IPv6"),
    ]
      as [(
        String, (inout TransferSession.Configuration) -> Void, TransferError.Code, String
      )]
    {
      let result = try await send(url, set)
      #expect(result.outcome == .failed && result.attempts == 1)
      #expect(result.error?.code == code, "\(String(describing: result.error))")
      #expect(
        result.error?.description.contains(says) == true, "\(String(describing: result.error))")
    }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    "h:80", "h:80:", "h:80:no.example", "h:80:127.0.0.1,", "h:0:127.0.0.1", ":80:127.0.0.1", "h:+1:::1", "h:80:\u{7F}",
    "[::1]:80:127.0.0.1",
  ])
  func `an entry that has no address is no address of a host`(_ text: String) {
    #expect(HostAddress(text) == nil)
  }

  @Test func `settings out of range are refused`() {
    for set in [
      { $0.keepAliveTime = .zero }, { $0.keepAliveTime = .seconds(40_000) },
      { $0.localInterface = "" }, { $0.localInterface = "a\0b" },
      // libcurl would ignore them.
      { $0.localInterface = String(repeating: "a", count: 255) },
      { $0.localInterface = "host!" + String(repeating: "a", count: 250) },
    ] as [(inout TransferSession.Configuration) -> Void] {
      var configuration = TransferSession.Configuration()
      set(&configuration)
      #expect(throws: TransferError.self) { try TransferSession(configuration) }
    }
  }
}

/// Whether this machine has a connection from an address, written as in `/proc/net/tcp`.
private func hasConnection(from address: String) -> Bool {
  let result = try? run(program: "/bin/cat", ["/proc/net/tcp"])
  return result?.output.split(separator: "\n").contains {
    // 01 is ESTABLISHED.
    let words = $0.split(separator: " ")
    return words.count > 3 && words[1].hasPrefix("\(address):") && words[3] == "01"
  } == true
}
