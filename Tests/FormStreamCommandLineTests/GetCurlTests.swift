import FormStreamTestSupport
import Testing

/// `get` beside `curl`: advice, names in messages, and names of files.
@Suite struct GetCurlTests {
  /// Regression: the advice was to send, which uploads.
  @Test func `the advice for -Z says what gets several files at a time`() throws {
    let result = try formstream("get", "-Z", "http://127.0.0.1:1/a")
    #expect(
      result.exit == 64 && result.stderr.contains("formstream get -j N URL... gets several files at the same time"),
      "\(result.stderr)")
  }

  /// Regression: "null: …".
  @Test func `a message names the URL's file if the output is no file`() throws {
    let server = try ScriptedServer { _ in .good(404) }
    let place = try TemporaryDirectory()
    let flags = "-o /dev/null \(server.url)/report.pdf"
    let result = try shell("$F get \(flags) \(flags)", in: place)
    #expect(result.exit != 0 && !result.stderr.contains("null:"), "\(result.stderr)")
    #expect(result.stderr.contains("report.pdf"), "\(result.stderr)")
  }

  /// As the table of differences from curl says.
  @Test func `-O decodes percent codes, and replaces what is unsafe at the beginning of a name`() throws {
    let server = try ScriptedServer { _ in .good(200) }
    let place = try TemporaryDirectory()
    let result = try shell("$F get -q --remote-name-all \(server.url)/a%20b \(server.url)/~a; ls", in: place)
    #expect(result.output == "_a\na b\n" || result.output == "a b\n_a\n", "\(result.output) \(result.stderr)")
  }
}
