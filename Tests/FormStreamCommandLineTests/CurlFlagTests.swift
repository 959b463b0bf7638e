import FormStreamTestSupport
import Testing

/// Flags and words that people know from curl.
@Suite struct CurlFlagTests {
  @Test(arguments: [
    (["-s"], "-q leaves"), (["--silent"], "-q leaves"),
    (["-sS"], "-q leaves"),
    (["-qS"], "errors are always printed"), (["-f"], "exit code"),
    (["--fail-with-body"], "exit code"),
    (["-i"], "-v prints"), (["-I"], "-v prints"), (["-D", "x"], "--json prints"),
    (["-w", "%{http_code}"], "--json prints"), (["-G"], "--query"), (["--get"], "--query"),
    (["--junk-session-cookies"], "all cookies"),
    (["--socks4", "p:1"], "socks5h"), (["-p"], "always"), (["--proxy-digest"], "only Basic"),
    (["--proxy-insecure"], "--proxy-cacert"), (["-m", "5"], "--max-time"),
    (["--retry-all-errors"], "--retry-unsafe"), (["--retry-delay", "1"], "is random"),
    (["--url", "http://h/"], "without a flag"), (["--data-ascii", "a"], "-d does"),
    (["--ntlm"], "--digest"), (["--negotiate", "-u", "me:canary"], "--digest"),
    (["-0"], "--http1.1"),
    (["-1"], "TLS 1.2"), (["-2"], "TLS 1.2"), (["--tlsv1.0"], "TLS 1.2"),
    (["--tlsv1.1"], "TLS 1.2"),
    (["--tls-max", "1.1"], "choose one of 1.2, 1.3"), (["--connect-to", "a"], "--resolve"),
    (["--json", "@f"], "--json-body DATA"), (["--json", "\"x\""], "--json-body DATA"),
  ])
  func `a flag that only curl has gets a hint`(
    _ flags: [String], _ says: String
  ) throws {
    let result = try run("formstream", ["post"] + flags + ["-d", "a", "http://127.0.0.1:1/"])
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(result.stderr.split(separator: "\n").count == 1)
    #expect(!result.stderr.contains("canary"))
  }

  /// Runs every flag of the installed curl that formstream does not have.
  @Test func `hints name only flags that exist`() throws {
    let known = try flags(inHelpOf: "post").union(generalFlags)
    let curls = try shell("curl --help all").output.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    }
    try #require(curls.count > 200)
    var hints = 0
    for long in curls where !known.contains(long) {
      let result = try formstream("post", "--\(long)", "x", "http://127.0.0.1:1/")
      #expect(result.exit == 64, "\(long): \(result.stderr)")
      guard
        let hint = result.stderr.split(separator: " is not a flag of formstream: ").dropFirst()
          .first
      else { continue }
      hints += 1
      for named in hint.matches(of: /--([a-z0-9.-]*[a-z0-9])/).map(\.output.1) {
        #expect(known.contains(String(named)), "\(long): \(hint)")
      }
    }
    #expect(hints > 50)
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
    let result = try formstream("encode", "-s")
    #expect(
      result.stderr.hasPrefix("formstream: -s is not a flag; see \"formstream encode --help\"."),
      "\(result.stderr)")
  }
}
