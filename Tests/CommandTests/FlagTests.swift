import Testing
import TestSupport

/// Each flag has a line here that shows it at work; a flag without one, or one that is not in the
/// help, fails.
@Suite struct FlagTests {
  /// What to give, and what must then be in the output and would not be without it.
  private static let shown: [String: (arguments: [String], output: String)] = [
    "form": (["encode", "-F", "a=b"], "name=\"a\"\r\n\r\nb\r\n"),
    "field": (["encode", "--field", "a=@b;c"], "\r\n\r\n@b;c\r\n"),
    "file": (["encode", "--file", "a=one.flags"], "filename=\"one.flags\""),
    "type": (["encode", "-F", "a=b", "--type", "text/x"], "Content-Type: text/x\r\n"),
    "filename": (["encode", "-F", "a=b", "--filename", "c;d"], "filename=\"c;d\""),
    "part-header": (["encode", "-F", "a=b", "--part-header", "X-A:  1"], "X-A: 1\r\n"),
    "range": (["encode", "--file", "a=one.flags", "--range", "2:5"], "\r\n\r\nbound\r\n"),
    "boundary": (["encode", "--boundary", "xyz"], "--xyz--"),
    "escaping": (["encode", "--escaping=backslash", "--field", "a\"=b"], #"name="a\"""#),
    "browser-text": (["encode", "--browser-text", "--field", "a=1\n2"], "1\r\n2"),
    "verify-boundary": (["encode", "--verify-boundary", "-F", "f=@one.flags"], "--boundary"),
    "headers": (["encode", "--headers"], "Content-Length: "),
    "dry-run": (["encode", "--dry-run"], "@0 "),
    "output": (["encode", "--boundary", "q", "-o", "/dev/stdout"], "--q--"),
    "config": (["encode", "--config", "one.flags"], "--from-file--"),
    "generate": (["--generate", "man"], ".TH FORMSTREAM"),
    "help": (["--help"], "Examples:"),
    "version": (["--version"], "formstream 0."),
  ]

  private static func flagsInHelp() throws -> Set<String> {
    let help = try formstream("encode", "--help").output
    return Set(
      help.split(separator: "\n").filter { $0.hasPrefix("  -") || $0.hasPrefix("      --") }
        .compactMap { $0.split(separator: "--").last?.split(separator: " ").first.map(String.init) }
    )
  }

  @Test func `every flag in the help is shown at work here`() throws {
    #expect(try Self.flagsInHelp() == Set(Self.shown.keys))
  }

  @Test(arguments: shown.keys.sorted())
  func `a flag does what it says`(_ flag: String) throws {
    let (arguments, output) = try #require(Self.shown[flag])
    let place = try TemporaryDirectory()
    try place.write("one.flags", "--boundary from-file\n")
    let run = try run("formstream", arguments, in: place)
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
  func `help wins over all else`(_ arguments: [String]) throws {
    let help = try run("formstream", arguments)
    #expect(help.exit == 0)
    #expect(help.output.hasPrefix("formstream: multipart/form-data, streamed\n\nExamples:\n"))
  }

  @Test func `each verb has its own help, examples first`() throws {
    for arguments in [
      ["encode", "--help"], ["help", "encode"], ["encode", "-F", "a=@missing", "-h"],
    ] {
      let help = try run("formstream", arguments)
      #expect(help.exit == 0)
      #expect(help.output.hasPrefix("formstream encode: "))
      #expect(help.output.contains("\n\nExamples:\n"))
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
  }

  @Test func `the examples in the help do what they say`() throws {
    let place = try TemporaryDirectory()
    try place.write("sunset.jpg", noise(1000))
    try place.write("a,b.csv", "1,2\n")
    let help = try formstream("encode", "--help").output
    let examples = help.split(separator: "\n").filter { $0.contains("formstream encode -") }
      .map { $0.replacing("formstream encode", with: "$F encode") }
    #expect(examples.count == 5)
    for example in examples {
      let run = try shell("mkdir -p photos; \(example)", in: place)
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

  @Test func `what is typed comes behind, and wins`() throws {
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
    ("encode\n", "c:1: \"encode\" is not one flag"),
    ("--field a=b\n--\n", "c:2: A flag has a name"),
    ("--config d\n", "c:1: --config can't stand"),
    ("--nonsense\n", "c:1: --nonsense is not a flag"),
    ("--field\n", "c:1: --field needs a value"),
    ("--browser-text yes\n", "c:1: \"--browser-text yes\" is not one flag"),
  ])
  func `a bad line is named`(_ contents: String, _ says: String) throws {
    let place = try TemporaryDirectory()
    try place.write("c", contents)
    let run = try formstream("encode", "--config", "c", in: place)
    #expect(run.exit == 64)
    #expect(run.stderr.contains(says), "\(run.stderr)")
  }

  @Test func `a file that can't be a list of flags is refused`() throws {
    let run = try formstream("encode", "--config", "/dev/zero")
    #expect(run.exit == 64)
    #expect(run.stderr.contains("more than 1048576 bytes"))
  }

  @Test func `it may be a pipe`() throws {
    let run = try shell("$F encode --config <(echo --boundary q)")
    #expect(run.output == "--q--\r\n")
  }
}
