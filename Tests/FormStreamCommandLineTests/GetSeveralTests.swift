import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `formstream get -j N` and `--files-from`: several URLs at the same time, lists of them, and the summary.
@Suite struct GetSeveralTests {
  @Test func `several files are received at the same time`() throws {
    // Each response waits until all requests are there: one after another, they would wait for ever.
    let gates = try (0..<4).map { _ in try Gate() }
    let server = try ScriptedServer { request in
      let number = request.target.last?.wholeNumberValue ?? 0
      return [.open(gates[number])] + gates.map { .waitFor($0) }
        + .good(body: "text of \(request.target)")
    }
    let place = try TemporaryDirectory()
    let urls = (0..<4).map { "\(server.url)/f\($0)" }
    let result = try run("formstream", ["get", "-j", "4", "--remote-name-all"] + urls, in: place)
    #expect((result.exit, result.output) == (0, ""), "\(result.stderr)")
    #expect(result.stderr.contains("4 URLs: 4 ok.\n"))
    let files = try shell("cat f0 f1 f2 f3; ls | wc -l", in: place).output
    #expect(files == "text of /f0text of /f1text of /f2text of /f34\n")
  }

  @Test func `a j without a number is still curl's`() throws {
    let server = try ScriptedServer { _ in .good(body: "text") }
    let place = try TemporaryDirectory()
    try place.write("cookies", "Set-Cookie: session=1\nSet-Cookie: kept=2; Max-Age=1000\n")
    let result = try formstream("get", "-b", "cookies", "-j", server.url, in: place)
    #expect((result.exit, result.output) == (0, "text"), "\(result.stderr)")
    #expect(server.requests.map { $0.header("Cookie") } == ["kept=2"])
  }

  @Test(arguments: [("files-from", "\n"), ("files-from0", "\0")])
  func `a list is received into a directory, and a failure ends none of the others`(
    _ flag: String, _ ending: String
  ) throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/b" ? 404 : 200, body: "text of \(request.target)")
    }
    let place = try TemporaryDirectory()
    let list = ["/a", "/b", "/c"].map { "\(server.url)\($0)\(ending)" }.joined()
    for source in ["list", "-"] {
      try place.write("list", list)
      let result = try run(
        "formstream",
        ["get", "-f", "-j", "2", "--\(flag)", source, "-O", "--output-dir", "out", "--create-dirs"],
        standardInput: source == "-" ? Array(list.utf8) : nil, in: place)
      #expect(result.exit == 1, "\(result.stderr)")
      #expect(result.stderr.contains("responded 404"))
      #expect(result.stderr.contains("3 URLs: 2 ok, 1 failed.\n"))
      #expect(result.stderr.contains("  1 status-refused 404: "))
      #expect(try shell("cat out/*; ls out; rm -r out", in: place).output == "text of /atext of /ca\nc\n")
    }
  }

  @Test func `records come whole, and then the summary`() throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/8" ? 503 : 200, body: String(repeating: "x", count: 100_000))
    }
    let urls = (0..<12).map { "\(server.url)/\($0)" }
    let result = try run("formstream", ["get", "--json", "--retry", "0", "-j", "6"] + urls)
    #expect(result.exit == 75)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 13)
    #expect(lines.dropLast().allSatisfy { $0.hasPrefix(#"{"schema":"formstream.result/"#) && $0.hasSuffix("}") })
    let summary = try #require(lines.last)
    #expect(summary.hasPrefix(#"{"schema":"formstream.summary/1","#), "\(summary)")
    #expect(summary.contains(#""files":12,"ok":11,"failed":0,"retryable":1,"#), "\(summary)")
    #expect(summary.contains(#""jobs":6,"bytes":1100000,"#), "\(summary)")
    #expect(summary.hasSuffix(#""exit":75}"#), "\(summary)")
  }

  @Test func `each file of a list goes on where it ended`() throws {
    let body = String(repeating: "0123456789", count: 1000)
    let headers = [("ETag", "\"v1\"")]
    let isWhole = Guarded(false)
    let server = try ScriptedServer { request in
      guard isWhole.withLock(\.self) else {
        return [
          .respond(200, headers: headers, body: body, framing: .announced(20_000)), .close,
        ]
      }
      guard let range = request.header("Range") else { return .good(headers: headers, body: body + body) }
      #expect(range == "bytes=10000-")
      return .good(
        206, headers: headers + [("Content-Range", "bytes 10000-19999/20000")], body: body)
    }
    let place = try TemporaryDirectory()
    try place.write("list", "\(server.url)/a\n\(server.url)/b\n")
    let arguments = ["get", "--json", "--retry", "0", "-j", "2", "-C", "-", "-O", "--files-from", "list"]
    #expect(try run("formstream", arguments, in: place).exit == 75)
    isWhole.withLock { $0 = true }
    let result = try run("formstream", arguments, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    // The bytes that were there already are not counted again.
    #expect(result.output.contains(#""bytes":20000,"#), "\(result.output)")
    #expect(server.requests.suffix(2).allSatisfy { $0.header("Range") == "bytes=10000-" })
    #expect(try shell("cmp a b && stat -c %s a && ls", in: place).output == "20000\na\nb\nlist\n")
  }

  @Test(arguments: [
    (["-j", "2", "URL/a", "URL/b"], "would mix on standard output"),
    (["-j", "2", "--files-from", "list"], "would mix on standard output"),
    (["-j", "0", "-O", "URL/a"], "write a number from 1 to 1000"),
    (["-j", "2", "-O", "-O", "URL/a", "URL/d/a"], "Two responses"),
    (["-o", "x", "--files-from", "list"], "-O and -J name a file for each"),
    (["-o", "b", "URL/z", "-O", "--files-from", "list"], "(line 4 of \"list\") would be stored in the file \"b\""),
    (["-O", "--files-from", "twice"], "(line 2 of \"twice\") would be stored in the file \"a\""),
    (["-O", "--files-from", "bad"], "(line 2 of \"bad\") has no scheme"),
    (["-O", "--files-from", "windows"], "dos2unix"),
    (["-O", "--files-from", "own"], "\"own\""),
    (["--sha256", String(repeating: "a", count: 64), "-O", "--files-from", "list"], "leave out the list"),
    (["--url-file", "list", "-O", "--files-from", "list"], "leave out the list"),
    (["-j", "2", "-J", "URL/a"], "leave -j out, or use -O or -o"),
    (["-j", "2", "--no-clobber", "-O", "URL/a"], "leave one out"),
    (["-j", "2", "-o", "n", "URL/x", "-o", "N", "URL/y"], "upper and lower case count as the same"),
    (["-O", "--files-from", "cases"], "upper and lower case count as the same"),
    (["-j", "2", "-o", "/dev/fd/1", "URL/x", "-O", "URL/y"], "is not a regular file, in which they would mix"),
    (["-j", "2", "-o", "/dev/zero", "URL/x", "-O", "URL/y"], "is not a regular file, in which they would mix"),
    (["-j", "2", "-o", "link", "URL/x", "-o", "target", "URL/y"], "a link to a file that does not exist"),
    (["-j4", "-O", "URL/a"], "write -j 4."),
    (["-Oj46", "URL/a"], "write -j 46."),
    (["-O", "--files-from", "-", "-H", "@-"], "Standard input is named twice"),
  ])
  func `what can't be meant is refused before anything is requested`(
    _ arguments: [String], _ says: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try TemporaryDirectory()
    try place.write("list", "\(server.url)/a\n\n\n\(server.url)/b\n")
    try place.write("twice", "\(server.url)/a\n\(server.url)/x/a\n")
    try place.write("bad", "\(server.url)/a\nexample.org/b\n")
    try place.write("windows", "\(server.url)/a\r\n\(server.url)/b\r\n")
    try place.write("own", "\(server.url)/own\n")
    try place.write("cases", "\(server.url)/n\n\(server.url)/N\n")
    _ = try shell("ln -s target link", in: place)
    let result = try run(
      "formstream", ["get"] + arguments.map { $0.replacing("URL/", with: "\(server.url)/") }, in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.connectionCount == 0)
    #expect(try shell("ls", in: place).output == "bad\ncases\nlink\nlist\nown\ntwice\nwindows\n")
  }

  @Test func `a bad line of a pipe is reported, and the others are received`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try TemporaryDirectory()
    let list = "\(server.url)/a\nexample.org/b\n\(server.url)/x/a\n\(server.url)/c"
    let result = try formstream(
      "get", "-O", "--files-from", "-", standardInput: Array(list.utf8), in: place)
    #expect(result.exit == 66, "\(result.stderr)")
    #expect(result.stderr.contains("(line 2 of \"standard input\") has no scheme"), "\(result.stderr)")
    #expect(result.stderr.contains("(line 3 of \"standard input\") would be stored in the file \"a\""))
    #expect(result.stderr.contains("4 URLs: 2 ok, 2 failed.\n"), "\(result.stderr)")
    #expect(try shell("cat a c; ls", in: place).output == "/a/ca\nc\n")
  }

  /// With a thread for each, one read the end of the list while another had read the only URL, and not yet counted it. Then the
  /// command ended with 0 and without the file.
  @Test func `the last URL of a list is received, however many threads read the list`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try TemporaryDirectory()
    try place.write("list", "\(server.url)/a\n")
    for _ in 0..<60 {
      let result = try run("formstream", ["get", "-j", "40", "-O", "--files-from", "list"], in: place)
      let file = try shell("cat a; rm a", in: place).output
      #expect((result.exit, file) == (0, "/a"), "\(result.stderr)")
    }
  }

  @Test func `a bad first line of a pipe ends none of the others`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "-O", "--files-from", "-", standardInput: Array("example.org/b\n\(server.url)/a\n".utf8), in: place)
    #expect(result.exit == 66, "\(result.stderr)")
    #expect(result.stderr.contains("(line 1 of \"standard input\") has no scheme"), "\(result.stderr)")
    #expect(try shell("cat a", in: place).output == "/a")
  }

  @Test func `a list that is missing is a failure before anything is requested`() throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try TemporaryDirectory()
    try place.write("list", "\(server.url)/a\n")
    let result = try formstream("get", "-O", "--files-from", "list", "--files-from", "none", in: place)
    #expect(result.exit == 66 && server.connectionCount == 0, "\(result.stderr)")
  }

  @Test func `only the server of the first URL gets the credentials of the command line`() throws {
    let servers = try (0..<2).map { _ in try ScriptedServer { request in .good(body: request.target) } }
    let place = try TemporaryDirectory()
    try place.write("list", "\(servers[0].url)/a\n\(servers[1].url)/b\n\(servers[0].url)/c\n")
    let result = try formstream(
      "get", "-u", "me:p", "-b", "k=v", "-H", "X-Api-Key: s", "-H", "X-Team: 7", "-O", "--files-from", "list", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.stderr.contains("are sent only to \(servers[0].url)"), "\(result.stderr)")
    for name in ["Authorization", "Cookie", "X-Api-Key"] {
      #expect(servers[0].requests.map { $0.header(name) != nil } == [true, true], "\(name)")
      #expect(servers[1].requests.map { $0.header(name) } == [nil], "\(name)")
    }
    #expect(servers[1].requests.map { $0.header("X-Team") } == ["7"])
  }

  @Test func `bodies at the same time may all be thrown away`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let result = try formstream(
      "get", "-j", "2", "-o", "/dev/null", "\(server.url)/a", "-o", "/dev/null", "\(server.url)/b")
    #expect((result.exit, result.output) == (0, ""), "\(result.stderr)")
  }

  @Test func `an empty list is no failure`() throws {
    let result = try formstream("get", "-O", "--files-from", "-", standardInput: [])
    #expect((result.exit, result.output) == (0, ""))
    #expect(result.stderr.hasPrefix("0 URLs.\n"), "\(result.stderr)")
  }

  @Test func `a signal ends all requests, also while a list has not ended`() throws {
    let begun = try (0..<2).map { _ in try Gate() }
    let server = try ScriptedServer { request in
      [
        .respond(200, body: "beginning", framing: .announced(1000)),
        .open(begun[request.target == "/a" ? 0 : 1]), .stall,
      ]
    }
    let place = try TemporaryDirectory()
    // The list never ends: something still has the other end of the FIFO open.
    let line =
      "mkfifo list; exec 3<> list; echo '\(server.url)/a' >&3; echo '\(server.url)/b' >&3; exec \"$F\" get -j 3 -O --files-from list"
    let program = try RunningProgram(
      program: "/bin/bash", rawArguments: ["-c", line].map { Array($0.utf8) }, in: place,
      environment: ["F": builtBinary("formstream")])
    for gate in begun { #expect(gate.wait()) }
    program.signal(15)
    let result = try program.wait()
    #expect((result.exit, result.signal) == (nil, 15), "\(result.stderr)")
    #expect(result.stderr.contains("2 URLs: 2 retryable.\n"), "\(result.stderr)")
    #expect(try shell("ls a b", in: place).output == "")
  }

  @Test func `progress is that of received bytes`() throws {
    let server = try ScriptedServer { _ in .good(body: "12345") }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "-j", "2", "--progress", "json", "-O", "\(server.url)/a", "-O", "\(server.url)/b", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    let last = try #require(result.stderr.split(separator: "\n").last { $0.hasPrefix("{") })
    #expect(last.contains(#""phase":"done","read":0,"handed":0,"acknowledged":null,"total":null,"received":10,"#), "\(last)")
    #expect(last.contains(#""files_done":2,"files_total":2"#), "\(last)")
  }
}
