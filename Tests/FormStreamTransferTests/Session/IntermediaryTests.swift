import FormStream
import FormStreamTestSupport
import Testing

/// The intermediaries that tests put before a server: a TLS proxy, and a slow line.
@Suite struct IntermediaryTests {
  @Test func `the proxy speaks TLS, and its certificates are as intended`() throws {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good(body: "safe") }
    let proxy = try TLSProxy(to: server.port, made.server)
    let said = try curl("--cacert", made.authority, "-d", "hello", proxy.url)
    #expect(said.output == "safe", "\(said.stderr)")
    #expect(try curl("--cacert", made.authority, proxy.url(host: "127.0.0.1")).output == "safe")
    // 60: the certificate can't be verified.
    #expect(try curl("--cacert", made.otherAuthority, proxy.url).exit == 60)
    for wrong in [made.expired, made.wrongHost] {
      let proxy = try TLSProxy(to: server.port, wrong)
      #expect(try curl("--cacert", made.authority, proxy.url).exit == 60)
    }
    // The server never sees a failed handshake; curl notices the wrong host after the handshake.
    #expect(server.requests.count == 2)
    #expect(server.connections.count <= 3)
    #expect(server.faults == [])
  }

  @Test func `a long body passes through the proxy in both directions, whichever side is slower`()
    throws
  {
    let made = try TestCertificates()
    let (directory, body) = (try TemporaryDirectory(), noise(3_000_000))
    try directory.write("body", body)
    let server = try ScriptedServer { _ in
      [.readBody(upTo: 500_000, rate: 5_000_000)]
        + .good(body: String(decoding: body, as: UTF8.self))
    }
    let proxy = try TLSProxy(to: server.port, made.server)
    let said = try curl(
      "--cacert", made.authority, "--data-binary", "@\(directory.path("body"))", proxy.url)
    #expect(said.stdout == body)
    #expect(server.requests.first?.body == body)
    #expect(server.faults == [])
  }

  @Test func `the proxy can demand a certificate, and speak only old versions`() throws {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good(body: "known") }
    var options = TLSProxy.Options()
    options.clientAuthority = made.authority
    let strict = try TLSProxy(to: server.port, made.server, options)
    #expect(try curl("--cacert", made.authority, strict.url).exit == 56, "an alert of TLS 1.3")
    let known = try curl(
      "--cacert", made.authority, "--cert", made.client.certificate, "--key", made.client.key,
      strict.url)
    #expect(known.output == "known", "\(known.stderr)")
    options = TLSProxy.Options()
    options.newestVersion = "1.1"
    let old = try TLSProxy(to: server.port, made.server, options)
    #expect(try curl("--cacert", made.authority, old.url).exit == 35)
  }

  @Test(arguments: [false, true])
  func `closed and reset connections are closed and reset through the proxy`(omitsCloseNotify: Bool)
    throws
  {
    let made = try TestCertificates()
    let server = try ScriptedServer(requests: [
      .good(body: "to the end", framing: .close), [.readBody, .reset],
      [.readBody(upTo: 1), .respond(413), .stall],
    ])
    var options = TLSProxy.Options()
    options.omitsCloseNotify = omitsCloseNotify
    let proxy = try TLSProxy(to: server.port, made.server, options)
    // Debian's curl ignores how TLS ends; Python reports it.
    let ending = try run(
      program: "/usr/bin/env",
      ["python3", "-c", Self.endOfTLS, "\(proxy.port)", made.authority])
    #expect(
      ending.output == (omitsCloseNotify ? "to the end, bare\n" : "to the end, close_notify\n"),
      "\(ending.stderr)")
    let reset = try curl("--cacert", made.authority, "-d", "a", proxy.url)
    #expect(reset.exit == 56)
    #expect(reset.stderr.contains("reset"), "\(reset.stderr)")
    let early = try curl(
      "--cacert", made.authority, "-w", "%{http_code}", "-d", "abc", proxy.url)
    #expect(early.output == "413")
    #expect(server.waitForEnds(3))
    #expect(server.connections.map(\.end).dropFirst() == [.resetByServer, .closedByClient])
    #expect(server.faults == [])
  }

  private static let endOfTLS = """
    import socket, ssl, sys
    context = ssl.create_default_context(cafile=sys.argv[2])
    plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    tls = context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False)
    tls.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    received, end = b"", "close_notify"
    try:
      while more := tls.read(): received += more
    except ssl.SSLEOFError:
      end = "bare"
    print(received.partition(b"\\r\\n\\r\\n")[2].decode() + ", " + end)
    """

  @Test func `the slow proxy accepts no more than it passes on`() throws {
    let server = try ScriptedServer { _ in .good(body: "at last") }
    let proxy = try SlowProxy(to: server.port, bytesPerSecond: 1_000_000)
    let directory = try TemporaryDirectory()
    let body = noise(200_000)
    try directory.write("body", body)
    let said = try curl("--data-binary", "@\(directory.path("body"))", proxy.url)
    #expect(said.output == "at last")
    let head = server.requests.first?.head.count ?? 0
    #expect(proxy.receivedCount == head + body.count)
    #expect(server.requests.first?.body == body)
    proxy.stop()
    #expect(server.waitForEnds())
    #expect(server.faults == [])
  }

  @Test func `the slow proxy closes its connections when it is stopped`() throws {
    let server = try ScriptedServer { _ in [.stall] }
    let proxy = try SlowProxy(to: server.port, bytesPerSecond: 1000)
    let client = try RawClient(.ip("127.0.0.1", port: proxy.port))
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n")
    #expect(server.waitForRequests(1))
    try client.send(noise(4000))
    proxy.stop()
    #expect((try? client.receive()) ?? "" == "")
    #expect(server.waitForEnds())
  }

  @Test func `a body can be read slowly, from a small buffer`() throws {
    let stopped = try Gate()
    let server = try ScriptedServer { _ in
      [.readBody(upTo: 1000, rate: 100_000), .waitFor(stopped)] + .good()
    }
    let client = try RawClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n")
    try client.send(noise(2000))
    #expect(server.wait { $0.first?.bodyCount == 1000 })
    stopped.open()
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    #expect(server.requests.first?.body == noise(2000))
  }
}
