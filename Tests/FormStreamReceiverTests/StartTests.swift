import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Configurations that a receiver refuses, and the addresses that it can listen on.
@Suite struct StartTests {
  private static func failure(
    _ setUp: (inout Receiver.Configuration) throws -> Void
  ) throws -> ReceiverError? {
    var configuration = Receiver.Configuration()
    try setUp(&configuration)
    do throws(ReceiverError) {
      _ = try Receiver.start(configuration, handler: DiscardHandler())
      return nil
    } catch {
      return error
    }
  }

  @Test func `a port in use is reported`() async throws {
    let first = try TestServer()
    let error = try #require(try Self.failure { $0.port = first.receiver.port })
    #expect(error.code == .addressUnusable)
    #expect(error.subject == "127.0.0.1:\(first.receiver.port)")
    #expect(
      error.description
        == "Can't listen on 127.0.0.1:\(first.receiver.port): Address already in use. "
        + "Choose another address or port; port 0 means any free port.")
    let port = first.receiver.port
    await first.receiver.stop()
    // Connections to the first receiver do not keep the port in use.
    let second = try TestServer { $0.port = port }
    #expect(second.receiver.port == port)
  }

  @Test func `an empty token is refused`() throws {
    let error = try #require(try Self.failure { $0.token = "" })
    #expect(error.code == .tokenUnusable)
    #expect(error.description == "The token is empty: set a token, or nil to accept every client.")
  }

  @Test(arguments: [
    "", "example.org", "127.0.0.1:80", "[::1]", "::1%lo", "127.1", "256.0.0.1", "1.2.3", " ::1",
    "0x7f000001",
    "127.0.0.1\u{0}",
  ])
  func `an address that is not numeric is refused`(_ address: String) throws {
    let error = try #require(try Self.failure { $0.address = address })
    #expect(error.code == .addressUnusable)
    #expect(error.description.contains("use a numeric IPv4 or IPv6 address, or localhost."))
    #expect(error.subject == address)
    #expect(error.underlying == nil)
  }

  @Test(arguments: ["192.0.2.1", "2001:db8::1"])
  func `an address of another machine is reported`(_ address: String) throws {
    let error = try #require(try Self.failure { $0.address = address })
    #expect(error.code == .addressUnusable)
    #expect(error.description.contains("Cannot assign requested address"))
    #expect(error.underlying != nil)
  }

  @Test(.enabled(if: !isSuperuser, "root may listen on any port"))
  func `a privileged port is reported`() throws {
    let error = try #require(try Self.failure { $0.port = 1 })
    #expect(error.description.contains("Permission denied"))
  }

  @Test func `unusable certificates and keys are reported`() throws {
    let good = try Receiver.TLSIdentity.forTests()
    let other = try unrelatedIdentity()
    let pairs: [(String, String)] = [
      ("", ""), ("rubbish", "rubbish"), (good.certificate, ""), ("", good.key),
      (good.certificate, "rubbish"), ("rubbish", good.key), (good.certificate, other.key),
      (good.key, good.certificate),
      (String(good.certificate.prefix(200)), good.key),
      (good.certificate, String(good.key.prefix(60))),
    ]
    for (certificate, key) in pairs {
      let error = try #require(
        try Self.failure { $0.tls = .init(certificate: certificate, key: key) })
      #expect(error.code == .certificateUnusable)
      #expect(error.description.hasPrefix("TLS can't be used: "))
      #expect(
        error.description.hasSuffix(
          "Use a certificate and the key that belongs to it, both as PEM, the key without a password."
        ))
      #expect(!error.description.contains("\n"))
      #expect(!error.description.contains(" ."))
    }
  }

  /// libmicrohttpd closes the socket if it fails late; closing it a second time may close another file.
  @Test func `a receiver that can't start leaves no descriptor, and closes no other`() async throws {
    let stop = Guarded(false)
    let opening = Task {
      await onNewThread {
        var lost = 0
        while !stop.withLock(\.self) {
          guard let file = try? OpenFile("/dev/null") else { continue }
          for _ in 0..<50 where !file.isOpen {
            lost += 1
            break
          }
        }
        return lost
      }
    }
    for _ in 0..<300 {
      #expect(
        try Self.failure { $0.tls = .init(certificate: "rubbish", key: "rubbish") } != nil)
    }
    stop.withLock { $0 = true }
    #expect(await opening.value == 0)
    #expect(await eventually { ProcessResources.now().descriptors.count < 250 })
  }

  @Test(
    arguments: [
      ("::1", "[::1]"), ("::", "127.0.0.1"), ("::", "[::1]"), ("0.0.0.0", "127.0.0.1"),
      ("localhost", "127.0.0.1"), ("127.0.0.2", "127.0.0.2"), ("0:0:0:0:0:0:0:1", "[::1]"),
    ].filter { hasIPv6 || !$0.0.contains(":") })
  func `IPv4 and IPv6 addresses can be listened on`(_ address: String, _ host: String) async throws {
    let server = try TestServer { $0.address = address }
    let port = server.receiver.port
    #expect(port != 0)
    // `::` and `0.0.0.0` are not addresses to connect to.
    let shown =
      ["::", "0.0.0.0"].contains(address)
      ? "localhost" : address.contains(":") ? "[\(address)]" : address
    #expect(server.receiver.url == "http://\(shown):\(port)/")
    let result = try await onNewThread {
      try curl("-d", "a", "-w", "%{http_code}", "-o", "/dev/null", "http://\(host):\(port)/")
    }
    #expect(result.output == "200")
    #expect(try await server.reportedRequests(1).first?.peer.isEmpty == false)
  }

  @Test func `two receivers run at the same time`() async throws {
    let servers = try [TestServer(), TestServer()]
    for server in servers {
      let response = try await server.response(
        to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
      #expect(response.status == 200)
    }
    #expect(servers.map(\.reportedRequests.count) == [1, 1])
  }

  @Test func `each connection has a thread, so no client waits for another's handler`() async throws {
    let count = 20
    let gate = try Gate()
    let waiting = Guarded(0)
    let server = try TestServer(
      InMemoryHandler { call, _ in
        guard call == .end else { return }
        if waiting.withLock({
          $0 += 1
          return $0 == count
        }) {
          gate.open()
        }
        if !gate.wait() { throw TestError(1) }
      })
    let responses = try await withThrowingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          try await server.response(
            to:
              "POST /\(number) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
          )
        }
      }
      return try await group.reduce(into: []) { $0.append($1.status) }
    }
    #expect(responses == [Int](repeating: 200, count: count))
  }

  @Test func `connections above the limit wait until they are accepted`() async throws {
    let server = try TestServer { $0.limits.connections = 2 }
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"
    let first = try server.client()
    let second = try server.client()
    try first.send(head)
    try second.send(head)
    #expect(await eventually { server.handler.openUploads == 2 })
    let others = try (0..<10).map { _ in try server.client() }
    for other in others {
      try other.send(head.replacing("Host", with: "Connection: close\r\nHost") + "x")
    }
    first.close()
    second.close()
    let statuses = try await onNewThread { [others = SendableBox(others)] in
      try others.value.map { try $0.responsesToEnd().map(\.status) }
    }
    #expect(statuses == [[Int]](repeating: [200], count: 10))
  }

  @Test(arguments: ["-tls1", "-tls1_1"])
  func `broken versions of TLS are refused`(_ version: String) async throws {
    let server = try TestServer { $0.tls = try? .forTests() }
    let result = try await onNewThread {
      try run(
        program: "/usr/bin/env",
        [
          "openssl", "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-connect",
          "127.0.0.1:\(server.receiver.port)",
        ])
    }
    #expect(result.exit != 0)
    #expect(result.output.contains("Cipher is (NONE)"))
  }
}
