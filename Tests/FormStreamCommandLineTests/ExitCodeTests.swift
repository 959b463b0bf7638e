import Testing
import FormStreamTestSupport

/// A command line that fails, its exit code, and words that its message contains.
struct BadInput: Sendable, CustomTestStringConvertible {
  let arguments: [String]
  let exit: Int32
  let says: String

  init(_ exit: Int32, _ says: String, _ arguments: String...) {
    (self.arguments, self.exit, self.says) = (arguments, exit, says)
  }

  var testDescription: String { "\(arguments) → \(exit)" }

  static let all: [BadInput] = [
    BadInput(64, "Name a command", "--config", "/dev/null"),
    BadInput(64, "Did you mean encode?", "encdoe"),
    BadInput(64, "A word (argument 2) is not a flag", "encode", "photo.jpg"),
    BadInput(64, "Did you mean --boundary?", "encode", "--bounday", "x"),
    BadInput(64, "-y is not a flag", "encode", "-y"),
    BadInput(64, "Did you mean --headers?", "encode", "--heads"),
    BadInput(64, "--boundary needs a value: --boundary B.", "encode", "--boundary"),
    BadInput(64, "-F needs a value", "encode", "-F"),
    BadInput(64, "--headers takes no value", "encode", "--headers=yes"),
    BadInput(64, "one of them", "encode", "--headers", "--dry-run"),
    BadInput(64, "is empty", "encode", "--boundary", ""),
    BadInput(64, "is too long", "encode", "--boundary", String(repeating: "b", count: 71)),
    BadInput(64, "ends in a space", "encode", "--boundary", "b "),
    BadInput(64, "RFC 2046", "encode", "--boundary", "b\u{7}"),
    BadInput(64, "Did you mean browser?", "encode", "--escaping", "browsr"),
    BadInput(64, "has no = in it", "encode", "--field", "x"),
    BadInput(64, "has no = in it", "encode", "--file", "x"),
    BadInput(64, "has no = in it", "encode", "-F", "x"),
    BadInput(64, "no path", "encode", "-F", "x=@"),
    BadInput(64, "no path", "encode", "--file", "x="),
    BadInput(64, "for the part before it", "encode", "--type", "a/b", "-F", "x=y"),
    BadInput(64, "for the part before it", "encode", "--part-header", "A: b"),
    BadInput(64, "given twice", "encode", "-F", "x=y", "--type", "a/b", "--type", "a/c"),
    BadInput(64, "given twice", "encode", "-F", "x=y;type=a/b", "--type", "a/c"),
    BadInput(64, "not a media type", "encode", "-F", "x=y", "--type", "png"),
    BadInput(64, "not a media type", "encode", "-F", "x=y;type=a/b\r\nX: y"),
    BadInput(64, "no colon", "encode", "-F", "x=y", "--part-header", "X"),
    BadInput(
      64, "derived from the type of the part", "encode", "-F", "x=y", "--part-header",
      "content-type: a/b"),
    BadInput(
      64, "parts have no Content-Length", "encode", "-F", "x=y", "--part-header",
      "Content-Length: 1"),
    BadInput(64, "control character", "encode", "-F", "x=y", "--part-header", "X: a\nb"),
    BadInput(64, "letters, digits and hyphens", "encode", "-F", "x=y", "--part-header", "X Y: a"),
    BadInput(64, "not a range", "encode", "--file", "x=/etc/passwd", "--range", "5"),
    BadInput(64, "not a range", "encode", "--file", "x=/etc/passwd", "--range", "-1:5"),
    BadInput(
      64, "not a range", "encode", "--file", "x=/etc/passwd", "--range", "0:99999999999999999999"),
    BadInput(64, "--range is for files", "encode", "-F", "x=y", "--range", "0:1"),
    BadInput(64, "named twice", "encode", "-F", "a=@-", "-F", "b=<-"),
    BadInput(64, "a line break", "encode", "--escaping", "backslash", "--field", "a\nb=c"),
    BadInput(
      64, "16843 bytes; at most 16384", "encode", "--field",
      "\(String(repeating: "n", count: 16_800))=c"),
    BadInput(64, "-o needs the name", "encode", "-o", ""),
    BadInput(64, "Name the file that holds the body", "parse", "--boundary", "B"),
    BadInput(64, "Name the file that holds the body", "parse", "--boundary", "B", ""),
    BadInput(64, "A word (argument 5) is one too many", "parse", "--boundary", "B", "a", "b"),
    BadInput(66, "No such file", "parse", "missing"),
    BadInput(1, "has no delimiter line", "parse", "/etc/passwd"),
    BadInput(1, "is empty", "parse", "/dev/null"),
    BadInput(
      64, "both name the boundary", "parse", "x", "--boundary", "B", "--content-type", "a/b"),
    BadInput(64, "names no boundary", "parse", "x", "--content-type", "text/plain; boundary=B"),
    BadInput(64, "names no boundary", "parse", "x", "--content-type", "multipart/form-data"),
    BadInput(64, "is not valid", "parse", "/dev/null", "--boundary", ""),
    BadInput(64, "is not valid", "parse", "/dev/null", "--boundary", "a\nb"),
    BadInput(64, "is not a flag of \"parse\"", "parse", "x", "--boundary", "B", "--headers"),
    BadInput(64, "is not a flag of \"encode\"", "encode", "--json"),
    BadInput(64, "Name the files, or a list", "sniff"),
    BadInput(64, "does not read contents from standard input", "sniff", "-"),
    BadInput(64, "two different formats", "sniff", "--json", "-0", "x"),
    BadInput(64, "named twice", "sniff", "--files-from", "-", "--files-from0", "-"),
    BadInput(64, "Did you mean content?", "encode", "--sniff", "conten"),
    BadInput(64, "is not GLOB=TYPE", "encode", "--type-for", "*.x"),
    BadInput(64, "is not GLOB=TYPE", "sniff", "--type-for", "*.x=a/b\r\nX: y", "x"),
    BadInput(66, "can't be read", "sniff", "--files-from", "missing"),
    BadInput(64, "name of a directory", "parse", "x", "--boundary", "B", "--into", ""),
    BadInput(64, "Did you mean parts?", "parse", "x", "--boundary", "B", "--limit", "part=1"),
    BadInput(64, "has no = in it", "parse", "x", "--boundary", "B", "--limit", "parts"),
    BadInput(
      64, "--limit parts (argument 6) is not a size", "parse", "x", "--boundary", "B", "--limit",
      "parts=-1"),
    BadInput(64, "is not a size", "parse", "x", "--boundary", "B", "--limit", "parts="),
    BadInput(64, "is not a size", "parse", "x", "--boundary", "B", "--limit", "body=K"),
    BadInput(64, "is not a size", "parse", "x", "--boundary", "B", "--limit", "body=9000000T"),
    BadInput(66, "No such file", "parse", "missing", "--boundary", "B"),
    BadInput(66, "Is a directory", "parse", "/etc", "--boundary", "B"),
    BadInput(66, "Is a directory", "parse", "/etc", "--boundary", "B", "--json"),
    BadInput(
      74, "its parent does not exist", "parse", "/dev/null", "--boundary", "B", "--into",
      "not/there"),
    BadInput(74, "can't be used", "parse", "/dev/null", "--boundary", "B", "--into", "/dev/null"),
    BadInput(66, "does not exist", "encode", "-F", "f=@missing"),
    BadInput(66, "does not exist", "encode", "-F", "f=<missing"),
    BadInput(66, "does not exist", "encode", "--file", "f=/etc/passwd/x"),
    BadInput(66, "is a directory", "encode", "-F", "f=@/etc"),
    BadInput(66, "is a directory", "encode", "--dry-run", "-F", "f=@/etc"),
    BadInput(66, "which has no ranges", "encode", "--file", "f=/dev/zero", "--range", "0:5"),
    BadInput(
      66, "choose a range within it", "encode", "--file", "f=/etc/passwd", "--range", "99999999:1"),
    BadInput(
      66, "choose a range within it", "encode", "--file", "f=/etc/passwd", "--range", "0:99999999"),
    BadInput(
      66, "choose a range within it", "encode", "--file", "f=/etc/passwd", "--range",
      "1:9223372036854775807"),
    BadInput(66, "of --config can't be read", "encode", "--config", "missing"),
    BadInput(66, "of headers= can't be read", "encode", "-F", "a=b;headers=@missing"),
    BadInput(74, "send it through a pipe", "encode", "-F", "f=@/proc/cpuinfo"),
    BadInput(74, "Choose another with -o,", "encode", "-F", "a=b", "-o", "/proc/nonexistent/x"),
    BadInput(74, "directory", "encode", "-F", "a=b", "-o", "/tmp"),
    BadInput(74, "No space left", "encode", "-F", "a=b", "-o", "/dev/full"),
  ]
}

@Suite struct ExitCodeTests {
  @Test(arguments: BadInput.all)
  func `bad input ends with its exit code, one sentence and no output`(_ bad: BadInput) throws {
    let run = try run("formstream", bad.arguments)
    #expect(run.exit == bad.exit, "\(run.stderr)")
    #expect(run.stderr.contains(bad.says), "\(run.stderr)")
    #expect(run.stderr.hasPrefix("formstream: "))
    #expect(run.stderr.hasSuffix("\n"))
    #expect(run.stderr.split(separator: "\n").count == 1, "one sentence: \(run.stderr)")
    #expect(run.stderr.utf8.count < 500, "\(run.stderr)")
    #expect(bad.exit == 74 || run.stdout.isEmpty)
  }

  @Test func `random arguments don't crash the command`() throws {
    var generator = SeededSequence(seed: 20)
    let pieces = [
      "-", "--", "F", "=", "@", "<", "\"", "\\", ";type=", ";", ",", "a", "encode", "\u{FF}", "(",
      ")", " ",
    ]
    for _ in 0..<300 {
      let arguments = (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
        (0..<Int.random(in: 0..<6, using: &generator))
          .compactMap { _ in pieces.randomElement(using: &generator) }.joined()
      }
      let run = try run("formstream", ["encode"] + arguments, standardInput: [])
      #expect(run.signal == nil && run.exit != 70, "\(arguments): \(run.stderr)")
    }
  }

  @Test func `a closed pipe is an error, not a signal`() throws {
    let run = try shell(
      "$F encode --file z=/dev/zero | head -c 100000 | wc -c; echo ${PIPESTATUS[0]}")
    #expect(run.output == "100000\n74\n")
    #expect(run.stderr.contains("Standard output was closed by its reader"))
  }

  @Test func `a closed standard output is an error`() throws {
    let run = try shell("$F encode -F a=b >&-; echo $? >&2")
    #expect(run.stderr.contains("could not be written"))
    #expect(run.stderr.hasSuffix("74\n"))
  }

  @Test func `a directory as standard input fails before anything is written`() throws {
    let run = try shell("$F encode -F a=@- < /tmp; echo $?")
    #expect(run.output == "66\n")
    #expect(run.stderr.contains("Is a directory"))
  }

  /// Regression: the shell emptied the file before it was read, or the file grew while it was read; both were sent.
  @Test(arguments: [">", ">>", "1<>"])
  func `an input that is also the standard output is refused`(_ redirection: String) throws {
    let run = try shell("echo x > log; $F encode -F a=@log \(redirection) log; echo $? >&2")
    #expect(run.stderr.hasSuffix("write to another file.\n64\n"), "\(run.stderr)")
    let input = try shell("echo x > log; $F encode -F a=@- < log \(redirection) log; echo $? >&2")
    #expect(input.stderr.hasSuffix("64\n"), "\(input.stderr)")
  }

  /// In a script, standard output may be a log that is an input too, if the result goes elsewhere.
  @Test func `an input may be the standard output if -o names another file`() throws {
    let run = try shell(
      "echo x > log; $F encode -q --boundary B -F a=@log -o body >> log; echo $? >&2; wc -l < body")
    #expect(run.stderr == "0\n")
    #expect(run.output == "7\n")
    #expect(try shell("$F encode -F a=@/dev/null > /dev/null; echo $?").output == "0\n")
  }

  @Test func `a closed standard input is an error only if it is named`() throws {
    let run = try shell("$F encode -F a=@- <&-; echo $?; $F encode -F a=b <&- | wc -l")
    #expect(run.output.hasPrefix("66\n"))
    #expect(run.stderr.contains("Standard input can't be read"))
  }

  @Test func `a file that changes while it is read ends with 74 and no complete body`() throws {
    let place = try TemporaryDirectory()
    try place.write("big", [UInt8](repeating: 1, count: 8_000_000))
    // Half of the file is read before it changes: a FIFO holds less than the file.
    let run = try shell(
      """
      mkfifo out
      $F encode --boundary B -F f=@big > out & writer=$!
      exec 3< out
      head -c 1000000 <&3 > got
      printf x >> big
      cat <&3 >> got
      wait $writer; echo $?
      tail -c 5 got | od -An -c
      """, in: place)
    #expect(run.output.hasPrefix("74\n"), "\(run.output)")
    #expect(run.stderr.contains("it grew from 8000000 to 8000001 bytes"), "\(run.stderr)")
    #expect(!run.output.contains("-"))
  }
}
