import FormStreamTestSupport
import Testing

/// What curl's users write with `get`, and what they expect of it.
@Suite struct GetIdiomTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  // MARK: Times

  @Test(arguments: ["-o f", "-O", "-J", "-i -o f", "--compressed -o f", "-C - -o f"])
  func `-R gives a file the server's time`(_ flags: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      .good(headers: [("Last-Modified", Self.date)], body: "a")
    }
    let result = try shell("$F get -R \(flags) \(server.url)/f && stat -c %Y f", in: place)
    #expect(result.output == "784111777\n", "\(result.stderr)")
    #expect(result.stderr == "")
  }

  @Test func `-R without a time, or without a success, changes nothing`() throws {
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let server = try ScriptedServer { request in
      request.target == "/no"
        ? .good(404, headers: [("Last-Modified", Self.date)])
        : .good(headers: [("Last-Modified", "soon")], body: "new")
    }
    for path in ["/no", "/f"] {
      let result = try shell("$F get -R -o f \(server.url)\(path); stat -c %Y f", in: place)
      #expect(Int(result.output.split(separator: "\n").last ?? "") ?? 0 > 1_700_000_000)
    }
  }

  @Test(arguments: [
    (date, "If-Modified-Since: \(date)"), ("-\(date)", "If-Unmodified-Since: \(date)"),
    ("dec 12 12:00:00 1999 GMT", "If-Modified-Since: Sun, 12 Dec 1999 12:00:00 GMT"),
    ("12 Dec 1999 14:00:00 +0200", "If-Modified-Since: Sun, 12 Dec 1999 12:00:00 GMT"),
    ("1999-12-12", "If-Modified-Since: Sun, 12 Dec 1999 00:00:00 GMT"),
    ("1999-12-12T12:00:00Z", "If-Modified-Since: Sun, 12 Dec 1999 12:00:00 GMT"),
    ("1999-12-12t14:00:00.25+02:00", "If-Modified-Since: Sun, 12 Dec 1999 12:00:00 GMT"),
    ("19991212 12:00:00", "If-Modified-Since: Sun, 12 Dec 1999 12:00:00 GMT"),
    ("-1 Jan 1970", "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT"),
    ("old", "If-Modified-Since: Tue, 01 Feb 2000 10:00:00 GMT"),
    ("-old", "If-Unmodified-Since: Tue, 01 Feb 2000 10:00:00 GMT"),
  ])
  func `-z asks for what is newer than a time or a file`(_ value: String, _ header: String) throws {
    let place = try TemporaryDirectory()
    _ = try shell("touch -d 2000-02-01T10:00:00Z old", in: place)
    let server = try ScriptedServer { _ in .good(body: "new") }
    let result = try formstream("get", "-z", value, server.url, in: place)
    #expect((result.exit, result.output) == (0, "new"), "\(result.stderr)")
    let head = String(decoding: server.requests.first?.head ?? [], as: UTF8.self)
    #expect(head.contains("\r\n\(header)\r\n"), "\(head)")
  }

  @Test(arguments: ["-o f", "-O", "-J", "-i -o f", "--compressed -o f", "-C - -o f", "-I -o f"])
  func `what has not changed is a success, and the file stays`(_ flags: String) throws {
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let server = try ScriptedServer { _ in [.respond(304)] }
    for condition in ["-z f", "-H 'If-None-Match: \"1\"'"] {
      let result = try shell(
        "$F get \(flags) \(condition) \(server.url)/f; echo $?; cat *", in: place)
      #expect(result.output == "0\nold", "\(result.stderr)")
    }
    let printed = try shell("$F get -z f \(server.url); echo $?", in: place)
    #expect(printed.output == "0\n", "\(printed.stderr)")
    // Nothing was sent that could have the digest.
    let digest = String(repeating: "0", count: 64)
    for flags in ["", "-o g", "--compressed", "--json", "-i"] {
      let checked = try shell(
        "$F get -q \(flags) -z f --sha256 \(digest) \(server.url) >out; echo $?", in: place)
      #expect(checked.output == "0\n", "\(flags): \(checked.stderr)")
    }
    // Nobody asked whether it has changed.
    #expect(try formstream("get", "-o", "f", server.url, in: place).exit == 1)
  }

  /// A server that ignores the condition sent the file, and `-z f -o f` replaced a newer one.
  @Test(arguments: [
    ("dec 12 11:00:00 1999 GMT", "Tue, 13 Jun 1990 12:10:00 GMT", false),
    ("dec 12 11:00:00 1999 GMT", "Sun, 12 Dec 1999 11:00:00 GMT", false),
    ("dec 12 11:00:00 1999 GMT", "Sunday, 12-Dec-99 11:00:01 GMT", true),
    ("-dec 12 11:00:00 1999 GMT", "Sun, 12 Dec 1999 11:00:00 GMT", false),
    ("-dec 12 11:00:00 1999 GMT", "Sun Dec 12 10:59:59 1999", true),
    ("dec 12 11:00:00 1999 GMT", "soon", true), ("f", "Tue, 13 Jun 1990 12:10:00 GMT", false),
  ])
  func `what is not wanted by its Last-Modified is not taken, even if the server sends it`(
    _ condition: String, _ modified: String, _ isWanted: Bool
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let server = try ScriptedServer { _ in
      .good(headers: [("Last-Modified", modified)], body: "new")
    }
    let printed = try formstream("get", "-z", condition, server.url, in: place)
    #expect((printed.exit, printed.output) == (0, isWanted ? "new" : ""), "\(printed.stderr)")
    let status = try formstream(
      "get", "-z", condition, "-w", " %{response_code}", server.url, in: place)
    #expect(status.output == (isWanted ? "new 200" : " 304"), "\(status.stderr)")
    let record = try formstream("get", "-z", condition, "--json", server.url, in: place)
    #expect(record.exit == 0 && record.output.contains("\"outcome\":\"ok\""), "\(record.output)")
    #expect(record.output.contains("\"new\"") == isWanted, "\(record.output)")
    for flags in ["-o f", "-O", "-i -o f", "--compressed -o f", "-C - -o f"] {
      try place.write("f", "old")
      let result = try shell(
        "touch -d 1999-06-01T00:00:00Z f; $F get -q \(flags) -z '\(condition)' \(server.url)/f; echo $?; tail -n 1 f; echo; ls",
        in: place)
      #expect(
        result.output == "0\n\(isWanted ? "new" : "old")\nf\n", "\(flags): \(result.stderr)")
    }
  }

  @Test func `a head or a part is taken, whatever its Last-Modified says to -z`() throws {
    let place = try TemporaryDirectory()
    let modified = ("Last-Modified", "Tue, 13 Jun 1990 12:10:00 GMT")
    let server = try ScriptedServer { request in
      request.header("Range") == nil
        ? .good(headers: [modified], body: "abc")
        : .good(206, headers: [modified, ("Content-Range", "bytes 1-2/3")], body: "bc")
    }
    let head = try shell(
      "$F get -I -z '12 Dec 1999' -o f -w '%{http_code}' \(server.url); echo; cat f", in: place)
    #expect(head.output.hasPrefix("200\nHTTP/1.1 200 OK\r\nLast-"), "\(head.output)\(head.stderr)")
    for flags in ["-r 1-2", "-C 1", "-r 1-2 -o g"] {
      let part = try shell(
        "$F get \(flags) -z '12 Dec 1999' -w '%{http_code}' \(server.url); cat g 2>/dev/null",
        in: place)
      #expect(part.output.replacing("206", with: "") == "bc", "\(flags): \(part.stderr)")
      #expect(part.output.contains("206"), "\(flags): \(part.output)")
    }
  }

  // MARK: Redirects

  /// With -L, curl prints no response of a redirect, followed or not.
  @Test(arguments: [
    ("get -L", "gopher://example.org/"), ("get -L", "http:////a/b"),
    ("get -L --max-redirs 0", "/elsewhere"), ("post -L -d a", "/elsewhere"),
  ])
  func `with -L the response of a redirect that is not followed is not printed`(
    _ line: String, _ location: String
  ) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      .good(302, headers: [("Location", location)], body: "gone")
    }
    let result = try shell("$F \(line) \(server.url)/x; echo $?", in: place)
    #expect(result.output == "1\n", "\(result.stderr)")
    #expect(result.stderr.contains("redirect"), "\(result.stderr)")
    let record = try shell("$F \(line) --json \(server.url)/x", in: place)
    #expect(record.output.contains("\"gone\""), "\(record.output)")
    let stored = try shell(
      "$F \(line) --output-any-status -o f \(server.url)/x; cat f", in: place)
    #expect(stored.output == "gone", "\(stored.stderr)")
    let without = try shell(
      "$F \(line.replacing(" -L", with: "")) --max-redirs 0 \(server.url)/x", in: place)
    #expect(without.output == "gone", "\(without.stderr)")
  }

  @Test func `-w names the target of a redirect of another protocol as it is`() throws {
    let server = try ScriptedServer { request in
      .good(
        301,
        headers: [
          (
            "Location",
            request.target == "/x" ? "ht3p://localhost/" : "ht3p://me:canary@h/?token=canary"
          )
        ])
    }
    let result = try formstream("get", "-w", "%{redirect_url}\\n", "\(server.url)/x")
    #expect(result.output == "ht3p://localhost/\n", "\(result.stderr)")
    let secret = try formstream("get", "-w", "%{redirect_url}\\n", "\(server.url)/y")
    #expect(secret.output == "ht3p://me:canary@h/?token=canary\n", "\(secret)")
  }

  // MARK: Names that are taken

  @Test(arguments: ["-o f", "-O", "-i -o f", "--compressed -o f", "-o f -R"])
  func `with --no-clobber no file is replaced, and names get numbers as in curl`(
    _ flags: String
  ) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in .good(body: "\(request.number)") }
    for count in 1...3 {
      let result = try formstreamWords("get --no-clobber \(flags) \(server.url)/f", in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(
        try shell("ls | xargs", in: place).output
          == ["f", "f f.1", "f f.1 f.2"][count - 1] + "\n")
    }
    #expect(try shell("tail -qn 1 f f.1 f.2", in: place).output == "012")
    let replaced = try formstreamWords(
      "get --no-clobber --clobber \(flags) \(server.url)/f", in: place)
    #expect(replaced.exit == 0, "\(replaced.stderr)")
    #expect(try shell("tail -qn 1 f; ls | wc -l", in: place).output == "33\n")
  }

  private func formstreamWords(_ line: String, in place: TemporaryDirectory) throws -> Invocation {
    try run("formstream", line.split(separator: " ").map(String.init), in: place)
  }

  @Test func `with --remove-on-error nothing is left of a download that failed`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("ETag", "\"1\"")], body: "half", framing: .announced(8)), .close]
    }
    let line = "$F get -q --retry 0 -o f \(server.url)"
    #expect(try shell("\(line); ls | xargs", in: place).output == "f.part f.part.json\n")
    let result = try shell("\(line) --remove-on-error; echo $?; ls", in: place)
    #expect(result.output == "75\n", "\(result.stderr)")
    #expect(!result.stderr.contains("-C -"))
    let both = try shell("\(line) --remove-on-error -C -", in: place)
    #expect(both.exit == 64 && both.stderr.contains("--remove-on-error"))
  }

  // MARK: Parts

  private func partServer() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.header("Range") {
      case "bytes=4-": .good(206, headers: [("Content-Range", "bytes 4-7/8")], body: "part")
      case "bytes=0-1,4-5":
        .good(
          206, headers: [("Content-Type", "multipart/byteranges; boundary=b")], body: "--b parts")
      case "bytes=0-1,2-3":
        .good(206, headers: [("Content-Range", "bytes 0-3/8")], body: "a pa")
      default: .good(body: "the whole")
      }
    }
  }

  @Test func `-C N prints what begins at a byte, or stores it in a new file`() throws {
    let (place, server) = (try TemporaryDirectory(), try partServer())
    let printed = try formstream("get", "-C", "4", server.url, in: place)
    #expect((printed.exit, printed.output) == (0, "part"), "\(printed.stderr)")
    let stored = try formstream("get", "-C4", "-o", "f", server.url, in: place)
    #expect(stored.exit == 0, "\(stored.stderr)")
    #expect(place.text("f") == "part")
    // It would have to be put together from two versions, or be lost.
    let count = server.requests.count
    let again = try formstream("get", "-C", "4", "-o", "f", server.url, in: place)
    #expect(again.exit == 64 && again.stderr.contains("-C -"), "\(again.stderr)")
    #expect(place.text("f") == "part" && server.requests.count == count)
    let whole = try formstream("get", "-C", "0", "-o", "g", server.url, in: place)
    #expect(whole.exit == 0 && place.text("g") == "the whole", "\(whole.stderr)")
    let other = try formstream("get", "-C", "5", server.url, in: place)
    #expect(other.exit == 1 && other.output == "", "\(other.stderr)")
  }

  /// curl prints nothing but the rest, so that it can be appended to what is there.
  @Test(
    arguments: [
      (416, [("Content-Range", "bytes */87")], "bad", Int32(0)),
      (416, [("Content-Range", "bytes */88")], "bad", 1), (416, [], "bad", 1),
      (404, [], "not found", 1), (200, [], String(repeating: "x", count: 87), 0),
      (200, [], String(repeating: "x", count: 88), 1),
      (200, [("Content-Encoding", "gzip")], String(repeating: "x", count: 87), 1),
    ] as [(Int, [(String, String)], String, Int32)])
  func `-C N prints nothing but what begins there, and nothing is left after the end`(
    _ status: Int, _ headers: [(String, String)], _ body: String, _ exit: Int32
  ) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(status, headers: headers, body: body) }
    let printed = try formstream("get", "-C", "87", server.url, in: place)
    #expect((printed.exit, printed.output) == (exit, ""), "\(printed.stderr)")
    #expect(printed.stderr.isEmpty == (exit == 0), "\(printed.stderr)")
    let stored = try shell("$F get -C 87 -o f \(server.url); echo $?; ls", in: place)
    #expect(stored.output == "\(exit)\n", "\(stored.stderr)")
    let record = try formstream("get", "-C", "87", "--json", server.url, in: place)
    #expect(
      record.output.contains("\"outcome\":\"\(exit == 0 ? "ok" : "failed")\""), "\(record.output)")
    let failing = try formstream("get", "-f", "-C", "87", server.url, in: place)
    #expect((failing.exit, failing.output) == (status == 416 ? 1 : exit, ""), "\(failing.stderr)")
    // Who asks for a range is told why there is none.
    if status != 200 {
      let range = try formstream("get", "-r", "87-", server.url, in: place)
      #expect((range.exit, range.output) == (1, body), "\(range.stderr)")
    }
  }

  @Test func `several ranges are printed as they come`() throws {
    let (place, server) = (try TemporaryDirectory(), try partServer())
    let several = try formstream("get", "-r", "0-1,4-5", server.url, in: place)
    #expect((several.exit, several.output) == (0, "--b parts"), "\(several.stderr)")
    // RFC 9110 §15.3.7.1: a server may join ranges.
    let joined = try formstream("get", "-r", "0-1,2-3", server.url, in: place)
    #expect((joined.exit, joined.output) == (0, "a pa"), "\(joined.stderr)")
    let ignored = try formstream("get", "-r", "0-1,6-7", server.url, in: place)
    #expect(ignored.exit == 1 && ignored.output == "", "\(ignored.stderr)")
    let file = try formstream("get", "-r", "0-1,4-5", "-o", "f", server.url, in: place)
    #expect(file.exit == 64 && file.stderr.contains("standard output"), "\(file.stderr)")
  }

  // MARK: Outputs

  @Test(arguments: ["get", "post -d a"])
  func `an output without a URL is left over, and said`(_ verb: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "a") }
    let result = try shell("$F \(verb) -o f -o g \(server.url); echo $?; ls", in: place)
    #expect(result.output == "0\nf\n", "\(result.stderr)")
    #expect(result.stderr.contains("-o and -O are given 2 times"), "\(result.stderr)")
  }

  @Test func `a number of -o without a pattern is itself, and the file can't be that of two URLs`()
    throws
  {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "a") }
    let one = try formstream("get", "-o", "f#2", "\(server.url)/[1-1]", in: place)
    #expect(one.exit == 0 && place.text("f#2") == "a", "\(one.stderr)")
    let two = try formstream("get", "-o", "f#2", "\(server.url)/[1-2]", in: place)
    #expect(two.exit == 64 && two.stderr.contains("#2 stands for itself"), "\(two.stderr)")
  }

  @Test(arguments: [
    (["get", "-O"], "/"), (["get", "-O"], ""), (["get", "-O"], "/dir/"), (["get", "-O"], "?a=b"),
    (["get", "--remote-name-all"], "/"), (["post", "-d", "a", "-O"], "/"),
  ])
  func `-O is refused where a URL has no name`(_ words: [String], _ path: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "a") }
    let result = try run("formstream", words + [server.url + path], in: place)
    #expect(
      result.exit == 64 && result.stderr.contains("has no name at its end"), "\(result.stderr)")
    #expect(server.connectionCount == 0)
    // The server may have one.
    #expect(try formstream("get", "-J", server.url, in: place).exit == 0)
  }

  @Test(arguments: ["POST", "GET", "DELETE", "HEAD"])
  func `-I with -X sends the method, and prints the head alone`(_ method: String) throws {
    let server = try ScriptedServer { _ in .good(headers: [("X-A", "1")], body: "the body") }
    let result = try formstream("get", "-X", method, "-I", server.url)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output == "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 8\r\n\r\n")
    #expect(server.requests.map(\.method) == [method])
  }

  // MARK: Digests

  @Test(arguments: [
    "DIGEST  f", "DIGEST *f", "\\DIGEST  f\\nn", "DIGEST  f\n", " DIGEST", "SHA256 (f) = DIGEST",
  ])
  func `the line of a digest is taken as one`(_ line: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "a") }
    for (digest, exit) in [
      ("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", Int32(0)),
      (String(repeating: "0", count: 64), 1),
    ] {
      let result = try formstream(
        "get", "--sha256", line.replacing("DIGEST", with: digest), "-o", "f", server.url, in: place)
      #expect(result.exit == exit, "\(result.stderr)")
    }
  }

  @Test func `a digest whose name is a word of its own is explained`() throws {
    let place = try TemporaryDirectory()
    try place.write("f.sha256", "\(String(repeating: "0", count: 64))  film.mp4\n")
    let result = try shell(
      "$F get -O --sha256 $(cat f.sha256) http://127.0.0.1:1/film.mp4", in: place)
    #expect(result.exit == 64)
    #expect(result.stderr.contains("quote it"), "\(result.stderr)")
  }
}

extension TemporaryDirectory {
  fileprivate func text(_ name: String) -> String? {
    try? shell("cat '\(name)'", in: self).output
  }
}
