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
