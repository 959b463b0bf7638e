import FormStreamTestSupport
import Testing

/// Retries, time limits, speed and redirects.
@Suite struct PostDeliveryTests {
  @Test func `a request is repeated as often as --retry says, if that is safe`() throws {
    let busy: [ScriptedStep] = [
      .readBody, .respond(503, headers: [("Retry-After", "0")], body: "busy"),
    ]
    let server = try ScriptedServer(requests: [busy, busy, .good(body: "in"), busy, busy])
    let result = try formstream("post", "--retry", "2", "-d", "a", server.url)
    #expect((result.exit, result.output) == (0, "in"), "\(result.stderr)")
    let record = try formstream("post", "--json", "--retry", "1", "-d", "a", server.url)
    #expect(record.exit == 75, "\(record.stderr)")
    #expect(record.output.contains(#""outcome":"retryable","attempts":2"#), "\(record.output)")
    #expect(server.requests.count == 5)
    #expect(server.faults.isEmpty)
  }

  @Test func `no attempt starts after --retry-max-time`() throws {
    let server = try ScriptedServer(requests: [
      [.readBody, .respond(503, headers: [("Retry-After", "60")])]
    ])
    let result = try formstream(
      "post", "--retry", "5", "--retry-max-time", "1.5", "-d", "a", server.url)
    #expect(result.exit == 75)
    #expect(server.requests.count == 1)
  }

  private static let canIsolateNetwork =
    (try? run(program: "/usr/bin/unshare", ["-rmn", "mount", "--bind", "/etc", "/etc"]))?.exit == 0

  /// In a network of its own, without a way to the name server, which alone is asked: some machines have a program that
  /// answers through a socket in the file system.
  @Test(.enabled(if: canIsolateNetwork))
  func `a host whose name servers don't respond may be found later`() throws {
    let place = try TemporaryDirectory()
    try place.write("nsswitch.conf", "hosts: dns\n")
    try place.write("resolv.conf", "nameserver 192.0.2.1\n")
    let result = try shell(
      """
      exec unshare -rmn bash -c 'for name in nsswitch.conf resolv.conf; do
        [ ! -e "/etc/$name" ] || mount --bind "$name" "/etc/$name" || exit; done
        [ ! -d /run/nscd ] || mount -t tmpfs none /run/nscd || exit
        exec "$F" post --json --retry 1 -d a http://host.example/'
      """, in: place)
    #expect(result.exit == 75, "\(result.stderr)")
    #expect(result.output.contains(#""outcome":"retryable","attempts":2"#), "\(result.output)")
    #expect(result.output.contains(#""code":"host-lookup-failed""#), "\(result.output)")
  }

  /// `auto` draws a key, and a person who tries again needs the same one.
  @Test func `if the outcome is unknown, message and record name the key`() throws {
    let server = try ScriptedServer(requests: [[.readBody, .reset], .good(409)])
    let result = try formstream(
      "post", "--json", "--retry", "1", "--idempotency-key", "auto", "-d", "a", server.url)
    #expect(result.exit == 3, "\(result.stderr)")
    let sent = try #require(server.requests.first?.header("Idempotency-Key"))
    #expect(result.output.contains("\"idempotency_key\":\(sent),"), "\(result.output)")
    #expect(result.output.contains(#""outcome":"unknown""#), "\(result.output)")
    #expect(result.stderr.contains("(--idempotency-key \(sent))"), "\(result.stderr)")
    #expect(server.requests.map { $0.header("Idempotency-Key") } == [sent, sent])
  }

  /// If the connection breaks after the body, the server may have acted on the request.
  @Test(arguments: [[], ["--retry-unsafe"], ["--idempotency-key", "auto"]])
  func `a request that the server may have acted on is repeated only on request`(
    _ flags: [String]
  ) throws {
    let server = try ScriptedServer(requests: [[.readBody, .reset], .good()])
    let result = try run(
      "formstream", ["post", "--json", "--retry", "1", "-d", "a"] + flags + [server.url])
    #expect(result.exit == (flags.isEmpty ? 3 : 0), "\(result.stderr)")
    #expect(result.output.contains(flags.isEmpty ? #""outcome":"unknown""# : #""outcome":"ok""#))
    #expect(server.requests.count == (flags.isEmpty ? 1 : 2))
    let keys = server.requests.map { $0.header("Idempotency-Key") }
    if flags.first == "--idempotency-key" {
      #expect(keys.first == keys.last && keys.first??.count == 38)
    } else {
      #expect(keys.allSatisfy { $0 == nil })
    }
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: [
    ("--response-timeout", [ScriptedStep.readBody, .stall], 3, "no response arrived within 0.2 s"),
    // Its name before the first release.
    ("--answer-timeout", [ScriptedStep.readBody, .stall], 3, "no response arrived within 0.2 s"),
    ("--max-time", [.readBody, .stall], 3, "took longer than 0.2 s"),
    ("--stall-timeout", [.readBody(upTo: 1), .stall], 75, "made no progress for 0.2 s"),
  ])
  func `each time limit ends the request`(
    _ flag: String, _ steps: [ScriptedStep], _ exit: Int32, _ says: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("big", noise(16_000_000))
    let server = try ScriptedServer(requests: [steps])
    let result = try formstream(
      "post", flag, "0.2", "--expect", "never", "-T",
      flag == "--stall-timeout" ? "big" : "/etc/hostname", "\(server.url)/x", in: place)
    #expect(result.exit == exit, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  @Test func `a connection that takes too long is retryable`() throws {
    // Without a TLS handshake, the connection is not made.
    var options = ScriptedServer.Options()
    options.onConnect = { _ in [.stall] }
    let server = try ScriptedServer(options, requests: [])
    let result = try formstream(
      "post", "--connect-timeout", "0.2", "-d", "a", "https://127.0.0.1:\(server.port)/")
    #expect(result.exit == 75, "\(result.stderr)")
  }

  @Test func `--expect decides whether the server is asked first`() throws {
    let server = try ScriptedServer(requests: [.good(), .good(), .good(), .good()])
    for flags in [["always"], ["auto"], ["never"], ["always", "--expect100-timeout", "60"]] {
      let result = try run("formstream", ["post", "-d", "a", "--expect"] + flags + [server.url])
      #expect(result.exit == 0, "\(result.stderr)")
    }
    #expect(server.requests.map(\.expectsContinue) == [true, false, false, true])
    #expect(server.faults.isEmpty)
  }

  @Test func `a rate limit does not delay small bodies`() throws {
    let server = try ScriptedServer(requests: [.good()])
    #expect(try formstream("post", "--limit-rate", "1M", "-d", "a", server.url).exit == 0)
    // A time of the day that never comes, and one that always holds.
    let periods = try shell(
      "for limit in '09:00-09:01 1' '00:00-24:00 2K'; do $F post --limit-rate 3K --limit-rate \"$limit\" --to-curl -d a http://h/; done"
    )
    #expect(
      periods.output.count { $0 == "\n" } == 2 && periods.output.contains("--limit-rate 2048"),
      "\(periods.output) \(periods.stderr)")
    #expect(server.faults.isEmpty)
  }

  @Test func `redirects to other servers are followed only with -L`() throws {
    let other = try ScriptedServer(requests: [.good(body: "there")])
    let here = try ScriptedServer { request in
      request.target == "/"
        ? [.readBody, .respond(307, headers: [("Location", "\(other.url)/x")])]
        : request.target == "/3"
          ? .good() : [.readBody, .respond(308, headers: [("Location", "/\(request.index + 2)")])]
    }
    let refused = try formstream("post", "-d", "a", "\(here.url)/")
    #expect(refused.exit == 1)
    #expect(refused.stderr.contains("another server"), "\(refused.stderr)")
    #expect(other.requests.isEmpty)
    let gone = try formstream(
      "post", "-L", "-H", "X-Canary: canary", "-u", "a:canary", "-d", "a", "\(here.url)/")
    #expect((gone.exit, gone.output) == (0, "there"), "\(gone.stderr)")
    #expect(other.requests.first?.body == Array("a".utf8))
    let head = try #require(other.requests.first).head
    #expect(!String(decoding: head, as: UTF8.self).contains("canary"))
    let many = try formstream("post", "--max-redirs", "1", "-d", "a", "\(here.url)/1")
    #expect(many.exit == 1)
    let enough = try formstream(
      "post", "--location", "--max-redirs", "2", "-d", "a", "\(here.url)/1")
    #expect(enough.exit == 0, "\(enough.stderr)")
    #expect(here.faults.isEmpty && other.faults.isEmpty)
  }

  @Test func `--expect-status sets the statuses that are a success`() throws {
    let server = try ScriptedServer(requests: [.good(200), .good(409)])
    #expect(try formstream("post", "--expect-status", "201,202", "-d", "", server.url).exit == 1)
    #expect(try formstream("post", "--expect-status", "409", "-d", "", server.url).exit == 0)
  }

  @Test(arguments: ["auto", "bar", "json", "none"])
  func `--progress has four values`(_ way: String) throws {
    let server = try ScriptedServer(requests: [.good(body: "in")])
    let result = try formstream("post", "--progress", way, "-d", "a", server.url)
    #expect((result.exit, result.output) == (0, "in"), "\(result.stderr)")
  }
}

/// The connection to the server.
@Suite struct PostConnectionTests {
  @Test func `a socket and an address can be given`() throws {
    let place = try TemporaryDirectory()
    let local = try ScriptedServer(on: .unix(place.local("s")), requests: [.good(body: "local")])
    let result = try formstream(
      "post", "--unix-socket", place.path("s"), "-d", "a", "http://anybody.example/x")
    #expect((result.exit, result.output) == (0, "local"), "\(result.stderr)")
    #expect(local.requests.first?.header("Host") == "anybody.example")
    let server = try ScriptedServer(requests: [.good(body: "named")])
    let named = try formstream(
      "post", "--resolve", "nobody.example:\(server.port):127.0.0.1", "-d", "a",
      "http://nobody.example:\(server.port)/")
    #expect((named.exit, named.output) == (0, "named"), "\(named.stderr)")
    let several = try formstream(
      "post", "--dry-run", "--resolve", "h:80:[::1],::1,127.0.0.1", "-d", "a", "http://h/")
    #expect(several.exit == 0, "\(several.stderr)")
    #expect(server.faults.isEmpty && local.faults.isEmpty)
  }

  @Test func `certificates prove the identities of server and client`() throws {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good(body: "safe") }
    var options = TLSProxy.Options()
    options.clientAuthority = made.authority
    let front = try TLSProxy(to: server.port, made.server, options)
    let known = try formstream(
      "post", "--cacert", made.authority, "-E", made.client.certificate, "--key", made.client.key,
      "-d", "a", front.url)
    #expect((known.exit, known.output) == (0, "safe"), "\(known.stderr)")
    let open = try TLSProxy(to: server.port, made.server)
    let unknown = try formstream("post", "--cacert", made.otherAuthority, "-d", "a", open.url)
    #expect(unknown.exit == 1, "\(unknown.stderr)")
    #expect(unknown.stderr.contains("--cacert"))
    let insecure = try formstream("post", "--insecure", "-d", "a", open.url)
    #expect((insecure.exit, insecure.output) == (0, "safe"), "\(insecure.stderr)")
    #expect(insecure.stderr.contains("--insecure"))
    let missing = try formstream(
      "post", "--cert", "missing.pem", "-d", "a", open.url)
    #expect(missing.exit == 66, "\(missing.stderr)")
    #expect(server.faults.isEmpty)
  }

  @Test func `the HTTP version can be given`() throws {
    let server = try ScriptedServer(requests: [.good(body: "one")])
    #expect(try formstream("post", "--http1.1", "-d", "a", server.url).output == "one")
    // HTTP/2 without TLS begins with a preface, which this server can't read.
    let two = try ScriptedServer { _ in .closing(400) }
    let refused = try formstream("post", "--http2-prior-knowledge", "-d", "a", two.url)
    #expect(refused.exit == 1)
    #expect(refused.stderr.contains("doesn't speak it"), "\(refused.stderr)")
    #expect(!two.faults.isEmpty)
    #expect(server.faults.isEmpty)
  }

  // It began with `PRI *`, which servers of HTTP/1.1 answer with 400, or not at all.
  @Test func `--http2 sends HTTP 1_1 to a server without TLS`() throws {
    let server = try ScriptedServer { _ in .good(body: "one") }
    let result = try formstream("post", "--http2", "-d", "a", server.url)
    #expect(result.output == "one", "\(result.stderr)")
    #expect(server.faults.isEmpty)
  }

  @Test func `--unix-socket with a file that is none is no reason to try again`() throws {
    let place = try TemporaryDirectory()
    try place.write("file", "text\n")
    for name in ["file", "."] {
      let result = try formstream(
        "post", "--unix-socket", name, "-d", "a", "http://h/", in: place)
      #expect(result.exit == 64, "\(result.stderr)")
      #expect(result.stderr.contains("is not a socket"), "\(result.stderr)")
    }
  }
}
