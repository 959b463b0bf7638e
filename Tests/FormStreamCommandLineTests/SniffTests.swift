import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// `formstream sniff`: lists, odd names, unreadable files, and output.
@Suite struct SniffTests {
  private static let text = "\ttext/plain\tcontent\n"

  private func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.write("a", "some words\n")
    try place.write("b.csv", "some words\n")
    try place.write("empty", "")
    return place
  }

  @Test func `files are listed in order: first those on the command line, then those in lists`()
    throws
  {
    let run = try shell("printf 'empty\\n\\na' | $F sniff --files-from - b.csv", in: place())
    #expect(
      run.output
        == "b.csv\ttext/csv\textension\nempty\tapplication/octet-stream\tdefault\na" + Self.text)
    #expect(run.exit == 0)
    #expect(run.stderr.isEmpty)
  }

  @Test func `lists and lines that end with NUL can hold names with line breaks`() throws {
    let run = try shell(
      "cp a $'x\\ny\\tz'; printf 'x\\ny\\tz\\0a' | $F sniff -0 --files-from0 -", in: place())
    #expect(run.output == "x\ny\tz\ttext/plain\tcontent\0a\ttext/plain\tcontent\0")
    #expect(run.exit == 0)
  }

  @Test func `a name that is not UTF-8 is printed byte for byte, and in records in two forms`()
    throws
  {
    let lines = try shell("cp a $'\\xFFn'; $F sniff $'\\xFFn'", in: place())
    #expect(lines.stdout == [0xFF, 0x6E] + Array(Self.text.utf8))
    let records = try shell("cp a $'\\xFFn'; $F sniff --json $'\\xFFn' a", in: place())
    #expect(
      records.output == """
        {"schema":"formstream.sniffed/1","path":"\u{FFFD}n","path_b64":"/24=","type":"text/plain","source":"content"}
        {"schema":"formstream.sniffed/1","path":"a","path_b64":null,"type":"text/plain","source":"content"}

        """)
  }

  @Test func `a file that can't be sniffed is reported, and the others are sniffed`() throws {
    let run = try shell(
      "mkdir d; mkfifo p; $F sniff missing d p /dev/zero a; echo $?", in: place())
    #expect(run.output == "a" + Self.text + "66\n")
    let lines = run.stderr.split(separator: "\n")
    #expect(lines.count == 5, "\(run.stderr)")
    #expect(lines.dropFirst().first?.contains("The path \"d\" is a directory") == true)
    for (line, name) in zip(lines, ["missing", "d", "p", "/dev/zero"]) where name != "d" {
      #expect(line.hasPrefix("formstream: The file \"\(name)\" can't be sniffed: "))
    }
  }

  /// Regression: the results before a list failed were not printed.
  @Test func `if a list is missing, the files before it are still printed`() throws {
    let run = try shell("$F sniff a --files-from missing; echo $?", in: place())
    #expect(run.output == "a" + Self.text + "66\n")
    #expect(run.stderr.contains("missing"), "\(run.stderr)")
  }

  @Test func `a list without line ends is an error, after a limited read`() throws {
    let run = try formstream(
      "sniff", "--files-from=-", standardInput: [UInt8](repeating: 0x61, count: 4 << 20))
    #expect(run.exit == 66)
    #expect(run.stderr.contains("--files-from0"), "\(run.stderr)")
    #expect(run.peakResidentKiB < 64 * 1024 || sanitizer != nil)
  }

  @Test func `a closed pipe ends an endless list`() throws {
    let run = try shell(
      "set -o pipefail; yes a | { $F sniff --sniff none --files-from -; echo $? >&2; } | head -1",
      in: place())
    #expect(run.output == "a\tapplication/octet-stream\tdefault\n")
    #expect(run.stderr.hasSuffix("74\n"), "\(run.stderr)")
  }

  @Test func `on a terminal no name can move the cursor`() throws {
    let run = try shell(
      "cp a $'\\e[2Jn'; script -qec \"$F sniff *n\" /dev/null < /dev/null", in: place())
    #expect(run.output == "\\u{1B}[2Jn\ttext/plain\tcontent\r\n")
  }

  @Test(arguments: ["missing", "empty", "a", "turned"])
  func `if the database can't be used, there is one warning, and types come from names`(
    _ name: String
  ) throws {
    let run = try shell(
      """
      printf '\\xF1\\x1E\\x04\\x1C%100s' > turned
      $F sniff --magic-file \(name) a b.csv a b.csv; echo $?
      """, in: place())
    #expect(
      run.output == """
        a\tapplication/octet-stream\tdefault
        b.csv\ttext/csv\textension
        a\tapplication/octet-stream\tdefault
        b.csv\ttext/csv\textension
        0

        """)
    #expect(run.stderr.split(separator: "\n").count == 1, "\(run.stderr)")
    #expect(run.stderr.hasPrefix("formstream: "))
  }

  /// The first bytes of a pipe are read before the headers are written, and still belong to the body.
  @Test(arguments: [0, 1, 100, 4095, 4096, 4097, 65_536, 65_537, 1 << 20])
  func `a FIFO and a pipe are sniffed and lose no byte`(_ size: Int) throws {
    let place = try TemporaryDirectory()
    let bytes = [UInt8]("%PDF-1.4\n".utf8) + (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    try place.write("in", bytes)
    let run = try shell(
      """
      mkfifo p; cat in > p & $F encode --boundary B -F f=@p; wait
      cat in | $F encode --boundary B -F f=@-
      """, in: place)
    func body(_ name: String) -> [UInt8] {
      Array(
        """
        --B\r\nContent-Disposition: form-data; name="f"; filename="\(name)"\r
        Content-Type: application/pdf\r\n\r\n
        """.utf8) + bytes + Array("\r\n--B--\r\n".utf8)
    }
    #expect(run.stdout == body("p") + body("-"))
  }

  @Test func `a type is detected by more than the first byte of a pipe`() throws {
    let run = try shell(
      """
      dd if=/bin/sh bs=1 count=5000 2> errors | tee in | \\
        dd bs=1 2>> errors | $F encode --boundary B -F f=@- > body
      head -3 body | tail -1 | tr -d '\\r'; tail -c +$(($(head -4 body | wc -c) + 1)) body | head -c 5000 | cmp - in; echo $?
      """)
    #expect(
      run.output.contains("Content-Type: application/x-") && run.output.hasSuffix("\n0\n"),
      "\(run.output) \(run.stderr)")
  }

  /// The bytes that were sniffed must be those that are sent.
  @Test func `a file that is replaced between sniffing and sending is an error`() throws {
    let run = try shell(
      """
      mkfifo p; cp a x
      { exec 3> p; mv b.csv x; printf done >&3; } &
      $F encode --boundary B -F f=@x -F g=@p > body; echo $?; wait
      """, in: place())
    #expect(run.output == "74\n", "\(run.stderr)")
    #expect(run.stderr.contains("it was replaced by another file"), "\(run.stderr)")
  }
}
