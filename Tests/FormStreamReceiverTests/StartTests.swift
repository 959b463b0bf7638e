import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What a receiver can't be started with, and where it can listen.
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

  @Test func `a port that is taken`() async throws {
    let first = try Stand()
    let error = try #require(try Self.failure { $0.port = first.receiver.port })
    #expect(error.code == .addressUnusable)
    #expect(error.subject == "127.0.0.1:\(first.receiver.port)")
    #expect(
      error.description
        == "127.0.0.1:\(first.receiver.port) can't be listened at: Address already in use. "
        + "Choose another address or port; port 0 is any that is free.")
    let port = first.receiver.port
    await first.receiver.stop()
    // What connected before is no hindrance.
    let second = try Stand { $0.port = port }
    #expect(second.receiver.port == port)
  }

  @Test func `a token that everybody has`() throws {
    let error = try #require(try Self.failure { $0.token = "" })
    #expect(error.code == .tokenUnusable)
    #expect(error.description == "The token is empty: set one, or none to let everybody in.")
  }

  @Test(arguments: [
    "", "example.org", "127.0.0.1:80", "[::1]", "::1%lo", "127.1", "256.0.0.1", "1.2.3", " ::1",
    "0x7f000001",
    "127.0.0.1\u{0}",
  ])
  func `what is no numeric address`(_ address: String) throws {
    let error = try #require(try Self.failure { $0.address = address })
    #expect(error.code == .addressUnusable)
    #expect(error.description.contains("give a numeric one of IPv4 or IPv6, or localhost."))
    #expect(error.subject == address)
    #expect(error.underlying == nil)
  }

  @Test(arguments: ["192.0.2.1", "2001:db8::1"])
  func `an address of somebody else`(_ address: String) throws {
    let error = try #require(try Self.failure { $0.address = address })
    #expect(error.code == .addressUnusable)
    #expect(error.description.contains("Cannot assign requested address"))
    #expect(error.underlying != nil)
  }

  @Test(.enabled(if: !isSuperuser, "root may listen anywhere"))
  func `a port for root only`() throws {
    let error = try #require(try Self.failure { $0.port = 1 })
    #expect(error.description.contains("Permission denied"))
  }

  @Test func `certificates and keys that are none`() throws {
    let good = try Receiver.TLSIdentity.testing()
    let other = try otherIdentity()
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
      #expect(error.description.hasPrefix("TLS can't be served: "))
      #expect(
        error.description.hasSuffix(
          "Give both as PEM, the key without a password, one that belongs to the certificate."))
      #expect(!error.description.contains("\n"))
      #expect(!error.description.contains(" ."))
    }
  }

  /// libmicrohttpd closes the socket where it fails late; who closes it once more may close another's.
  @Test func `what does not start leaves no descriptor, and closes nobody else's`() async throws {
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

  @Test(arguments: [
    ("::1", "[::1]"), ("::", "127.0.0.1"), ("::", "[::1]"), ("0.0.0.0", "127.0.0.1"),
    ("localhost", "127.0.0.1"), ("127.0.0.2", "127.0.0.2"), ("0:0:0:0:0:0:0:1", "[::1]"),
  ])
  func `addresses of both kinds`(_ address: String, _ host: String) async throws {
    let stand = try Stand { $0.address = address }
    let port = stand.receiver.port
    #expect(port != 0)
    // What is all addresses is none to call.
    let shown =
      ["::", "0.0.0.0"].contains(address)
      ? "localhost" : address.contains(":") ? "[\(address)]" : address
    #expect(stand.receiver.url == "http://\(shown):\(port)/")
    let said = try await onNewThread {
      try curl("-d", "a", "-w", "%{http_code}", "-o", "/dev/null", "http://\(host):\(port)/")
    }
    #expect(said.output == "200")
    #expect(try await stand.told(1).first?.peer.isEmpty == false)
  }

  @Test func `two receivers at once`() async throws {
    let stands = try [Stand(), Stand()]
    for stand in stands {
      let answer = try await stand.answer(
        to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
      #expect(answer.status == 200)
    }
    #expect(stands.map(\.told.count) == [1, 1])
  }

  @Test func `each connection has a thread, and nobody waits for another's handler`() async throws {
    let count = 20
    let gate = try Gate()
    let waiting = Guarded(0)
    let stand = try Stand(
      KeepingHandler { place, _ in
        guard place == .end else { return }
        if waiting.withLock({
          $0 += 1
          return $0 == count
        }) {
          gate.open()
        }
        if !gate.wait() { throw TestError(1) }
      })
    let answers = try await withThrowingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          try await stand.answer(
            to:
              "POST /\(number) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
          )
        }
      }
      return try await group.reduce(into: []) { $0.append($1.status) }
    }
    #expect(answers == [Int](repeating: 200, count: count))
  }

  @Test func `more connections than there may be wait, and get their turn`() async throws {
    let stand = try Stand { $0.limits.connections = 2 }
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"
    let first = try stand.client()
    let second = try stand.client()
    try first.send(head)
    try second.send(head)
    #expect(await eventually { stand.handler.alive == 2 })
    let others = try (0..<10).map { _ in try stand.client() }
    for other in others {
      try other.send(head.replacing("Host", with: "Connection: close\r\nHost") + "x")
    }
    first.close()
    second.close()
    let statuses = try await onNewThread { [others = Unsent(others)] in
      try others.value.map { try $0.answersUpToEnd().map(\.status) }
    }
    #expect(statuses == [[Int]](repeating: [200], count: 10))
  }

  @Test(arguments: ["-tls1", "-tls1_1"])
  func `versions of TLS that are broken are not spoken`(_ version: String) async throws {
    let stand = try Stand { $0.tls = try? .testing() }
    let said = try await onNewThread {
      try run(
        program: "/usr/bin/env",
        [
          "openssl", "s_client", version, "-cipher", "ALL:@SECLEVEL=0", "-connect",
          "127.0.0.1:\(stand.receiver.port)",
        ])
    }
    #expect(said.exit != 0)
    #expect(said.output.contains("Cipher is (NONE)"))
  }
}
