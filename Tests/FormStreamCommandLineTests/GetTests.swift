import FormStreamTestSupport
import Testing

/// `formstream get`: what is printed and stored, and how it ends.
@Suite struct GetTests {
  @Test func `the body goes to standard output, also that of a refusal`() throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/" ? 200 : 404, body: "text of \(request.target)")
    }
    let good = try formstream("get", server.url)
    #expect((good.exit, good.output) == (0, "text of /"))
    #expect(good.stderr == "")
    let refused = try formstream("get", "\(server.url)/x")
    #expect((refused.exit, refused.output) == (1, "text of /x"))
    #expect(refused.stderr.contains("responded 404 to GET"))
    #expect(server.requests.map(\.method) == ["GET", "GET"])
    #expect(server.requests.allSatisfy { $0.framing == .none })
  }

  @Test func `a file is replaced by a success only`() throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/" ? 200 : 500, body: "new")
    }
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let refused = try formstream("get", "--retry", "0", "-o", "f", "\(server.url)/x", in: place)
    #expect((refused.exit, refused.output) == (75, "new"))
    #expect(try shell("cat f; ls", in: place).output == "oldf\n")
    let good = try formstream("get", "-o", "f", server.url, in: place)
    #expect((good.exit, good.output) == (0, ""), "\(good.stderr)")
    #expect(try shell("cat f; ls", in: place).output == "newf\n")
  }

  @Test func `of many URLs each has its outcome, and the worst counts`() throws {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/busy": .good(503, headers: [("Retry-After", "0")], body: "busy")
      case "/missing": .good(404, body: "missing")
      default: .good(body: request.target)
      }
    }
    let place = try TemporaryDirectory()
    let (good, busy, missing) = ("\(server.url)/a", "\(server.url)/busy", "\(server.url)/missing")
    for (urls, exit) in [
      ([good, good], 0), ([busy, good], 75), ([good, busy, missing, good], 1),
      ([missing, busy], 1),
    ] {
      let result = try run("formstream", ["get", "--retry", "0"] + urls, in: place)
      #expect(result.exit == Int32(exit), "\(result.stderr)")
      let bodies = urls.map { $0.split(separator: "/").last ?? "" }.map { $0 == "a" ? "/a" : $0 }
      #expect(result.output == bodies.joined())
      #expect(result.stderr.split(separator: "\n").count == urls.count { $0 != good })
    }
    let records = try formstream("get", "--json", "--retry", "0", missing, good, in: place)
    #expect(records.exit == 1)
    let lines = records.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""status":404,"outcome":"failed""#))
    #expect(lines[1].contains(#""url":"\#(good)","method":"GET","status":200,"outcome":"ok""#))
    #expect(lines[1].contains(#""bytes_received":2,"resumed_from":null,"stored_as":null"#))
    // They share a connection.
    #expect(server.connections.last?.requests.count == 2)
  }

  @Test func `the first output is for the first URL`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "-o", "one", "-O", "\(server.url)/a", "\(server.url)/dir/b%20c", "\(server.url)/d",
      in: place)
    #expect((result.exit, result.output) == (0, "/d"), "\(result.stderr)")
    let files = try shell("for f in *; do echo \"$f: $(cat \"$f\")\"; done", in: place).output
    #expect(files == "b c: /dir/b%20c\none: /a\n")
  }

  @Test(arguments: [
    (["-C", "-", "URL"], "name it with -o or -O"), (["-C", "x", "-o", "f", "URL"], "-C - goes on"),
    (["-C", "5", "-r", "1-", "URL"], "leave one out"), (["-C", "-5", "URL"], "-C - goes on"),
    (["-C", "5", "--compressed", "URL"], "can't be used with"),
    (["-C", "99999999999999999999", "URL"], "-C - goes on"),
    (["-z", "no such time", "URL"], "neither a time nor a file"), (["-z", "", "URL"], "neither"),
    (["-z", "31 Foo 2000", "URL"], "neither"), (["-z", "1 Jan 2000 25:00:00", "URL"], "neither"),
    (["-z", "2000-01-01", "-H", "If-Modified-Since: x", "URL"], "-z and -H"),
    (["-r", "1-2,x", "URL"], "is not a range"), (["-r", ",", "URL"], "is not a range"),
    (["-r", "0-1,5-", "-o", "f", "URL"], "several ranges"),
    (["-C", "-", "-r", "1-", "-o", "f", "URL"], "leave one out"),
    (["-C", "-", "--compressed", "-o", "f", "URL"], "can't be used with -C"),
    (["-r", "1-", "--compressed", "URL"], "can't be used with --range"),
    (["-r", "5", "URL"], "is not a range"), (["-r", "5-4", "URL"], "is not a range"),
    (["-r", "-0", "URL"], "is not a range"),
    (["-r", "-", "URL"], "is not a range"), (["-r", "1-", "-H", "Range: x", "URL"], "both set"),
    (["-o", "f", "-o", "./f", "URL", "URL"], "Two responses"),
    (["-o", "f", "-o", ".//.//f", "URL", "URL"], "Two responses"),
    (["-o", "../\\PLACE/f", "-o", "f", "URL", "URL"], "Two responses"),
    (["-o", "d/f", "-o", "d/./f", "--create-dirs", "URL", "URL"], "Two responses"),
    (["--output-dir", ".", "-O", "-o", "../\\PLACE/x", "URL", "URL"], "Two responses"),
    (["-O", "-O", "URL", "URL"], "Two responses"), (["-o", "f", "URL[1-2]"], "Two responses"),
    (["-o", "#2", "URL[1-2]"], "Two responses"),
    (["URL[1-10001]"], "stands for more than 10000 URLs"),
    (["URL[1-999][1-999]"], "smaller range, or -g"),
    (["-o", "f", "-O", "URL[1-2]"], "Two responses"),
    (["-o", "", "URL"], "-o needs the name"),
    (["--output-dir", "", "-O", "URL"], "--output-dir needs the name"),
    (["--output-dir", "", "-o", "f", "URL"], "--output-dir needs the name"),
    (["--output-dir", "", "-J", "URL"], "--output-dir needs the name"),
    (["--json", "-o", "-", "URL"], "both print"),
    (["--sha256", "abc", "URL"], "64 hexadecimal digits"),
    (["--sha256", String(repeating: "a", count: 64), "URL", "URL"], "for each, in their order"),
    (["-J", "--compressed", "URL"], "with -o"), (["--max-response", "5", "URL"], "--max-response"),
    ([], "Name the URL to get"), (["--url-file", "u", "URL"], "both name the URL"),
    (["-X", "not a method", "URL"], "is not a method"), (["-d", "a", "URL"], "get sends none"),
    (["-F", "a=b", "URL"], "formstream post sends it"),
    (["--to-curl", "URL"], "-v shows the head"),
  ])
  func `what can't be meant is refused before anything is requested`(
    _ arguments: [String], _ says: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try TemporaryDirectory()
    let directory = place.path.split(separator: "/").last ?? ""
    let typed = arguments.map {
      $0.hasPrefix("URL")
        ? "\(server.url)/x\($0.dropFirst(3))" : $0.replacing("\\PLACE", with: directory)
    }
    let result = try run("formstream", ["get"] + typed, in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.connectionCount == 0)
    #expect(try shell("ls", in: place).output == "")
  }

  // MARK: Patterns

  private static let patterns: [(flags: [String], urls: [String], targets: [String], files: String)] =
    [
      (["-O"], ["/f[08-10]"], ["/f08", "/f09", "/f10"], "f08 f09 f10"),
      (
        ["-o", "#1-#2.txt"], ["/{a,b}/[1-3:2]"], ["/a/1", "/a/3", "/b/1", "/b/3"],
        "a-1.txt a-3.txt b-1.txt b-3.txt"
      ),
      (["-o", "x#1", "-o", "#1"], ["/[a-b]", "/c"], ["/a", "/b", "/c"], "#1 xa xb"),
      (["-o", "#0#1#3"], ["/[5-5]"], ["/5"], "#05#3"),
      (["-s"], ["/{,x}"], ["/", "/x"], ""),
    ]

  @Test(arguments: patterns)
  func `a pattern stands for the same URLs and files as with curl`(
    _ flags: [String], _ urls: [String], _ targets: [String], _ files: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "a") }
    let words = flags + urls.map { server.url + $0 }
    for isCurl in [false, true] {
      let place = try TemporaryDirectory()
      let before = server.requests.count
      let result =
        isCurl
        ? try run(program: "/usr/bin/env", ["curl", "-q", "-sS"] + words, in: place)
        : try run("formstream", ["get", "-q"] + words, in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.requests.dropFirst(before).map(\.target) == targets, "curl: \(isCurl)")
      #expect(try shell("LC_ALL=C ls | xargs", in: place).output == files + "\n")
    }
  }

  // MARK: Ranges

  @Test(arguments: [
    ("4-7", "bytes 4-7/9", 0), ("4-7", "bytes 4-7/*", 0), ("4-20", "bytes 4-8/9", 0),
    ("4-", "bytes 4-8/9", 0), ("-4", "bytes 5-8/9", 0), ("-20", "bytes 0-8/9", 0),
    ("4-7", "bytes 0-3/9", 1), ("4-7", "bytes 4-6/9", 1), ("4-7", "bytes 4-8/9", 1),
    ("4-", "bytes 4-7/9", 1), ("4-", "bytes 4-7/*", 1), ("-4", "bytes 4-7/9", 1),
    ("-20", "bytes 1-8/9", 1), ("4-7", "bytes 4-7/7", 1), ("4-7", "", 1), ("4-7", "items 4-7/9", 1),
    ("0-9", "bytes 0-9223372036854775807/9", 1),
  ])
  func `only the bytes of a range are a success`(
    _ range: String, _ contentRange: String, _ exit: Int32
  ) throws {
    // As many bytes as the range has.
    let ends = contentRange.split { " -/".contains($0) }.compactMap { Int($0) }
    let count = ends.count > 1 && ends[1] < 100 ? ends[1] - ends[0] + 1 : 4
    let server = try ScriptedServer { _ in
      .good(
        206, headers: contentRange.isEmpty ? [] : [("Content-Range", contentRange)],
        body: String(repeating: "b", count: count))
    }
    let place = try TemporaryDirectory()
    let result = try formstream("get", "-r", range, "-o", "f", server.url, in: place)
    #expect(result.exit == exit, "\(result.stderr)")
    #expect(try shell("ls", in: place).output == (exit == 0 ? "f\n" : ""))
    #expect(server.requests.first?.header("Range") == "bytes=\(range)")
  }

  @Test func `the complete resource in place of a range is an error, and is not printed`() throws {
    let server = try ScriptedServer { request in
      .good(request.target == "/" ? 200 : 416, body: "text")
    }
    let result = try formstream("get", "-r", "0-1", server.url)
    #expect((result.exit, result.output) == (1, ""))
    #expect(result.stderr.contains("complete file in place of --range"), "\(result.stderr)")
    let refused = try formstream("get", "-r", "7-8", "\(server.url)/x")
    #expect((refused.exit, refused.output) == (1, "text"))
  }

  /// The number of bytes was not looked at, and of several headers only the first.
  @Test(arguments: [
    (["bytes 4-7/9"], 3), (["bytes 4-7/9"], 5), (["bytes 4-7/9"], 0),
    (["bytes 4-7/9", "bytes 4-7/9"], 4), (["bytes 4-7/9", "bytes 0-3/9"], 4),
  ])
  func `a range with another number of bytes than it says is an error`(
    _ contentRanges: [String], _ count: Int
  ) throws {
    let server = try ScriptedServer { request in
      [
        .respond(
          206, headers: contentRanges.map { ("Content-Range", $0) },
          body: String(repeating: "b", count: count),
          // The end of the connection, too, is the end of a body.
          framing: request.target == "/" ? .contentLength : .close)
      ]
    }
    let place = try TemporaryDirectory()
    for path in ["/", "/close"] {
      for output in [["-o", "f"], ["--json"], ["--json", "--max-response", "2"], []] {
        let arguments = ["get", "-r", "4-7"] + output + [server.url + path]
        let result = try run("formstream", arguments, in: place)
        #expect(result.exit == 1, "\(output) \(result.stderr)")
        #expect(try shell("ls", in: place).output == "")
        #expect(
          output.first != "--json" || result.output.contains(#""code":"malformed-response""#),
          "\(result.output)")
      }
    }
  }

  // MARK: Statuses

  /// Only a plain download looked at the status: with any of these flags, each 2xx replaced the file.
  @Test(arguments: [201, 202, 204, 206], ["-o f", "--compressed -o f", "--json -o f", "-O"])
  func `a success for a file is the complete file`(_ status: Int, _ flags: String) throws {
    let server = try ScriptedServer { _ in
      .good(
        status, headers: status == 206 ? [("Content-Range", "bytes 0-3/9")] : [],
        body: status == 204 ? "" : "part")
    }
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let result = try shell("$F get \(flags) \(server.url)/f > out; echo $?; cat f; ls", in: place)
    #expect(result.output == "1\noldf\nout\n", "\(result.output)")
    let any = try shell(
      "$F get --output-any-status \(flags) \(server.url)/f > out; echo $?; cat f", in: place)
    #expect(any.output == "1\n\(status == 204 ? "" : "part")", "\(any.output)")
  }

  @Test func `without a file each success but a part is printed`() throws {
    let server = try ScriptedServer { request in
      let status = Int(request.target.dropFirst()) ?? 0
      return .good(status, body: status == 204 ? "" : "body")
    }
    for (status, exit) in [(200, 0), (201, 0), (203, 0), (204, 0), (206, 1)] {
      for flags in [[], ["--compressed"], ["--json"]] {
        let result = try run("formstream", ["get"] + flags + ["\(server.url)/\(status)"])
        #expect(result.exit == Int32(exit), "\(status) \(flags) \(result.stderr)")
        if flags != ["--json"] { #expect(result.output == (status == 204 ? "" : "body")) }
      }
    }
  }

  /// Regression: the rule for a complete file held for all methods and all outputs.
  @Test(arguments: [
    ("-X DELETE -s -o /dev/null", 204), ("-o /dev/null", 204), ("-o /dev/null", 201),
    ("-X POST -o f", 201), ("-X PROPFIND -o f", 207), ("-X PROPFIND -O", 207), ("-I -o f", 204),
    ("-X DELETE -O", 202), ("-X POST -i -o f", 201), ("--expect-status 201 -o f", 201),
    ("--json -X DELETE -o f", 204), ("-o /dev/stdout", 201),
  ])
  func `a success that is no complete file is stored if that is not what was asked for`(
    _ flags: String, _ status: Int
  ) throws {
    let server = try ScriptedServer { _ in .good(status, body: status == 204 ? "" : "body") }
    let result = try shell("$F get \(flags) \(server.url)/f")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    ("-o f", 201, "--expect-status 201"), ("-o f", 204, "--expect-status 204"),
    ("-O", 202, "--expect-status 202"), ("-i -o f", 201, "--expect-status 201"),
    ("-o f", 206, "without being asked"), ("-o /dev/null", 206, "without being asked"),
    ("", 206, "without being asked"),
  ])
  func `why a success is not stored is said`(
    _ flags: String, _ status: Int, _ says: String
  ) throws {
    let server = try ScriptedServer { _ in
      .good(status, headers: [("Content-Range", "bytes 0-3/9")], body: status == 204 ? "" : "part")
    }
    let result = try shell("$F get \(flags) \(server.url)/f; echo $?; ls")
    #expect(result.output.hasSuffix("1\n") && !result.output.hasSuffix("f\n"), "\(result.output)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    let chosen = try shell("$F get --expect-status 200 -o f \(server.url)/f")
    #expect(chosen.exit == 1)
    #expect(status == 206 || !chosen.stderr.contains("--expect-status"), "\(chosen.stderr)")
  }

  // MARK: Digests

  @Test(arguments: ["", "-o f", "--json"])
  func `a body with another digest is an error`(_ flags: String) throws {
    let server = try ScriptedServer { _ in .good(body: "abc") }
    let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    for (digest, exit) in [(right, "0"), (right.replacing("ba", with: "ab"), "1")] {
      let result = try shell(
        "$F get \(flags) --sha256 \(digest) \(server.url) >out 2>err; echo $?; ls")
      let isStored = flags == "-o f" && exit == "0"
      #expect(result.output == "\(exit)\nerr\n\(isStored ? "f\n" : "")out\n", "\(result.output)")
    }
    let record = try formstream(
      "get", "--json", "--sha256", String(repeating: "0", count: 64), server.url)
    #expect(record.output.contains(#""outcome":"failed""#), "\(record.output)")
    #expect(record.output.contains(#""code":"digest-mismatch""#))
  }

  // MARK: Compression

  @Test func `a compressed response is stored decompressed, and one that is cut off is not`() throws {
    let place = try TemporaryDirectory()
    try place.write("plain", noise(100_000))
    let coded = try shell("gzip -c plain", in: place).stdout
    let server = try ScriptedServer { request in
      let bytes = request.target == "/cut" ? Array(coded.dropLast(9)) : coded
      return [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: bytes)]
    }
    let result = try formstream(
      "get", "--compressed", "--json", "-o", "f", server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output.contains(#""bytes_received":\#(coded.count),"#), "\(result.output)")
    #expect(try shell("cmp f plain", in: place).exit == 0)
    let cut = try formstream("get", "--compressed", "-o", "g", "\(server.url)/cut", in: place)
    #expect(cut.exit == 1)
    #expect(cut.stderr.contains("ends before its compressed data does"), "\(cut.stderr)")
    #expect(try shell("ls", in: place).output == "f\nplain\n")
  }

  /// 10 MB that would be 10 GB.
  @Test func `a bomb of gzip is stopped at the limit`() throws {
    let member = try shell("head -c 16777216 /dev/zero | gzip -9").stdout
    let bomb = Array(repeatElement(member, count: 640).joined())
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Encoding", "gzip")], bytes: bomb)]
    }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "--compressed", "--max-filesize", "20M", "-o", "f", server.url, in: place)
    #expect(result.exit == 1)
    #expect(
      result.stderr.contains("20971520 bytes after decompression: raise --max-filesize"),
      "\(result.stderr)")
    #expect(try shell("ls", in: place).output == "")
    let printed = try shell("$F get --compressed \(server.url) --max-filesize 20M | wc -c")
    #expect((Int(printed.output.filter(\.isNumber)) ?? .max) <= 20 << 20)
  }

  /// How a response of 20,000,000 bytes ends that is longer than what a record keeps, and the flags of the request.
  private static let longResponses: [(flags: [String], announced: Int, exit: Int32, received: Int)] = [
    ([], 20_000_000, 0, 20_000_000), ([], 30_000_000, 75, 20_000_000),
    (["--max-filesize", "19M"], 20_000_000, 1, 0),
    (["-r", "0-19999999"], 20_000_000, 0, 20_000_000),
  ]

  @Test(arguments: longResponses.indices)
  func `a record says ok of a response only if all of it has arrived`(_ index: Int) throws {
    let test = Self.longResponses[index]
    let bytes = [UInt8](repeating: 120, count: 20_000_000)
    let server = try ScriptedServer { request in
      let part = [("Content-Range", "bytes 0-19999999/50000000")]
      return [
        .respond(
          test.flags.first == "-r" ? 206 : 200, headers: test.flags.first == "-r" ? part : [],
          bytes: bytes, framing: .announced(test.announced))
      ]
    }
    let result = try run(
      "formstream", ["get", "--json", "--retry", "0"] + test.flags + [server.url])
    #expect(result.exit == test.exit, "\(result.stderr)")
    #expect(result.output.contains("\"outcome\":\"ok\"") == (test.exit == 0))
    #expect(result.output.contains("\"bytes_received\":\(test.received),"))
  }

  @Test func `a password that was refused is not sent with the next URL`() throws {
    let server = try ScriptedServer { _ in
      .good(401, headers: [("WWW-Authenticate", "Basic realm=a")])
    }
    let result = try formstream(
      "get", "-u", "me:canary", server.url + "/a", server.url + "/b", server.url + "/c")
    #expect(result.exit == 1)
    #expect(result.stderr.contains("were refused before"), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
    #expect(server.requests.map(\.target) == ["/a"])
  }
}
