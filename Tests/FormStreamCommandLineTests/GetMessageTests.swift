import FormStreamTestSupport
import Testing

/// What `get` says: of a URL that is a secret, and why a response is none that it can use.
@Suite struct GetMessageTests {
  @Test func `no message shows the end of a secret URL, also if it names a file`() throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/404/canary" ? 404 : 503, headers: [("Retry-After", "0")])
    }
    let place = try TemporaryDirectory()
    for status in ["404", "503"] {
      try place.write("url", "\(server.url)/\(status)/canary\n")
      for flags in [[], ["-O"], ["-J"], ["-O", "--json"], ["-O", "--compressed"], ["-o", "f"]] {
        let result = try run(
          "formstream", ["get", "--retry", "1", "--url-file", "url"] + flags, in: place)
        #expect(result.exit == (status == "404" ? 1 : 75), "\(result.stderr)")
        #expect(!result.stderr.contains("canary"), "\(flags): \(result.stderr)")
        #expect(!result.output.contains("canary"), "\(flags): \(result.output)")
        #expect(result.stderr.contains("/***"))
      }
    }
  }
}
