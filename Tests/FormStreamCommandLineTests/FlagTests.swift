import Testing
import FormStreamTestSupport

/// Flags of `encode`, `parse` and `sniff`: each one in the help is run here and must have its effect.
@Suite struct FlagTests {
  /// Arguments with a flag, and what must be in the output because of it. A flag that several commands have is run with
  /// each of them; the general flags are run once.
  private static let effects: [String: (arguments: [String], output: String)] = [
    "encode form": (["-F", "a=b"], "name=\"a\"\r\n\r\nb\r\n"),
    "encode field": (["--field", "a=@b;c"], "\r\n\r\n@b;c\r\n"),
    "encode file": (["--file", "a=one.flags"], "filename=\"one.flags\""),
    "encode type": (["-F", "a=b", "--type", "text/x"], "Content-Type: text/x\r\n"),
    "encode filename": (["-F", "a=b", "--filename", "c;d"], "filename=\"c;d\""),
    "encode part-header": (["-F", "a=b", "--part-header", "X-A:  1"], "X-A: 1\r\n"),
    "encode range": (["--file", "a=one.flags", "--range", "2:5"], "\r\n\r\nbound\r\n"),
    "encode sniff": (["--sniff", "extension", "--file", "a=x.png"], "Content-Type: image/png\r\n"),
    "encode type-for": (["--type-for", "*.png=a/b", "--file", "a=x.png"], "Content-Type: a/b\r\n"),
    "encode magic-file": (
      ["--magic-file", "/usr/share/misc/magic.mgc", "--file", "a=x.png"], "Content-Type: text/plain"
    ),
    "sniff sniff": (["--sniff", "none", "x.png"], "x.png\tapplication/octet-stream\tdefault\n"),
    "sniff type-for": (["--type-for", "x*=a/b", "x.png"], "x.png\ta/b\toverride\n"),
    "sniff magic-file": (
      ["--magic-file", "/usr/share/misc/magic.mgc", "x.png"], "x.png\ttext/plain\tcontent\n"
    ),
    "encode charset": (
      ["--charset", "--file", "a=x.png"], "Content-Type: text/plain; charset=us-ascii\r\n"
    ),
    "sniff charset": (["--charset", "x.png"], "x.png\ttext/plain; charset=us-ascii\tcontent\n"),
    "sniff files-from": (["--files-from", "list"], "x.png\ttext/plain\tcontent\nlf\t"),
    "sniff files-from0": (["--files-from0", "list0"], "x.png\ttext/plain\tcontent\nlf\t"),
    "sniff null": (["-0", "x.png"], "x.png\ttext/plain\tcontent\0"),
    "sniff json": (["--json", "x.png"], "{\"schema\":\"formstream.sniffed/1\",\"path\":\"x.png\""),
    "encode boundary": (["--boundary", "xyz"], "--xyz--"),
    "encode escaping": (["--escaping=backslash", "--field", "a\"=b"], #"name="a\"""#),
    "encode browser-text": (["--browser-text", "--field", "a=1\n2"], "1\r\n2"),
    "encode verify-boundary": (["--verify-boundary", "-F", "f=@one.flags"], "--boundary"),
    "encode growing": (["--growing", "-F", "f=@one.flags"], "--boundary"),
    "encode verify-growing": (["--verify-growing", "-F", "f=@one.flags"], "--boundary"),
    "encode headers": (["--headers"], "Content-Length: "),
    "encode dry-run": (["--dry-run"], "@0 "),
    "encode output": (["--boundary", "q", "-o", "/dev/stdout"], "--q--"),
    "encode quiet": (["-q"], "--FormStream-"),
    "parse quiet": (["-q", "body"], "The form is complete: 2 parts"),
    "parse boundary": (["--boundary", "B", "body"], "The form is complete: 2 parts"),
    "parse escaping": (["--boundary", "B", "--escaping", "browser", "body"], "a\"b"),
    "parse content-type": (["--content-type", "multipart/x; boundary=B", "body"], "2 parts"),
    "parse bare-lf": (["--boundary", "B", "--bare-lf", "lf"], "1 part,"),
    "parse limit": (["--boundary", "B", "--limit", "preamble=70000", "late"], "no parts"),
    "parse json": (["--boundary", "B", "--json", "body"], "{\"schema\":\"formstream.parsed/1\""),
    "parse into": (["--boundary", "B", "--into", "d", "body"], "stored as one.flags"),
    "config": (["encode", "--config", "one.flags"], "--from-file--"),
    "generate": (["--generate", "man"], ".TH \"FORMSTREAM\""),
    "help": (["--help"], "Examples:"),
    "version": (["--version"], "formstream 0."),
  ]

  @Test func `every flag in the help is run here`() throws {
    let known = try ["encode", "parse", "sniff"].flatMap { verb in
      try flags(inHelpOf: verb).map { "\(verb) \($0)" }
    }
    #expect(Set(known + generalFlags) == Set(Self.effects.keys))
  }

  @Test(arguments: effects.keys.sorted())
  func `each flag has its effect`(_ flag: String) throws {
    let (arguments, output) = try #require(Self.effects[flag])
    let place = try TemporaryDirectory()
    try place.write("one.flags", "--boundary from-file\n")
    let made = try formstream(
      "encode", "--boundary", "B", "--field", "a\"b=c", "-F", "f=@one.flags", "-o", "body",
      in: place)
    #expect(made.exit == 0)
    try place.write("lf", "--B\nContent-Disposition: form-data; name=a\n\nb\n--B--\n")
    try place.write("x.png", "words\n")
    try place.write("list", "x.png\nlf\n")
    try place.write("list0", "x.png\0lf\0")
    try place.write("late", String(repeating: "x", count: 66_000) + "\r\n--B--\r\n")
    let verb = flag.split(separator: " ").dropLast().map(String.init)
    let run = try run("formstream", verb + arguments, in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains(output), "\(run.output)")
  }

  @Test(arguments: [
    ["encode", "--boundary=q"], ["--boundary", "q", "encode"],
    ["encode", "--boundary", "x", "--boundary", "q"],
    ["encode", "--boundary", "q", "--"], ["encode", "-o-", "--boundary=q"],
  ])
  func `flags can be written in the usual ways`(_ arguments: [String]) throws {
    #expect(try run("formstream", arguments).output == "--q--\r\n")
  }

  @Test(arguments: [["-h"], ["help"], ["-Vh"], ["--help", "--version"]])
  func `help overrides everything else`(_ arguments: [String]) throws {
    let help = try run("formstream", arguments)
    #expect(help.exit == 0)
    #expect(help.output.hasPrefix("formstream: "))
    #expect(help.output.contains("\n\nUsage: formstream COMMAND"))
  }

  @Test func `the help of all commands begins with usage and commands, and has six examples`()
    throws
  {
    let lines = try formstream("--help").output.split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.filter { $0.hasSuffix(":") } == ["Commands:", "Examples:", "General:"])
    #expect(lines[2].hasPrefix("Usage: "))
    #expect(lines.firstIndex(of: "Commands:") == 4)
    #expect(lines.count { $0.hasPrefix("  formstream ") } <= 6)
  }

  @Test func `the help of post begins with the most common flags`() throws {
    let lines = try formstream("post", "--help").output.split(separator: "\n")
    let start = try #require(lines.firstIndex(of: "Common flags:"))
    #expect(start == 2)
    let names = lines[(start + 1)...].prefix { $0.hasPrefix(" ") }
      .filter { $0.hasPrefix("  -") || $0.hasPrefix("      --") }
      .compactMap { $0.split(separator: "--", maxSplits: 1).last?.split(separator: " ").first }
    #expect(
      names == [
        "form", "upload-file", "data", "header", "user", "retry", "dry-run", "json", "output",
      ])
  }

  @Test func `each command has its own help`() throws {
    for (verb, arguments) in [
      ("encode", ["encode", "--help"]), ("encode", ["help", "encode"]),
      ("encode", ["encode", "-F", "a=@missing", "-h"]), ("parse", ["parse", "missing", "-h"]),
      ("parse", ["help", "parse"]),
    ] {
      let help = try run("formstream", arguments)
      #expect(help.exit == 0)
      #expect(help.output.hasPrefix("formstream \(verb): "))
      #expect(help.output.contains("\n\nUsage: formstream \(verb) "))
      #expect(help.output.contains("\n\nExamples:\n"))
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
  }

  @Test(arguments: [("encode", 5), ("parse", 5), ("sniff", 3)])
  func `the examples in the help work`(_ verb: String, _ count: Int) throws {
    let place = try TemporaryDirectory()
    try place.write("sunset.jpg", noise(1000))
    try place.write("a,b.csv", "1,2\n")
    let body = try formstream(
      "encode", "--boundary", "B", "-F", "photo=@sunset.jpg", "-o", "body.bin", in: place)
    #expect(body.exit == 0)
    let examples = try lines(inHelpOf: verb).filter {
      $0.contains("formstream \(verb) ") && !$0.contains("Usage") && !$0.hasPrefix("form")
    }
    .map { $0.replacing("formstream \(verb)", with: "$F \(verb)") }
    #expect(examples.count == count)
    for example in examples {
      let run = try shell("mkdir -p photos; touch a.dat; \(example)", in: place)
      #expect(run.exit == 0, "\(example): \(run.stderr)")
    }
  }
}

@Suite struct ConfigFileTests {
  @Test func `a line holds one flag, and its value to the end of the line`() throws {
    let place = try TemporaryDirectory()
    try place.write(
      "c",
      "# a comment\n\n  --boundary  q\r\n--field a=x  y\n--field=b=z w\n-F c=\"1;2\"\n-Fd=4 5\n--browser-text\n"
    )
    let run = try formstream("encode", "--config", "c", in: place)
    #expect(
      run.output == """
        --q\r\nContent-Disposition: form-data; name="a"\r\n\r\nx  y\r
        --q\r\nContent-Disposition: form-data; name="b"\r\n\r\nz w\r
        --q\r\nContent-Disposition: form-data; name="c"\r\n\r\n1;2\r
        --q\r\nContent-Disposition: form-data; name="d"\r\n\r\n4 5\r
        --q--\r

        """)
  }

  @Test func `typed flags come after those of the file, and override them`() throws {
    let place = try TemporaryDirectory()
    try place.write("c", "--boundary q\n--field a=1\n")
    let run = try formstream(
      "encode", "--type", "text/x", "--boundary", "r", "--config", "c", "--field", "b=2", in: place)
    #expect(
      run.output == """
        --r\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/x\r\n\r\n1\r
        --r\r\nContent-Disposition: form-data; name="b"\r\n\r\n2\r
        --r--\r

        """)
  }

  @Test(arguments: [
    ("encode\n", "c:1: The line does not begin with the name of a flag"),
    (
      "boundry = B\n",
      "c:1: The line does not begin with the name of a flag: write --NAME or --NAME VALUE. Did you mean --boundary?"
    ),
    ("https://example.org/\n", "c:1: The line is a URL: write url = \"URL\"."),
    (
      "--browser-text --boundary B\n", "c:1: --boundary has a value: write it in a line of its own."
    ),
    ("--config=d\n", "c:1: --config can't be used"),
    ("--field a=b\n--\n", "c:2: A flag has a name"),
    ("--config d\n", "c:1: --config can't be used"),
    ("--nonsense\n", "c:1: --nonsense is not a flag"),
    ("--field\n", "c:1: --field needs a value"),
    ("--field=a=b\n--range x\n", "--range (line 2 of \"c\") is not a range"),
    ("--browser-text yes\n", "c:1: --browser-text takes no value: leave out what follows it"),
    ("browser-text = no\n", "c:1: --browser-text takes no value"),
  ])
  func `an error names the line`(_ contents: String, _ says: String) throws {
    let place = try TemporaryDirectory()
    try place.write("c", contents)
    let run = try formstream("encode", "--config", "c", in: place)
    #expect(run.exit == 64)
    #expect(run.stderr.contains(says), "\(run.stderr)")
  }

  @Test(arguments: [
    ("url = \"URL/x\"", "POST /x HTTP/1.1\r\n"), ("url: URL/x", "POST /x HTTP/1.1\r\n"),
    ("url URL/x # here", "POST /x HTTP/1.1\r\n"), ("--url = \"URL/x\"", "POST /x HTTP/1.1\r\n"),
    ("--url: \"URL/x\"", "POST /x HTTP/1.1\r\n"), ("--url=URL/x", "POST /x HTTP/1.1\r\n"),
    ("--url \"URL/x\"", "POST /x HTTP/1.1\r\n"),
    ("url=URL/x\r\nheader=\"X-A: a \\\"b\\\" \\\\\"", "X-A: a \"b\" \\\r\n"),
    ("url=URL/x\n-H \"X-A: 1 # 2\" # comment", "X-A: 1 # 2\r\n"),
    ("url=URL/x\nuser-agent = \"a\\tb\"", "User-Agent: a\tb\r\n"),
    ("url=URL/x\n  request = PATCH  ", "PATCH /x HTTP/1.1\r\n"),
    ("url=URL/x\nform-string = \"a=<b\"", "\r\n\r\n<b\r\n"),
    ("url=URL/x\nsilent\ngloboff\nfail", "POST /x HTTP/1.1\r\n"),
    ("url=URL/x\nget\ndata = \"a=b\"", "GET /x?a=b HTTP/1.1\r\n"),
    ("url=URL/x\n--data-raw \"a = b\"\n-F a=\"b\"", "64"),
    ("url=URL/x\n--header X-A: b = \"c\"", "X-A: b = \"c\"\r\n"),
    (
      "url=URL/x\nuser-agent = \"\"",
      "Accept: */*\r\nAccept-Encoding: identity\r\nContent-Length: 0\r\n\r\n"
    ),
  ])
  func `a file of curl is read as curl reads it`(_ contents: String, _ expected: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good() }
    let file = Array(contents.replacing("URL", with: server.url).utf8)
    try place.write("c", file)
    for (flags, input) in [(["-K", "c"], nil), (["-K", "-"], file)] {
      let result = try run("formstream", ["post"] + flags, standardInput: input, in: place)
      let heads = server.requests.map { String(decoding: $0.head + $0.body, as: UTF8.self) }
      #expect(
        "\(result.exit ?? -1)" == expected || heads.last?.contains(expected) == true,
        "\(heads) \(result.stderr)")
    }
  }

  @Test(arguments: [
    ("header = X-A: canary", "has blanks"), ("header = \"canary", "no closing quote"),
    ("header = \"canary\\", "no closing quote"), ("header = \"a\" canary", "closing quote"),
    ("nonsense = canary", "does not begin with the name of a flag"),
    ("next", "all flags are for all URLs"),
    ("silent = \"canary\"", "--silent takes no value"), ("url", "--url needs a value"),
  ])
  func `a wrong line of a file of curl is named, and not shown`(
    _ line: String, _ says: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("c", "# comment\n\(line)\n")
    let result = try formstream("post", "-K", "c", "-d", "", in: place)
    #expect(result.exit == 64)
    #expect(result.stderr.contains("c:2: ") && result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"))
  }

  /// curl drops what follows `-s` in the third line, and the complete first line of a file with a byte order mark.
  @Test(arguments: [
    "-sS\n", "--silent --show-error\n", "-s -S\n", "-sS -f\n", "\u{FEFF}silent\nshow-error\n",
    "\u{FEFF}# comment\n-sS\n", "-s -S --no-fail\n", "silent\nshow-error\nfail\nno-silent\n-s\n",
  ])
  func `a line may hold several switches, and a file may begin with a byte order mark`(
    _ contents: String
  ) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(404, body: "page") }
    try place.write("c", contents)
    let result = try formstream("post", "-K", "c", "-d", "a", server.url, in: place)
    // -s alone would hide it.
    #expect(result.stderr.contains("404"), "\(result.stderr)")
    #expect(
      result.output
        == (contents.contains("-f\n")
          || contents.contains("fail\n") && !contents.contains("--no-fail") ? "" : "page"))
    let line = try shell(
      "printf -- '-sX PUT\\n-sHX-A: 1 2\\n' > d; $F post -K d -d a \(server.url)", in: place)
    #expect(line.exit == 1)
    #expect(server.requests.last?.method == "PUT" && server.requests.last?.header("X-A") == "1 2")
  }

  @Test func `standard input is not read for flags and for data`() throws {
    let result = try formstream(
      "post", "-K", "-", "-d", "@-", "http://127.0.0.1:1/", standardInput: Array("silent\n".utf8))
    #expect(result.exit == 64)
    #expect(result.stderr.contains("Standard input is named twice"), "\(result.stderr)")
  }

  @Test func `a file that is too large is refused`() throws {
    let run = try formstream("encode", "--config", "/dev/zero")
    #expect(run.exit == 64)
    #expect(run.stderr.contains("more than 1048576 bytes"))
  }

  @Test func `the file may be a pipe`() throws {
    let run = try shell("$F encode --config <(echo --boundary q)")
    #expect(run.output == "--q--\r\n")
  }
}
