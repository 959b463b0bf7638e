import FormStreamTestSupport
import Testing

/// Encryption as flags set it.
@Suite struct PostTLSTests {
  /// A server that demands a client certificate of this authority.
  private static func serverForClients(
    of made: TestCertificates
  ) throws -> (ScriptedServer, TLSProxy) {
    let server = try ScriptedServer { _ in .good(body: "in") }
    var options = TLSProxy.Options()
    options.clientAuthority = made.authority
    return (server, try TLSProxy(to: server.port, made.server, options))
  }

  @Test func `the passphrase of a key is read from a file, and shown nowhere`() throws {
    let made = try TestCertificates()
    let (server, proxy) = try Self.serverForClients(of: made)
    let place = try TemporaryDirectory()
    try place.write("phrase", "canary\n")
    try place.write("wrong", "canary-2\n")
    let flags = [
      "post", "-d", "a", "--cacert", made.authority, "-E", made.client.certificate, "--key",
      made.encryptedClientKey,
    ]
    for phrase in [["--pass-file", "phrase"], ["--pass", "canary"]] {
      for more in [["-v"], ["--json"], ["--dry-run"], ["--to-curl"]] {
        let result = try run("formstream", flags + phrase + more + [proxy.url], in: place)
        let all = result.output + result.stderr
        #expect(!all.contains("canary"), "\(all)")
        #expect(result.exit == (phrase[0] == "--pass" && more[0] == "--to-curl" ? 64 : 0), "\(all)")
      }
    }
    let piped = try run(
      "formstream", flags + ["--pass-file", "-", proxy.url], standardInput: Array("canary".utf8))
    #expect((piped.exit, piped.output) == (0, "in"), "\(piped.stderr)")
    let wrong = try run("formstream", flags + ["--pass-file", "wrong", proxy.url], in: place)
    #expect(wrong.exit == 66)
    #expect(
      wrong.stderr.contains("--pass-file") && !wrong.stderr.contains("canary"), "\(wrong.stderr)")
    // OpenSSL asks a terminal for a passphrase that it isn't given.
    let asked = try shell(
      "script -qec '$F \(flags.joined(separator: " ")) \(proxy.url)' /dev/null < /dev/null")
    #expect(
      asked.output.contains("--pass-file") && !asked.output.contains("PEM pass phrase"), "\(asked)")
    #expect(server.faults == [])
  }

  /// Regression: the remedy was --http2, which was asked for already.
  @Test func `what helps against a server that demands HTTP 1_1 is --http1_1`() throws {
    let made = try TestCertificates()
    let older = try ScriptedServer { _ in [.unexpected] }
    let server = try ScriptedHTTP2Server { _ in [.readBody, .resetStream(.http11Required), .stall] }
    var options = TLSProxy.Options()
    options.protocols = ["h2", "http/1.1"]
    options.http2Port = server.port
    let proxy = try TLSProxy(to: older.port, made.server, options)
    let result = try formstream("post", "-d", "a", "--cacert", made.authority, proxy.url)
    #expect(result.exit == 3, "\(result.stderr)")
    #expect(result.stderr.contains("Send it with HTTP/1.1 (--http1.1)."), "\(result.stderr)")
    #expect(server.requests.count == 1)
  }

  /// Regression: all of it was taken for a file's name, and printed.
  @Test func `what follows the colon of a certificate is the passphrase, as in curl`() throws {
    let made = try TestCertificates()
    let (server, proxy) = try Self.serverForClients(of: made)
    let place = try TemporaryDirectory()
    _ = try shell("cp '\(made.client.certificate)' 'a:b'", in: place)
    for (certificate, more, exit) in [
      (made.client.certificate + ":canary", [], 0), ("a\\:b:canary", ["--dry-run"], 0),
      ("a\\:b:canary", [], 0), (made.client.certificate + ":wrong-canary", [], 66),
      ("missing:canary", [], 66), ("a:canary:b", [], 66), ("a\\:b:canary", ["--to-curl"], 64),
      ("a\\:b:canary", ["--pass", "canary"], 64),
    ] as [(String, [String], Int32)] {
      let flags = ["--cacert", made.authority, "-E", certificate, "--key", made.encryptedClientKey]
      let result = try run(
        "formstream", ["post", "-d", "a"] + flags + more + [proxy.url], in: place)
      let all = result.output + result.stderr
      #expect(result.exit == exit, "\(certificate): \(all)")
      #expect(!all.contains("canary"), "\(all)")
    }
    let line = try formstream("post", "--to-curl", "-d", "", "-E", #"a\:b\\c"#, "https://h/")
    #expect(line.output == #"curl -d '' --cert 'a\:b\\c' https://h/"# + "\n", "\(line)")
    #expect(server.faults == [])
  }

  @Test func `reasons and flags are named`() throws {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good() }
    for (pair, says) in [
      (made.selfSigned, "it is self-signed"), (made.expired, "it expired at 2020-01-01"),
      (made.wrongHost, "but for elsewhere.example"), (made.server, "(--cacert)"),
    ] {
      let proxy = try TLSProxy(to: server.port, pair)
      let result = try formstream(
        "post", "-d", "a", "--cacert",
        pair.certificate == made.server.certificate
          ? made.otherAuthority : made.authority, proxy.url)
      #expect(result.exit == 1)
      #expect(result.stderr.contains(says), "\(result.stderr)")
      #expect(result.stderr.split(separator: "\n").count == 1)
    }
    #expect(server.requests.isEmpty)
  }

  /// Variables of the environment with `good` or `bad` authorities, flags, and whether the server is trusted.
  private static let environments: [([String: String], flags: [String], isTrusted: Bool)] = [
    (["CURL_CA_BUNDLE": "good"], [], true), (["SSL_CERT_FILE": "good"], [], true),
    (["CURL_CA_BUNDLE": "bad", "SSL_CERT_FILE": "good"], [], false),
    (["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "good"], [], true),
    (["SSL_CERT_FILE": "missing", "SSL_CERT_DIR": "/"], ["--cacert", "good"], true),
    (["CURL_CA_BUNDLE": "good"], ["--cacert", "bad"], false),
    (["CURL_CA_BUNDLE": "missing"], ["-k"], true), (["CURL_CA_BUNDLE": "missing"], [], false),
  ]

  @Test(arguments: environments.indices)
  func `authorities are those that the environment names, as curl reads it`(_ index: Int) throws {
    let (variables, flags, isTrusted) = Self.environments[index]
    let none = ["CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]
    let environment = none.merging(variables) { _, new in new }
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good(body: "in") }
    let proxy = try TLSProxy(to: server.port, made.server)
    let place = try TemporaryDirectory()
    _ = try shell("cp \(made.authority) good; cp \(made.otherAuthority) bad", in: place)
    for program in [["/usr/bin/curl", "-s"], [builtBinary("formstream"), "post"]] {
      let result = try run(
        program: program[0], Array(program[1...]) + flags + ["-d", "a", proxy.url], in: place,
        environment: environment)
      #expect((result.exit == 0) == isTrusted, "\(program): \(result.stderr)")
    }
    // Without encryption, a file that is missing is no error.
    let plain = try run(
      "formstream", ["post", "-d", "a", server.url], in: place, environment: environment)
    #expect(plain.exit == 0, "\(plain.stderr)")
  }

  @Test func `the note on --insecure says what is checked nevertheless`() throws {
    let place = try TemporaryDirectory()
    let made = try TestCertificates()
    let flags = "post -d a --dry-run -k"
    let both = try shell(
      """
      openssl pkey -in \(made.server.key) -pubout -out key
      $F \(flags) https://h/ 2>&1 >&- | grep -c 'identity is not checked'
      $F \(flags) --pinnedpubkey key https://h/ 2>&1 >&- | grep -c 'not checked, only that it has the key of --pinned'
      """, in: place)
    #expect(both.output == "1\n1\n", "\(both.stderr)")
  }

  /// libcurl trusts the system's directory of authorities unless it is given another.
  @Test func `named authorities are the only ones that are looked at`() throws {
    let made = try TestCertificates()
    let server = try ScriptedServer { _ in .good() }
    let proxy = try TLSProxy(to: server.port, made.server)
    let place = try TemporaryDirectory()
    let result = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-e", "trace=%file", "-o", place.path("trace"), builtBinary("formstream"), "post",
        "-d", "a", "--cacert", made.otherAuthority, proxy.url,
      ], environment: underStrace)
    #expect(result.exit == 1, "\(result.stderr)")
    let count = "grep -c certs/ trace; grep -c 'openat.*other.pem' trace"
    let trace = try shell(count, in: place).output
    #expect(trace == "0\n1\n", "\(trace)")
  }

  @Test func `connections are probed as flags say`() throws {
    let place = try TemporaryDirectory()
    for (flags, probes) in [
      ([], ["[1]", "[60]"]), (["--keepalive-time", "7"], ["[1]", "[7]"]), (["--no-keepalive"], []),
    ] as [([String], [String])] {
      let server = try ScriptedServer { _ in .good() }
      let result = try run(
        program: "/usr/bin/strace",
        [
          "-f", "-e", "trace=setsockopt", "-o", place.path("trace"), builtBinary("formstream"),
          "post", "-d", "a",
        ] + flags + [server.url], environment: underStrace)
      #expect(result.exit == 0, "\(result.stderr)")
      let trace = try shell("grep -E 'KEEPALIVE|KEEPIDLE|KEEPINTVL' trace; true", in: place).output
      #expect(trace.split(separator: "\n").count == (probes.isEmpty ? 0 : 3), "\(trace)")
      for probe in probes { #expect(trace.contains(probe), "\(trace)") }
    }
  }
}
