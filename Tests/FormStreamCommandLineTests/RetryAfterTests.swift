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
