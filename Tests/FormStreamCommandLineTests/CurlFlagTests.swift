import FormStreamTestSupport
import Testing

/// Flags and words that people know from curl.
@Suite struct CurlFlagTests {
  @Test(arguments: [
    (["--preproxy", "p:1"], "socks5h"), (["-p"], "always"), (["--proxy-digest"], "only Basic"),
    (["--proxy-insecure"], "--proxy-cacert"),
    (["--ntlm"], "--digest"), (["--negotiate", "-u", "me:canary"], "--digest"),
    (["-sS0"], "--http1.1"),
    (["-1"], "TLS 1.2"), (["-2"], "TLS 1.2"), (["--tlsv1.0"], "TLS 1.2"),
    (["--tlsv1.1"], "TLS 1.2"),
    (["--tls-max", "1.1"], "choose one of 1.2, 1.3"), (["--connect-to", "a"], "HOST:PORT:HOST"),
    (["--http3"], "HTTP/2"), (["--aws-sigv4", "aws:amz"], "presigned"),
    (["--cert-type", "DER"], "openssl"),
    (["--globoff=x"], "takes no value"), (["--progress-bar=x"], "takes no value"),
    (["--proto", "=ftp"], "--proto (argument 3)"), (["-e", "x;auto"], ";auto"),
    (["-C", "-"], "--range"), (["-J"], "-O"), (["-a"], "for FTP"),
    // Flags that came after the curl of Debian 12.
    (["--ech", "a"], "OPENSSL_CONF"), (["--haproxy-clientip", "a"], "no proxy's greeting"),
    (["--ca-native"], "--cacert"), (["--skip-existing"], "formstream get has it"), (["--trace-ids"], "-v"),
    (["--timeout", "5"], "--max-time S"), (["--timeout=5"], "--connect-timeout S"),
  ])
  func `a flag of curl that is refused gets a hint`(
    _ flags: [String], _ says: String
  ) throws {
    let result = try run("formstream", ["post"] + flags + ["-d", "a", "http://127.0.0.1:1/"])
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(result.stderr.split(separator: "\n").count == 1)
    #expect(!result.stderr.contains("canary"))
  }

  @Test(arguments: [
    ["-g"], ["-N"], ["-gN"], ["-sgSN"], ["--fail-with-body"], ["--disable"],
    ["--retry-connrefused"], ["--tcp-nodelay"], ["--ssl-no-revoke"], ["--cert-type", "PEM"],
    ["--progress-bar"], ["-#"], ["--no-progress-meter"], ["--proto", "=http,https"],
    ["--proto-redir", "=https,http"], ["--proto", "https"], ["-m", "20"],
  ])
  func `a flag of curl that changes nothing here is accepted`(_ flags: [String]) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try run("formstream", ["post"] + flags + ["-d", "a", server.url])
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.body) == [Array("a".utf8)])
  }

  /// Of the flags of the installed curl, each is accepted, refused with what to do instead, or one for another protocol.
  @Test func `every flag of curl is accepted or refused with a way out`() throws {
    let known = try flags(inHelpOf: "post").union(flags(inHelpOf: "get")).union(generalFlags)
    let lines = try shell("curl --help all").output.split(separator: "\n")
    let curls = lines.compactMap { line -> (long: String, takesValue: Bool)? in
      let words = line.split(separator: " ")
      guard let index = words.prefix(2).firstIndex(where: { $0.hasPrefix("--") }) else {
        return nil
      }
      return (
        String(words[index].dropFirst(2)),
        words.dropFirst(index + 1).first?.first.map { "<[".contains($0) } ?? false
      )
    }
    try #require(curls.count > 200)
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good() }
    var counts = ["accepted": 0, "refused": 0, "foreign": 0]
    for (long, takesValue) in curls {
      if known.contains(long) {
        counts["accepted", default: 0] += 1
        continue
      }
      let value =
        ["cert-type": "PEM", "key-type": "PEM", "proto-redir": "=https,http"][long] ?? "a=b"
      let verb = long.hasPrefix("remote-") ? "get" : "post"
      let result = try run(
        "formstream", [verb, "--\(long)"] + (takesValue ? [value] : []) + [server.url + "/f"],
        in: place)
      let message = result.stderr
      if result.exit == 0 {
        counts["accepted", default: 0] += 1
        continue
      }
      #expect(result.exit == 64, "\(long): \(message)")
      let hint = message.split(separator: " is not a flag of formstream: ").dropFirst().first
      #expect(hint != nil, "\(long): \(message)")
      for named in (hint ?? "").matches(of: /--([a-z0-9.-]*[a-z0-9])/).map(\.output.1) {
        let others: Set = ["max-rate"]
        #expect(known.union(others).contains(String(named)), "\(long): \(message)")
      }
      let kind = message.contains("only http and https are supported.") ? "foreign" : "refused"
      counts[kind, default: 0] += 1
    }
    #expect(counts.values.reduce(0, +) == curls.count)
    #expect(counts["accepted", default: 0] > 100 && counts["foreign", default: 0] < 45, "\(counts)")
    print("Of \(curls.count) flags of curl: \(counts)")
  }

  @Test(arguments: [
    ("POST", "formstream post"), ("Put", "formstream put"),
    ("https://example.org/x?canary", "formstream get URL"),
    ("upload", "formstream post sends"), ("download", "formstream get"), ("Get", "formstream get"),
    ("PATCH", "formstream post -X PATCH"),
  ])
  func `a word that is not a command gets a hint`(
    _ word: String, _ says: String
  ) throws {
    let result = try formstream(word)
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
  }

  @Test func `commands that send nothing give no hints about curl`() throws {
    let result = try formstream("encode", "-a")
    #expect(
      result.stderr.hasPrefix("formstream: -a is not a flag; see \"formstream encode --help\"."),
      "\(result.stderr)")
  }
}
