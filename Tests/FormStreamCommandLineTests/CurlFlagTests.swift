import FormStreamTestSupport
import Testing

/// Habits of people who know curl.
@Suite struct CurlFlagTests {
  @Test(arguments: [
    (["-k"], "--cacert"), (["-s"], "-q leaves"), (["--silent"], "-q leaves"),
    (["-sS"], "-q leaves"),
    (["-qS"], "errors are always told"), (["-f"], "exit code"), (["--fail-with-body"], "exit code"),
    (["-i"], "-v shows"), (["-I"], "-v shows"), (["-D", "x"], "--json has"),
    (["-w", "%{http_code}"], "--json prints"), (["-G"], "--query"), (["--get"], "--query"),
    (["-b", "a=b"], "Cookie"), (["--cookie=a=b"], "--header-file"), (["-c", "jar"], "not kept"),
    (["-x", "p:1"], "no proxies"), (["--proxy", "p:1"], "no proxies"), (["-m", "5"], "--max-time"),
    (["--compressed"], "no coding"), (["--oauth2-bearer", "canary"], "--token-file"),
    (["--retry-all-errors"], "--retry-unsafe"), (["--retry-delay", "1"], "drawn at random"),
    (["--url", "http://h/"], "without a flag"), (["--data-ascii", "a"], "-d does"),
    (["--digest"], "--sha256 hashes"), (["--digest", "-u", "me:canary"], "as it is"),
    (["-n"], "--user-file"), (["--netrc"], "--user-file"), (["-0"], "--http1.1"),
    (["-1"], "TLS 1.2"), (["-2"], "TLS 1.2"), (["-4"], "--resolve"), (["-6"], "--resolve"),
    (["--json", "@f"], "--json-body DATA"), (["--json", "\"x\""], "--json-body DATA"),
  ])
  func `a flag of curl's that is none here says what to do instead`(
    _ flags: [String], _ says: String
  ) throws {
    let said = try run("formstream", ["post"] + flags + ["-d", "a", "http://127.0.0.1:1/"])
    #expect(said.exit == 64)
    #expect(said.stderr.contains(says), "\(said.stderr)")
    #expect(said.stderr.split(separator: "\n").count == 1)
    #expect(!said.stderr.contains("canary"))
  }

  /// Whatever a hint names is a flag; what it explains is none.
  @Test func `hints name flags that there are`() throws {
    let directory = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
    let source = try shell("cat \(directory)/Sources/FormStreamCommand/Flags/CurlFlag.swift").output
    let help = try formstream("post", "--help").output + formstream("encode", "--help").output
    let words = Set(help.split { !($0.isLetter || $0.isNumber || "-.".contains($0)) })
    for named in source.matches(of: /(^|[ \(\"'])(--[a-z0-9.-]*[a-z0-9])/).map(\.output.2) {
      #expect(words.contains(named), "\(named)")
    }
    for long in ["silent", "insecure", "digest", "proxy"] {
      #expect(words.contains("--\(long)") == (long == "insecure"))
    }
  }

  @Test(arguments: [
    ("POST", "formstream post"), ("Put", "formstream put"),
    ("https://example.org/x", "formstream post https://example.org/x"),
    ("https://me:canary@h/", "formstream post URL"), ("send", "formstream post sends"),
    ("upload", "formstream post sends"), ("get", "formstream post and put send"),
    ("PATCH", "formstream post -X PATCH"),
  ])
  func `a word where a command stands says which one is meant`(
    _ word: String, _ says: String
  ) throws {
    let said = try formstream(word)
    #expect(said.exit == 64)
    #expect(said.stderr.contains(says), "\(said.stderr)")
    #expect(!said.stderr.contains("canary"))
  }

  @Test func `other commands than those that send are no curl`() throws {
    let said = try formstream("encode", "-s")
    #expect(
      said.stderr.hasPrefix("formstream: -s is not a flag; see \"formstream encode --help\"."),
      "\(said.stderr)")
  }
}
