import FormStreamTestSupport
import Glibc
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

  /// It said that the 206 of a download that goes on was not asked for.
  @Test func `a part that was asked for is not what a download fails with`() throws {
    let resource = ContinuableResource(bytes: noise(100_000))
    let server = try ScriptedServer { request in
      resource.response(to: request, upTo: request.number == 0 ? 50_000 : 0) + [.close]
    }
    let place = try TemporaryDirectory()
    let result = try formstream("get", "--retry", "1", "-o", "f", server.url, in: place)
    #expect(result.exit == 75)
    #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=50000-"])
    #expect(!result.stderr.contains("without being asked"), "\(result.stderr)")
    #expect(result.stderr.contains("50000 bytes are in"), "\(result.stderr)")
  }

  @Test func `a part that was not asked for is what a download fails with`() throws {
    let server = try ScriptedServer { _ in .good(206, body: "part") }
    let place = try TemporaryDirectory()
    let result = try formstream("get", "-o", "f", server.url, in: place)
    #expect(result.exit == 1)
    #expect(result.stderr.contains("without being asked"), "\(result.stderr)")
  }

  @Test(arguments: [false, true])
  func `a cancelled download says whether its response had begun`(_ hasBegun: Bool) throws {
    let reached = try Gate()
    let resource = ContinuableResource(bytes: noise(100_000))
    let server = try ScriptedServer { request in
      (hasBegun ? resource.response(to: request, upTo: 1000) : []) + [.open(reached), .stall]
    }
    let place = try TemporaryDirectory()
    let program = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: ["get", "-o", "f", server.url].map { Array($0.utf8) }, in: place)
    #expect(reached.wait())
    if hasBegun {
      _ = try shell("until [ -s f.part ]; do sleep 0.01; done", in: place)
    }
    program.signal(SIGINT)
    let end = try program.wait()
    #expect(end.signal == SIGINT)
    let words = hasBegun ? "while its response arrived" : "before a response arrived"
    #expect(end.stderr.contains(words), "\(end.stderr)")
  }

  @Test func `a file that was removed for its digest is in no record`() throws {
    let server = try ScriptedServer { _ in .good(body: "other") }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "--json", "--progress", "json", "--sha256", String(repeating: "0", count: 64), "-o",
      "f", server.url, in: place)
    #expect(result.exit == 1)
    #expect(result.output.contains(#""bytes_received":5"#), "\(result.output)")
    #expect(result.output.contains(#""body":null"#), "\(result.output)")
    #expect(result.output.contains(#""code":"digest-mismatch""#), "\(result.output)")
    #expect(result.stderr.contains(#""received":5,"#), "\(result.stderr)")
    #expect(!result.stderr.contains(#""files_done":1"#), "\(result.stderr)")
    // That of a refusal is kept.
    let refused = try formstream(
      "get", "--json", "--expect-status", "204", "-o", "f", server.url, in: place)
    #expect(refused.output.contains(#""body":"other""#), "\(refused.output)")
  }

  /// RFC 9110 §14.2: "A server MUST ignore a Range header field received with a request method that is unrecognized or for
  /// which range handling is not defined."
  @Test func `a response to HEAD need not have the range`() throws {
    let server = try ScriptedServer { request in .good(request.target == "/" ? 200 : 206) }
    for path in ["/", "/206"] {
      let result = try formstream("get", "-I", "-r", "0-3", server.url + path)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.requests.last?.header("Range") == "bytes=0-3")
    }
    let body = try formstream("get", "-r", "0-3", server.url)
    #expect(body.stderr.contains("It sends the complete file in place of --range."))
  }

  @Test func `a complete download of unknown length is one file`() throws {
    let server = try ScriptedServer { _ in .good(body: "text", framing: .chunked) }
    let place = try TemporaryDirectory()
    let result = try formstream("get", "--progress", "json", "-o", "f", server.url, in: place)
    #expect(result.exit == 0)
    #expect(result.stderr.contains(#""files_done":1,"files_total":1"#), "\(result.stderr)")
  }
}
