import FormStreamTestSupport
import Testing

/// A server that says when to come again, later than is waited for.
@Suite struct RetryAfterTests {
  @Test(arguments: [
    (["post", "-d", "a"], "200"), (["put", "-d", "a"], "200"), (["get"], "200"),
    (["get", "-o", "x"], "200"),
  ])
  func `what is not waited for is said, with the limit and its flag`(
    _ words: [String], _ seconds: String
  ) throws {
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", seconds)]) }
    let result = try run("formstream", words + ["--retry", "2", server.url])
    #expect(result.exit == 75)
    #expect(server.requests.count == 1)
    #expect(
      result.stderr.contains(
        "It asks to come again in 200 s (Retry-After), and at most 120 s are waited for: try again then, or allow a longer wait (--max-retry-after)."
      ), "\(result.stderr)")
    // Without --retry, nothing is given up.
    let once = try run("formstream", words + ["--retry", "0", server.url])
    #expect(!once.stderr.contains("Retry-After"), "\(once.stderr)")
  }

  @Test(arguments: [
    ("99999999999999999999999", "more than 30 years"),
    ("9223372036854775807", "more than 30 years"),
    ("Fri, 31 Dec 9999 23:59:59 GMT", "more than 30 years"), ("5400", "5400 s (1 h 30 min)"),
    ("86400", "86400 s (24 h 0 min)"), ("864000", "864000 s (10 days)"), ("121", "121 s"),
  ])
  func `a long wait is said in words for people, and ends nothing`(
    _ value: String, _ words: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("f", "text")
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", value)]) }
    for command in [["post", "-d", "a"], ["get"], ["get", "-o", "x"], ["put", "f"]] {
      let result = try run("formstream", command + ["--retry", "2", server.url], in: place)
      #expect(result.exit == 75)
      #expect(
        result.stderr.contains("It asks to come again in \(words) (Retry-After)"),
        "\(result.stderr)")
    }
    // There is nothing to wait for after the last attempt.
    let longest = "99999999999999999999"
    let last = try formstream(
      "post", "-d", "a", "--retry", "0", "--max-retry-after", longest, server.url, in: place)
    #expect([64, 75].contains(last.exit), "\(last.stderr)")
  }

  /// Regression: `send` waited for two minutes without a word, and then asked again.
  @Test(arguments: ["--retry 1", "", "--retry 2 --per-request 2"])
  func `send does not wait for longer than that, and says why`(_ flags: String) throws {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in; echo a > in/f1; echo b > in/f2", in: place)
    let server = try ScriptedServer { _ in
      .good(503, headers: [("Retry-After", "99999999")])
    }
    let words = "It asks to come again in 99999999 s (1157 days) (Retry-After), and at most "
    let result = try shell("timeout 60 $F send \(flags) \(server.url) in", in: place)
    #expect(result.exit == 75, "\(result.stderr)")
    #expect(
      result.stderr.contains(
        "\(words)120 s are waited for: try again then, or allow a longer wait (--max-retry-after)."),
      "\(result.stderr)")
    // Each file is sent once.
    #expect(server.requests.count == (flags.contains("per-request") ? 1 : 2))
    let record = try shell(
      "timeout 60 $F send --json \(flags) --max-retry-after 7 \(server.url) in", in: place)
    #expect(record.exit == 75, "\(record.stderr)")
    #expect(record.output.contains("\"outcome\":\"retryable\""), "\(record.output)")
    #expect(record.output.contains("\(words)7 s are waited for"), "\(record.output)")
  }

  @Test func `send waits for what is within its limit, and says nothing without another attempt`()
    throws
  {
    let place = try TemporaryDirectory()
    try place.write("f", "text")
    let server = try ScriptedServer { request in
      request.number == 0 ? .good(503, headers: [("Retry-After", "1")]) : .good()
    }
    let line = "$F send --retry 1 --max-retry-after 1 \(server.url) f"
    #expect(try shell(line, in: place).exit == 0)
    let busy = try ScriptedServer { _ in .good(503, headers: [("Retry-After", "99999999")]) }
    let once = try shell("$F send --retry 0 \(busy.url) f", in: place)
    #expect(once.exit == 75)
    #expect(!once.stderr.contains("Retry-After"), "\(once.stderr)")
  }

  @Test func `a limit for all attempts is named as well`() throws {
    let server = try ScriptedServer { _ in .good(503, headers: [("Retry-After", "100")]) }
    let result = try formstream(
      "post", "-d", "a", "--retry", "2", "--retry-max-time", "5", server.url)
    #expect(result.exit == 75)
    #expect(result.stderr.contains("(--retry-max-time)"), "\(result.stderr)")
    let record = try formstream(
      "post", "--json", "-d", "a", "--retry", "2", "--max-retry-after", "50", server.url)
    #expect(record.output.contains("at most 50 s are waited for"), "\(record.output)")
  }
}
