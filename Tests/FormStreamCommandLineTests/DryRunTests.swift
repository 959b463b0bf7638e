import FormStreamTestSupport
import Testing

/// What `--dry-run` says is what is sent.
@Suite struct DryRunTests {
  /// Regression: it said Content-Length, and the body was sent in chunks.
  @Test func `a body in chunks has no length in the outline`() throws {
    let flags = ["-d", "words", "-H", "Transfer-Encoding: chunked"]
    let dry = try run("formstream", ["post", "--dry-run"] + flags + ["http://h/p"])
    #expect(dry.exit == 0, "\(dry.stderr)")
    #expect(dry.output.contains("\nTransfer-Encoding: chunked\n"), "\(dry.output)")
    #expect(!dry.output.contains("Content-Length"), "\(dry.output)")
    let server = try ScriptedServer { _ in .good() }
    let sent = try run("formstream", ["post"] + flags + [server.url])
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.first?.header("Transfer-Encoding") == "chunked")
    #expect(server.requests.first?.header("Content-Length") == nil)
  }

  /// Regression: it showed the path of the URL.
  @Test func `the first line has what --request-target puts there, without its secrets`() throws {
    let server = try ScriptedServer { _ in .good() }
    let flags = ["-X", "OPTIONS", "--request-target", "/t?token=canary&a=b"]
    let url = "\(server.url)/path"
    let dry = try run("formstream", ["post", "--dry-run"] + flags + [url])
    #expect(dry.exit == 0, "\(dry.stderr)")
    #expect(
      dry.output.hasPrefix("OPTIONS /t?token=***&a=b, at \(server.url)/path\n"), "\(dry.output)")
    #expect(!dry.output.contains("canary"))
    let sent = try run("formstream", ["post"] + flags + [url])
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.first?.target == "/t?token=canary&a=b")
  }
}
