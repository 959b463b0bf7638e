import FormStreamTestSupport
import Testing

/// The token: who may upload, and that the token is never shown.
@Suite struct ReceiveSecretTests {
  @Test func `only clients with the token can upload, and the token is shown nowhere`() throws {
    let place = try TemporaryDirectory()
    try place.write("token", "canary-1\n")
    try place.write("other", "canary-2\n")
    let receiver = try Receiving("--into", "kept", "--token-file", "token", in: place)
    let result = try receiver.shell(
      """
      for flags in '--token-file token' '--token-file other' '-u me:canary-1' '-u canary-1:me' '-q'; do
        $F post -v $flags -F f=@token $U 2>> log
        echo $?
      done >> log
      \(curl) -u :canary-1 -F f=@token $U; \(curl) -H 'Authorization: Bearer canary-1' -T token $U
      \(curl) -H 'Authorization: Bearer canary-' -T token $U; \(curl) $U; \(curl) -u :canary-1 $U
      grep '^[0-9]*$' log
      """)
    #expect(
      result.output == "200\n200\n401\n401\n200\n0\n1\n0\n1\n1\n",
      "\(result.output) \(result.stderr)")
    #expect(try receiver.names(in: "kept").count == 4)
    let end = try receiver.end()
    for output in [try receiver.shell("cat log").output, end.output, end.stderr] {
      #expect(!output.contains("canary"), "\(output)")
    }
    #expect(end.output.contains(#""code":"unauthorized""#), "\(end.output)")
  }

  @Test func `secrets in the target of an upload are masked`() throws {
    for flags in [[], ["--json"]] as [[String]] {
      let receiver = try Receiving(
        shell: "$F receive --listen 0 --into kept \(flags.joined()) 2>&1")
      _ = try receiver.shell("\(curl) -F a=b \"$U/p?token=canary&page=2\"")
      var record = ""
      while !record.contains("POST") { record = try receiver.record() }
      #expect(record.contains("/p?token=***&page=2"), "\(record)")
      #expect(!record.contains("canary"))
      #expect(try receiver.shell("cat answer").output.contains("canary") == false)
    }
  }

  @Test func `the token can come from standard input`() throws {
    let receiver = try Receiving(
      shell: "$F receive --json --listen 0 --token-file - <<< canary")
    #expect(try receiver.post("-d", "a=b").exit == 1)
    #expect(try receiver.shell("$F post --token-file <(echo canary) -d a=b $U").exit == 0)
  }

  @Test func `an error about standard input names it`() throws {
    let result = try shell("echo | $F receive --listen 0 --token-file -")
    #expect(result.exit == 64)
    #expect(
      result.stderr
        == "formstream: Standard input for --token-file has 0 lines: it must have exactly one.\n")
  }

  @Test(arguments: [("600", false), ("640", true), ("604", true)])
  func `a private key that others can read causes a warning`(_ mode: String, _ isWarned: Bool)
    throws
  {
    let place = try TemporaryDirectory()
    let made = try TestCertificates()
    _ = try shell(
      "cp '\(made.server.certificate)' cert; cp '\(made.server.key)' key; chmod \(mode) key",
      in: place)
    let end = try Receiving("--tls-cert", "cert", "--tls-key", "key", in: place).end()
    #expect(
      end.stderr.contains("Other users can read the private key in \"key\" (--tls-key)")
        == isWarned,
      "\(end.stderr)")
  }

  @Test func `a token without encryption causes a warning`() throws {
    let made = try TestCertificates()
    let tls = ["--tls-cert", made.server.certificate, "--tls-key", made.server.key]
    for (flags, isWarned) in [
      (["--listen", ":0"], true), (["--listen", ":0"] + tls, false), ([], false),
    ] {
      let place = try TemporaryDirectory()
      try place.write("token", "canary\n")
      let end = try Receiving(flags + ["--token-file", "token"], in: place).end()
      #expect(end.stderr.contains("without encryption: --tls-cert") == isWarned, "\(end.stderr)")
    }
  }

  @Test(.enabled(if: !isSuperuser))
  func `a file without read permission gets a hint about chmod`() throws {
    let result = try shell(
      "echo t > token; chmod 0 token; $F receive --listen 0 --token-file token")
    #expect(result.exit == 66)
    #expect(result.stderr.contains("Permission denied. Allow it with chmod"), "\(result.stderr)")
  }

  @Test func `a file that other users can read causes a warning`() throws {
    for (mode, isWarned) in [("600", false), ("640", true), ("644", true)] {
      let place = try TemporaryDirectory()
      try place.write("token", "canary\n")
      #expect(try shell("chmod \(mode) token", in: place).exit == 0)
      let end = try Receiving("--token-file", "token", in: place).end()
      #expect(end.stderr.contains("Other users can read the secrets in \"token\"") == isWarned)
      #expect(!end.stderr.contains("canary"))
    }
  }

  @Test(arguments: [
    ("", "0 lines"), ("canary a", "blank"), ("canary\nb", "2 lines"), ("canary\u{E9}", "no token"),
  ])
  func `a file without a valid token is refused`(_ contents: String, _ says: String) throws {
    let place = try TemporaryDirectory()
    try place.write("token", contents)
    let result = try formstream("receive", "--listen", "0", "--token-file", "token", in: place)
    #expect((result.exit, result.output) == (64, ""))
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
  }
}

/// `formstream receive` over TLS.
@Suite struct ReceiveTLSTests {
  @Test func `it uses TLS with the given certificate`() throws {
    let made = try TestCertificates()
    let receiver = try Receiving(
      "--into", "kept", "--tls-cert", made.server.certificate, "--tls-key", made.server.key,
      "--max-body", "3M")
    #expect(receiver.url.hasPrefix("https://127.0.0.1:"))
    try receiver.place.write("big", noise(3_000_000))
    try receiver.place.write("over", noise(5_000_000))
    let result = try receiver.shell(
      """
      $F post --cacert \(made.authority) -T big $U > record; echo $?
      \(curl) --cacert \(made.authority) -T big $U/big; \(curl) --cacert \(made.authority) -T - $U/big < big
      \(curl) --cacert \(made.authority) -T over $U/over
      $F post --cacert \(made.otherAuthority) -T big $U; echo $?
      \(curl) --cacert \(made.otherAuthority) -T big $U; echo $?
      cd kept; sha256sum < ../big; cat * | sha256sum; cat ../big ../big ../big | sha256sum
      """)
    let lines = result.output.split(separator: "\n")
    #expect(
      lines.prefix(7) == ["0", "200", "200", "413", "1", "000", "60"],
      "\(result.output) \(result.stderr)")
    #expect(lines.count == 10 && lines[8] == lines[9])
    #expect(try receiver.record().contains(lines[7].prefix(64)))
    #expect(try receiver.end().exit == 0)
  }

  @Test func `an unusable certificate or key ends with 66`() throws {
    let made = try TestCertificates()
    let place = try TemporaryDirectory()
    try place.write("words", "no certificate\n")
    try place.write("zero", "\0")
    for (certificate, key) in [
      (made.server.certificate, made.client.key), (made.server.key, made.server.certificate),
      ("words", made.server.key), (made.server.certificate, "words"), ("zero", made.server.key),
      ("/dev/null", "/dev/null"),
    ] {
      let result = try formstream(
        "receive", "--listen", "0", "--tls-cert", certificate, "--tls-key", key, in: place)
      #expect((result.exit, result.output) == (66, ""), "\(certificate) \(key)")
      #expect(result.stderr.contains("PEM"), "\(result.stderr)")
      #expect(result.stderr.split(separator: "\n").count == 1, "one sentence: \(result.stderr)")
    }
  }
}
