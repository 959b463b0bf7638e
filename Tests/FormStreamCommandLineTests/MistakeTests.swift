import FormStreamTestSupport
import Testing

/// Common mistakes on the command line, and what the message about each one names: the thing, the reason and the remedy.
@Suite struct MistakeTests {
  /// A mistake, its exit code, and pieces of the message.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let exit: Int32
    let says: [String]

    init(_ exit: Int32, _ says: [String], _ arguments: String...) {
      (self.exit, self.says, self.arguments) = (exit, says, arguments)
    }

    var testDescription: String { "\(arguments)" }
  }

  /// Nothing listens there.
  private static let url = "http://127.0.0.1:1/x"

  static let dashes: [Mistake] = [
    Mistake(64, ["(argument 5)", "en dash (–)", "write -o"], "post", "-d", "a", url, "–o", "out"),
    Mistake(64, ["(argument 2)", "en dash (–)", "write -F"], "post", "–F", "a=b", url),
    Mistake(64, ["em dash (—)", "write --form"], "post", "—form", "a=b", url),
    Mistake(64, ["en dash (–)", "write --form"], "post", "––form", "a=b", url),
    Mistake(64, ["en dash (–)", "write --form"], "post", "-–form", "a=b", url),
    Mistake(64, ["em dash (—)", "write --form"], "post", "—-form=a=canary", url),
    Mistake(64, ["minus sign (−)", "write -o"], "encode", "-F", "a=b", "−o", "out"),
    Mistake(64, ["non-breaking hyphen (‑)", "write --help"], "‑‑help"),
    Mistake(64, ["en dash (–)", "write --help"], "–help"),
    Mistake(64, ["en dash (–)", "write -h"], "get", "–h"),
    Mistake(64, ["en dash (–)", "write -j"], "send", url, "–j", "8", "f.txt"),
    Mistake(64, ["curly quote (“)", "write -F"], "post", "“-F”", "a=b", url),
    Mistake(64, ["curly quote (”)", "write --form"], "post", "--form”", "a=b", url),
    Mistake(64, ["The URL (argument 2)", "curly quote (“)"], "get", "“http://127.0.0.1:1/”"),
    Mistake(64, ["The URL (argument 4)", "curly quote (‘)"], "post", "-d", "a", "‘http://h/’"),
    Mistake(64, ["The first word", "no-break space"], "post\u{A0}-F", "a=b"),
    Mistake(64, ["-é is not a flag"], "post", "-é", url),
  ]

  static let urls: [Mistake] = [
    Mistake(
      64, ["The URL (argument 4)", "one slash", "write http://"], "post", "-d", "a", "http:/h/x"),
    Mistake(64, ["The URL (argument 2)", "no slashes", "write https://"], "get", "https:h/x"),
    Mistake(
      64, ["The URL (argument 4)", "no colon after http", "http://"], "post", "-d", "a", "http//h/x"
    ),
    Mistake(64, ["The URL (argument 2)", "no colon after https", "https://"], "get", "https//h"),
    Mistake(64, ["Unsupported URL scheme", "write http://"], "get", "htp://h/"),
    Mistake(64, ["only http and https"], "get", "ftp://h/"),
    Mistake(64, ["Port", "a number up to 65535", "http://host:8080/"], "get", "http://h:99999/"),
    Mistake(64, ["Port", "a number up to 65535", "http://host:8080/"], "get", "http://h:80x/"),
    Mistake(64, ["No host", "write http://host/path"], "get", "http://"),
    Mistake(64, ["Bad hostname", "without spaces"], "get", "http://exa mple.org/"),
    Mistake(
      64, ["The URL (argument 2) is a file", "formstream put FILE URL", "-o FILE"], "get", "f.txt"),
    Mistake(64, ["The URL (argument 3) is a file", "-o FILE"], "get", url, "f.txt"),
    Mistake(64, ["(argument 5) is neither a URL nor a file"], "post", "-d", "a", url, "extra"),
    Mistake(
      64, ["(argument 3) is neither a URL nor a file", "check the path"], "put", url, "missing"),
    Mistake(64, ["1 file and 2 URLs"], "put", "-T", "f.txt", url, url),
    Mistake(64, ["is a file", "-F NAME=@FILE", "-T FILE"], "post", "f.txt", url),
    Mistake(64, ["Name the URL to send to", "formstream put"], "put", "f.txt"),
    Mistake(64, ["put a command before it"], "http://h/"),
    Mistake(64, ["The URL (argument 2) is a path of Windows"], "get", "C:\\Users\\me\\f.txt"),
    Mistake(66, ["does not exist", "takes files", "formstream send"], "plan", url),
    // The system refuses this name without asking a name server.
    Mistake(
      1, ["\"nosuch..invalid\" was not found", "Check its name"], "post", "-d", "a",
      "http://nosuch..invalid/"),
    Mistake(
      75, ["nothing is listening", "Check that the server is running"], "post", "-d", "a", url),
  ]

  static let files: [Mistake] = [
    Mistake(
      66, ["\"missing\" of part \"a\" does not exist", "check the path"], "post", "-F",
      "a=@missing", url),
    Mistake(66, ["\"d\" of part \"a\" is a directory"], "post", "-F", "a=@d", url),
    Mistake(
      66, ["\"C:\\Users\\me\\f.txt\"", "path of Windows"], "post", "-F", "a=@C:\\Users\\me\\f.txt",
      url),
    Mistake(66, ["does not exist", "path of Windows"], "encode", "--file", "a=D:/f.txt"),
    Mistake(66, ["does not exist", "path of Windows"], "put", "-T", "C:\\f.txt", url),
    Mistake(64, ["no path after @ or <", "name a file"], "post", "-F", "a=@", url),
    Mistake(64, ["-F (argument 3) has no = in it", "NAME=@PATH"], "post", "-F", "a", url),
    Mistake(66, ["\"missing\" does not exist", "check the path"], "put", "-T", "missing", url),
    Mistake(66, ["\"missing\" does not exist", "Check the path"], "send", url, "missing"),
    Mistake(66, ["\"*.jpg\" does not exist", "no file matches"], "send", url, "*.jpg"),
    Mistake(66, ["\"missing\" does not exist", "Check the path"], "plan", "missing"),
    Mistake(66, ["\"d\" of -T is a directory", "formstream send --put"], "put", "-T", "d", url),
    Mistake(
      66, ["\"missing\" of --cacert", "PEM"], "post", "--cacert", "missing", "-d", "a", "https://h/"
    ),
    Mistake(
      66, ["\"missing\" of --cert", "PEM"], "post", "--cert", "missing", "-d", "a", "https://h/"),
    Mistake(
      74, ["\"no/x\"", "directory does not exist", "mkdir -p", "-o"], "encode", "-F", "a=b", "-o",
      "no/x"),
    Mistake(
      74, ["\"no/x\"", "directory does not exist", "mkdir -p", "-D"], "post", "-d", "a", "-D",
      "no/x", url),
    Mistake(
      74, ["\"d\" is a directory", "name a file in it", "-o"], "encode", "-F", "a=b", "-o", "d"),
    Mistake(
      74, ["\"crlf\" can't be used: --journal needs a directory, and this is a file"], "send", url,
      "--journal",
      "crlf", "f.txt"),
    Mistake(66, ["\"/dev/null\"", "a FIFO, a device or a socket"], "sniff", "/dev/null"),
    Mistake(66, ["ends with a CR", "dos2unix"], "sniff", "--files-from", "crlf"),
    Mistake(66, ["\"d\"", "is a directory", "--files-from"], "sniff", "d"),
    Mistake(66, ["\"\"", "is a variable unset"], "sniff", ""),
    Mistake(
      74, ["\"crlf\" can't be used: --into needs a directory, and this is a file"], "parse",
      "--boundary", "B", "--into", "crlf", "f.txt"),
    Mistake(64, ["parse takes one FILE"], "parse", "--boundary", "B", "a", "b"),
    Mistake(64, ["Name the file that holds the body"], "parse"),
  ]

  static let values: [Mistake] = [
    Mistake(64, ["-o needs a value: -o FILE"], "post", "-d", "a", url, "-o"),
    Mistake(64, ["-o needs the name of a file"], "post", "-d", "a", url, "-o", ""),
    Mistake(
      64, ["--retry (argument 6)", "from 0 to 1000"], "post", "-d", "a", url, "--retry", "many"),
    Mistake(
      64, ["-m (argument 6) is not a time", "seconds, such as 30 or 0.5"], "post", "-d", "a", url,
      "-m", "5s"),
    Mistake(
      64, ["--limit-rate (argument 6) is not a rate", "such as 500K"], "post", "-d", "a", url,
      "--limit-rate", "1MB"),
    Mistake(
      64, ["--limit-rate (argument 3) is not a rate", "as in '09:00-18:00 2M'"], "post", "--limit-rate", "9-18 2M", "-d", "a",
      url),
    Mistake(64, ["--bwlimit is not a flag", "--limit-rate 2M"], "send", "--bwlimit", "2M", url, "f.txt"),
    Mistake(64, ["--bwlimit is not a flag", "--limit-rate 2M"], "put", "--bwlimit=2M", "f.txt", url),
    Mistake(64, ["--parallel is not a flag", "-j N"], "send", "--parallel", url, "f.txt"),
    Mistake(64, ["-Z is not a flag", "-j N"], "send", "-Z", url, "f.txt"),
    Mistake(
      64, ["--limit-rate (argument 3) is not a rate", "such as 500K."], "send", "--limit-rate", "09:00-18 2M", url, "nosuch"),
    Mistake(
      64, ["--max-body (argument 3) is not a size", "such as 10M"], "receive", "--max-body", "1MB"),
    Mistake(
      64, ["--limit body (argument 3) is not a size", "such as 10M"], "receive", "--limit", "body=x"
    ),
    Mistake(64, ["-H (argument 6) has no colon"], "post", "-d", "a", url, "-H", "X-Foo"),
    Mistake(
      64, ["-H (argument 6) has a name that is not valid", "letters, digits and hyphens"], "post",
      "-d", "a", url, "-H", "X Foo: a"),
    Mistake(64, ["--frm is not a flag", "Did you mean --form?"], "post", "--frm", "a=b", url),
    Mistake(64, ["Did you mean --compressed?"], "get", "--compresed", url),
    Mistake(64, ["-p is not a flag", "--listen"], "receive", "-p", "8080"),
    Mistake(64, ["is not a flag", "--listen"], "receive", "8080"),
    Mistake(64, ["neither a URL nor a file", "-F NAME=VALUE"], "post", "-f", "a=b", url),
    Mistake(64, ["-F and -d make two different bodies"], "post", "-F", "a=b", "-d", "c", url),
    Mistake(64, ["--type is for the part before it"], "post", "--type", "a/b", "-F", "a=b", url),
    Mistake(64, ["text/plain"], "post", "-F", "a=b;type=text", url),
    Mistake(64, ["-F is not a flag of \"get\"", "formstream post"], "get", "-F", "a=b", url),
    Mistake(64, ["Quote it if it has spaces"], "parse", "--boundary", "B", "my", "file"),
    Mistake(64, ["Did you mean encode?"], "encdoe"),
    Mistake(64, ["write it in small letters"], "Post", url),
  ]

  @Test(arguments: dashes + urls + files + values)
  func `the message about a mistake names the thing, the reason and the remedy`(
    _ mistake: Mistake
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("f.txt", "hello\n")
    try place.write("crlf", "f.txt\r\n")
    _ = try shell("mkdir d", in: place)
    let run = try run("formstream", mistake.arguments, in: place)
    #expect(run.exit == mistake.exit, "\(run.stderr)")
    for piece in mistake.says { #expect(run.stderr.contains(piece), "\(run.stderr)") }
    #expect(!run.stderr.contains("canary"), "\(run.stderr)")
    #expect(run.output.isEmpty)
  }

  /// Names that only look like a flag are names.
  @Test func `a file whose name begins with a dash that is no hyphen can be named`() throws {
    let place = try TemporaryDirectory()
    for name in ["–photo.jpg", "—", "“quoted”.txt", "–o"] {
      try place.write(name, "hello\n")
      let run = try run("formstream", ["sniff", name == "–o" ? "./\(name)" : name], in: place)
      #expect(run.exit == 0, "\(run.stderr)")
      #expect(
        try run.output
          == formstream("sniff", "./\(name)", in: place).output.replacing(
            name == "–o" ? "" : "./", with: ""))
    }
    #expect(try formstream("sniff", "--", "–o", in: place).exit == 0)
  }

  /// The reverse needs no hint: servers of https answer plain requests themselves, or the connection breaks.
  @Test func `https to a port of http is named as likely`() throws {
    let receiver = try Receiving()
    let run = try formstream(
      "post", "-d", "a", "--max-time", "20", receiver.url.replacing("http:", with: "https:"))
    // The receiver refuses the greeting by a response, which may be lost when it closes the connection.
    #expect(run.exit == 75 || run.exit == 1, "\(run.stderr)")
    #expect(
      run.stderr.contains("write \(receiver.url)")
        || run.stderr.contains("it speaks no TLS there")
          && run.stderr.contains("or http if that is"),
      "\(run.stderr)")
  }

  @Test(arguments: [
    (["post", "-d", "a", "-H", "Content-Length: 5", "http://h/"], "the body has 1 byte:"),
    (["post", "-d", "ab", "-H", "Content-Length: 5", "http://h/"], "the body has 2 bytes:"),
  ])
  func `one thing is counted as one`(_ words: [String], _ says: String) throws {
    let result = try run("formstream", words)
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }
}
