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

  /// 1,048,576 bytes of 3,000,000 were printed, and nothing said that there were more.
  @Test(arguments: [
    "get -o f", "get -O", "get -J", "get -r 0-9", "get -i -o f", "post -d x -o f", "put -o f p",
  ])
  func `a refusal that is printed only in part says so`(_ line: String) throws {
    let server = try ScriptedServer { _ in
      .good(404, body: String(repeating: "x", count: 3_000_000))
    }
    let place = try TemporaryDirectory()
    try place.write("p", "x")
    let result = try shell("$F \(line) \(server.url)/f | wc -c; exit ${PIPESTATUS[0]}", in: place)
    #expect(result.exit == 1)
    let count = result.output.filter(\.isNumber)
    #expect(
      count == "3000000"
        || result.stderr.contains("Only the first 1048576 bytes of the response are printed."),
      "\(count): \(result.stderr)")
    let quiet = try shell("$F \(line) -q \(server.url)/f >out", in: place)
    #expect(!quiet.stderr.contains("Only the first"), "\(quiet.stderr)")
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

  /// Regression: the message said that nobody had asked for a part.
  @Test func `a part that -H asked for leads to --range`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      .good(206, headers: [("Content-Range", "bytes 0-1/9")], body: "ab")
    }
    let result = try formstream(
      "get", "-H", "Range: bytes=0-1", "-o", "x", "--output-any-status", server.url, in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(
      result.stderr.contains(
        "ask for one with --range, which checks what is sent, and not with -H"),
      "\(result.stderr)")
  }

  /// Regression: the record, and `-w`, said 0 bytes. A status of 2xx that is no success for a file was not printed.
  @Test(
    arguments: ["-o x", "-O", "-J", "-o x --no-clobber", "-o x --remove-on-error", "-o x -i", ""],
    [404, 500, 201, 206])
  func `the body of a refused response is counted and printed`(
    _ flags: String, _ status: Int
  ) throws {
    let server = try ScriptedServer { _ in .good(status, body: "BODY-of-9") }
    let url = "\(server.url)/x"
    if flags.isEmpty, status == 201 { return }
    // -i and --json exclude each other.
    if !flags.hasSuffix("-i") {
      let record = try shell("$F get -s --retry 0 --json \(flags) \(url)")
      #expect(record.output.contains("\"bytes_received\":9,"), "\(record.output)")
      #expect(record.exit != 0)
    }
    let printed = try shell(
      "$F get -s --retry 0 -w '|%{size_download} %{size_delivered}|' \(flags) \(url)")
    #expect(printed.output.hasSuffix("BODY-of-9|9 9|"), "\(printed)")
  }

  /// Each note announces a request that is made.
  @Test(arguments: [
    "get --retry 1 U", "get -o x U", "get -o x --retry 1 U", "get -o x --retry 0 U",
    "get -o x --retry 3 --retry-max-time 0.01 U", "get -C - -o x U", "get -J U",
    "put --retry 2 -T f U", "post --retry 2 -d a U", "post --retry 0 -d a U",
    "put --retry 1 --expect always -T f U", "put --retry 1 -u me:p --digest -T f U",
    "put --retry 1 -T - U < f", "put --retry 1 --read-ahead 0 -T - U < f", "get -L -o x U",
  ])
  func `a note on another attempt is followed by one`(_ line: String) throws {
    for kind in ["busy", "cut", "unnamed", "closed"] {
      let place = try TemporaryDirectory()
      try place.write("f", "text")
      let server = try ScriptedServer { request in
        switch kind {
        case "busy": .good(503)
        case "cut", "unnamed":
          [
            .send(
              "HTTP/1.1 200 OK\r\n\(kind == "cut" ? "ETag: \"a\"\r\n" : "")Content-Length: 9\r\n\r\nabc"
            ), .closeWrite, .finish,
          ]
        default: [.closeWrite, .finish]
        }
      }
      let typed = line.replacing("U", with: server.url)
      let result = try shell(
        "$F \(typed.replacing("--retry ", with: "--retry-delay 0.01 --retry "))", in: place)
      let announced = result.stderr.matches(of: /Attempt (?<number>[0-9]+) follows/).compactMap {
        Int($0.number)
      }
      let count = max(server.requests.count, server.connectionCount)
      #expect(
        announced == Array(announced.isEmpty ? 2..<2 : 2..<(count + 1)),
        "\(kind): \(server.requests.count) \(result.stderr)")
    }
  }
}
