import FormStreamTestSupport
import Testing

/// `formstream get -j N` and `--files-from`: what messages advise, what goes to standard output, records of lines, and what is left
/// out.
@Suite struct GetListTests {
  private func place(_ server: ScriptedServer) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for (name, lines) in [
      ("list", ["URL/a"]), ("twice", ["URL/a", "URL/x/a"]), ("nameless", ["URL/a/"]), ("three", ["URL/1", "URL/2", "URL/3"]),
      ("other", ["URL/there"]),
    ] {
      try place.write(
        name, lines.map { "\($0.replacing("URL/", with: "\(server.url)/"))\n" }.joined())
    }
    try place.write("there", "old")
    return place
  }

  /// Regression: the message named the flag that was given, or one that is refused in the same place.
  @Test(arguments: [
    (["-O", "-j", "2", "URL/x", "URL/y"], "there is no -O or -o for URL/y: --remote-name-all names a file", ""),
    (["-j", "2", "URL/x", "URL/y"], "--remote-name-all names a file for each, and --json", ""),
    (["-j", "2", "-o", "x", "URL/x", "--files-from", "list"], "-O names a file for each URL of a list", "-o"),
    (["-j", "2", "-o", "-", "URL/x", "-o", "y", "URL/y"], "name a file in place of -o -.", "--json"),
    (["-O", "--files-from", "list", "URL/x", "URL/y"], "there is no -O or -o for URL/y: --remote-name-all names", ""),
    (["-j", "2", "-O", "-O", "URL/x", "URL/d/x"], "leave -j out and use -J", "or use -J"),
    (["-O", "--files-from", "twice"], "leave it out, or -J and --no-clobber number such files", "-o"),
    (["--compressed", "-O", "--files-from", "twice"], "leave it out, or --no-clobber numbers such files", "-J"),
    (["--skip-existing", "-O", "--files-from", "twice"], "count as the same): leave it out.", "-J"),
    (["--skip-existing", "-O", "-O", "URL/p/a", "URL/q/a"], "give each a name with -o.", "-J"),
    (["-o", "a", "-o", "a", "URL/p", "URL/q"], "give each a name with -o.", "-J"),
    (["-C", "-", "--files-from", "three"], "-C - goes on with a file: name it with -O.\n", "line"),
    (["-C", "-", "--files-from", "-"], "-C - goes on with a file: name it with -O.\n", "line"),
    (["-r", "0-9,20-29", "-O", "--files-from", "three"], "For a file, ask for one range.\n", "line"),
    (["--skip-existing", "-r", "0-9", "-O", "URL/a"], "and --range stores something else", ""),
    (["--skip-existing", "--output-any-status", "-O", "URL/a"], "and --output-any-status stores", ""),
    (["--fail-with-body", "-j", "2", "--remote-name-all", "URL/a", "URL/b"], "--output-any-status stores them", ""),
    (["-j", "2", "-O", "--files-from", "twice"], "leave it out, or leave -j out", "-o"),
    (["-j", "2", "-J", "--files-from", "list"], "use --remote-name-all", "-o"),
    (["-J", "-i", "--files-from", "list"], "use --remote-name-all", "-o"),
    (["-O", "--files-from", "nameless"], "leave it out of the list", ""),
    (["-C", "5", "-O", "--files-from", "other"], "another directory with --output-dir", "-o"),
    (["-C", "-", "--files-from", "list"], "name it with -O.", "-o "),
    (["--skip-existing", "-J", "URL/x"], "use --remote-name-all", ""),
    (["--skip-existing", "--no-clobber", "-O", "URL/x"], "leave one out", ""),
    (["--skip-existing", "--sha256", String(repeating: "a", count: 64), "-O", "URL/x"], "leave one out", ""),
  ])
  func `a message advises what is not refused`(
    _ arguments: [String], _ says: String, _ isSilentOn: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try place(server)
    let inPlace = { (text: String) in text.replacing("URL/", with: "\(server.url)/") }
    let result = try run("formstream", ["get"] + arguments.map(inPlace), in: place)
    #expect(result.exit == 64 && result.stderr.contains(inPlace(says)), "\(result.stderr)")
    #expect(isSilentOn.isEmpty || !result.stderr.contains(" \(isSilentOn)"), "\(result.stderr)")
    #expect(result.output == "" && server.connectionCount == 0)
  }

  /// Regression: two URLs of a list could be received into one FIFO at the same time.
  @Test func `a list is not received into a FIFO by several requests`() throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try place(server)
    let flags = "-j 2 --compressed -O --files-from list"
    let result = try shell("mkfifo a; exec 3<> a; $F get \(flags); echo $?", in: place)
    #expect(result.output == "64\n" && server.connectionCount == 0, "\(result)")
    #expect(result.stderr.contains("leave line 1 out of the list, or leave -j out."), "\(result.stderr)")
  }

  @Test func `without j and a list, O is for one URL, as in curl`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let result = try shell("$F get -O \(server.url)/a \(server.url)/b; echo; ls")
    #expect(result.output == "/b\na\n", "\(result.stderr)")
  }

  /// Regression: the texts of all refused responses stood on standard output, with nothing between them.
  @Test(arguments: ["-j 2 --remote-name-all", "--remote-name-all", "-j 2 -O -i", "-j 2 -r 0-9 --remote-name-all"])
  func `what the server says about refused files is in the messages`(_ flags: String) throws {
    let server = try ScriptedServer { request in .good(404, body: "no file \(request.target)") }
    let urls = ["a", "b"].map { "\(server.url)/\($0)" }
    let place = try TemporaryDirectory()
    let isListed = flags == "--remote-name-all" || flags.contains("-O")
    if isListed { try place.write("list", urls.joined(separator: "\n")) }
    let result = try shell(
      "$F get \(flags) \(isListed ? "--files-from list" : urls.joined(separator: " ")); echo $?; ls", in: place)
    #expect(result.output == "1\n" + (isListed ? "list\n" : ""), "\(result)")
    for name in ["a", "b"] { #expect(result.stderr.contains("The server says: no file /\(name)"), "\(result.stderr)") }
  }

  @Test func `a refused response may be stored in the file`() throws {
    let server = try ScriptedServer { request in .good(404, body: "no file \(request.target)") }
    let result = try shell(
      "$F get -q -j 2 --remote-name-all --output-any-status \(server.url)/a \(server.url)/b; echo $?; cat a b")
    #expect(result.output == "1\nno file /ano file /b", "\(result)")
  }

  /// Regression: a line of a pipe that is no URL had no record, and no record said which line it is about.
  @Test func `each line has a record with its number`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try TemporaryDirectory()
    let list = "\n\(server.url)/a\n# more\n\(server.url)/x/a\n"
    let result = try formstream(
      "get", "-q", "--json", "-O", "\(server.url)/z", "-O", "--files-from", "-", standardInput: Array(list.utf8),
      in: place)
    let lines = result.output.split(separator: "\n")
    #expect(result.exit == 66 && lines.count == 5, "\(result)")
    for (index, beginning) in [
      #""index":0,"list":null,"line":null,"url":"\#(server.url)/z","#,
      #""index":1,"list":"standard input","line":2,"url":"\#(server.url)/a","#,
      #""index":2,"list":"standard input","line":3,"url":null,"method":"GET","status":null,"outcome":"failed","attempts":0,"#,
      #""index":3,"list":"standard input","line":4,"url":"\#(server.url)/x/a","#,
    ].enumerated() where index < lines.count {
      #expect(lines[index].hasPrefix(#"{"schema":"formstream.result/5",\#(beginning)"#), "\(lines[index])")
    }
    #expect(result.output.contains(#""error":{"code":"invalid-url","message":"The URL (line 3 of"#), "\(result.output)")
    #expect(result.output.contains(#""error":{"code":"response-not-stored","message":"The URL (line 4 of"#))
  }

  @Test func `a URL whose file can't be opened has a record`() throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let result = try formstream("get", "--json", "-j", "2", "-X", "POST", "-o", "none/x", "\(server.url)/a")
    #expect(result.exit == 74 && server.connectionCount == 0, "\(result)")
    #expect(
      result.output.contains(#""index":0,"list":null,"line":null,"url":"\#(server.url)/a","method":"POST","status":null,"#))
    #expect(result.output.contains(#""error":{"code":"response-not-stored","#), "\(result.output)")
  }

  /// Regression: a comment had "no scheme", only the first of many wrong lines was named, and whether anything was requested
  /// stood nowhere.
  @Test func `wrong lines are named before anything is requested`() throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try TemporaryDirectory()
    try place.write("list", "# films\n  \(server.url)/a\n\n\(server.url)/b\n\(server.url)/c \nx\n")
    try place.write("marked", "\u{FEFF}\(server.url)/a\n")
    let result = try formstream("get", "-O", "--files-from", "list", in: place)
    #expect(result.exit == 64 && server.connectionCount == 0)
    #expect(
      result.stderr.hasSuffix(
        "(line 1 of \"list\") begins with #, and a list has no comments: leave the line out, for example with grep -v '^#'. "
          + "3 other lines are wrong, too: line 2 of \"list\", line 5 of \"list\", line 6 of \"list\". Nothing was requested.\n"
      ),
      "\(result.stderr)")
    let marked = try formstream("get", "-O", "--files-from", "marked", in: place)
    #expect(marked.stderr.hasSuffix("a byte order mark: save the list without one. Nothing was requested.\n"))
    let piped = try formstream(
      "get", "-O", "--files-from", "-", standardInput: Array("# a\n \(server.url)/a\n".utf8), in: place)
    #expect(piped.exit == 66 && piped.stderr.contains("has blanks before or after it"), "\(piped.stderr)")
    #expect(piped.stderr.contains("2 URLs: 2 failed.\nNothing was requested.\n"), "\(piped.stderr)")
    #expect(piped.stderr.contains("  2 invalid-url: "), "\(piped.stderr)")
  }

  /// Regression: a list began from its first line again.
  @Test func `files that are complete are left out, and the others go on where they ended`() throws {
    let body = String(repeating: "0123456789", count: 100)
    let headers = [("ETag", "\"v1\"")]
    let server = try ScriptedServer { request in
      switch (request.target, request.header("Range")) {
      case ("/a", nil): .good(headers: headers, body: body)
      case ("/b", nil): [.respond(200, headers: headers, body: body, framing: .announced(2000)), .close]
      case ("/b", "bytes=1000-"):
        .good(206, headers: headers + [("Content-Range", "bytes 1000-1999/2000")], body: body)
      default: [.unexpected]
      }
    }
    let place = try TemporaryDirectory()
    try place.write("list", "\(server.url)/a\n\(server.url)/b\n")
    let flags = ["get", "--retry", "0", "-C", "-", "--skip-existing", "-O", "--files-from", "list"]
    #expect(try run("formstream", flags, in: place).exit == 75)
    let result = try run("formstream", flags, in: place)
    #expect(result.exit == 0 && result.stderr.hasPrefix("2 URLs: 1 ok, 1 skipped.\n1000 B in "), "\(result.stderr)")
    #expect(server.requests.map(\.target) == ["/a", "/b", "/b"])
    let last = try run("formstream", flags + ["-j", "2", "--json"], in: place)
    #expect(last.exit == 0 && server.requests.count == 3, "\(last)")
    #expect(last.output.split(separator: #""outcome":"skipped","#).count == 3, "\(last.output)")
    #expect(last.output.contains(#""files":2,"ok":0,"#) && last.output.contains(#""skipped":2,"jobs":2,"bytes":0,"#))
    #expect(try shell("stat -c %s a b; ls", in: place).output == "1000\n2000\na\nb\nlist\n")
    let linked = try shell(
      "ln a c; $F get --json --skip-existing -o a -o c \(server.url)/a \(server.url)/b | grep -c skipped; rm c", in: place)
    #expect(linked.output == "2\n", "\(linked.stderr)")
    let one = try formstream("get", "--skip-existing", "-o", "a", "\(server.url)/a", in: place)
    #expect(one.exit == 0 && one.stderr.contains("\"a\" exists, so it was not requested."), "\(one.stderr)")
    #expect(server.requests.count == 3)
  }

  /// Regression: the phase of downloads was `sending`.
  @Test func `progress is receiving, and the summary adds up what the records say`() throws {
    let server = try ScriptedServer { request in
      // Without a validator, the file begins again.
      request.number == 0
        ? [.respond(200, body: "12345", framing: .announced(9)), .close] : .good(body: "123456789")
    }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "-j", "1", "--json", "--retry", "1", "--retry-delay", "0.01", "--progress", "json", "--remote-name-all",
      "\(server.url)/a", "\(server.url)/b", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.stderr.contains(#""phase":"receiving""#) && !result.stderr.contains(#""phase":"sending""#))
    #expect(result.output.contains(#""bytes_received":14,"#) && result.output.contains(#""bytes_received":9,"#))
    #expect(result.output.contains(#""jobs":1,"bytes":23,"#), "\(result.output)")
  }
}
