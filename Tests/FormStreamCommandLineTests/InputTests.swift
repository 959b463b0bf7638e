import FormStreamMultipart
import Testing
import FormStreamTestSupport

/// Sources of parts: pipes, redirected files, FIFOs, odd names.
@Suite struct InputTests {
  private static let start = "--B\r\nContent-Disposition: form-data; name=\"f\""
  private static let typeLine = "\r\nContent-Type: application/octet-stream\r\n\r\n"

  @Test func `a pipe is a file with the name - and of unknown length`() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let run = try formstream(
      "encode", "--sniff=none", "--boundary=B", "-F", "f=@-", standardInput: bytes)
    let head = Array((Self.start + "; filename=\"-\"" + Self.typeLine).utf8)
    #expect(run.stdout == head + bytes + Array("\r\n--B--\r\n".utf8))
  }

  @Test func `a pipe can be a text field, and can have another name`() throws {
    let field = try formstream("encode", "--boundary=B", "-F", "f=<-", standardInput: [0x61])
    #expect(field.output == Self.start + "\r\n\r\na\r\n--B--\r\n")
    let named = try formstream(
      "encode", "--boundary=B", "--file", "f=-", "--filename", "x.bin", standardInput: [0x61])
    #expect(named.output == Self.start + "; filename=\"x.bin\"" + Self.typeLine + "a\r\n--B--\r\n")
  }

  @Test func `the rest of a redirected file has a known length`() throws {
    let place = try TemporaryDirectory()
    try place.write("in", "0123456789")
    let run = try shell(
      """
      { head -c 4 > /dev/null; $F encode --boundary B --headers -F f=@-; } < in
      { dd bs=1 count=4 of=/dev/null 2>/dev/null; $F encode --sniff none --boundary B -F f=@- | wc -c; } < in
      { dd bs=1 count=4 of=/dev/null 2>/dev/null; $F encode --sniff none --boundary B -F f=@- ; } < in
      """, in: place)
    let head = Self.start + "; filename=\"-\"" + Self.typeLine
    let length = head.utf8.count + 6 + 9
    #expect(
      run.output.hasSuffix("\(length)\n\(head)456789\r\n--B--\r\n"), "\(run.output) \(run.stderr)")
    #expect(run.output.contains("Content-Length: "))
  }

  @Test func `a range of redirected input counts from its current offset`() throws {
    let place = try TemporaryDirectory()
    try place.write("in", "0123456789")
    let run = try shell(
      """
      { dd bs=1 count=4 of=/dev/null 2>/dev/null; $F encode --boundary B --file f=- --range 1:2; } < in
      """, in: place)
    #expect(run.output.hasSuffix("\r\n\r\n56\r\n--B--\r\n"), "\(run.output) \(run.stderr)")
  }

  @Test func `a FIFO that is named is a stream`() throws {
    let run = try shell("mkfifo p; (printf abc > p) & $F encode --boundary B -F f=@p; wait")
    #expect(run.output.hasSuffix("\r\n\r\nabc\r\n--B--\r\n"), "\(run.output)")
  }

  /// Regression: the second reader of a pipe got nothing, and the form looked complete.
  @Test(arguments: ["a=@- -F b=@/dev/stdin", "a=@/dev/stdin -F b=@/dev/stdin", "a=@p -F b=@p"])
  func `no two parts read one pipe`(_ forms: String) throws {
    let run = try shell("mkfifo p; echo hi | $F encode -F \(forms); echo $?")
    #expect(run.output == "74\n")
    #expect(run.stderr.contains("can be read only once"), "\(run.stderr)")
  }

  /// Processes share a pipe and its mode: ssh and node leave standard input non-blocking.
  @Test func `the command waits for a pipe that is not ready`() throws {
    let run = try shell(
      """
      cat > mode.py <<'END'
      import fcntl, os
      fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_NONBLOCK)
      END
      mkfifo p q; exec 3<> p
      { python3 mode.py; echo ready > q; $F encode --boundary B -F f=@- | tail -3; } < p 3>&- &
      cat q; echo late >&3; exec 3>&-; wait
      """)
    #expect(run.output == "ready\nlate\n\r\n--B--\r\n")
  }

  @Test func `standard input is not read unless it is named`() throws {
    let run = try shell("echo secret | { $F encode --boundary B -F a=b > body; cat; }")
    #expect(run.output == "secret\n")
  }

  private static let oddName: [UInt8] = [0x61, 0xFF, 0x62]

  /// Runs a command with `--file` and a file whose name is not UTF-8.
  private static func withOddName(_ arguments: String...) throws -> Invocation {
    let place = try TemporaryDirectory()
    try writeFile(LocalPath(bytes: Array(place.path.utf8) + [0x2F] + oddName), [0x21])
    return try run(
      "formstream",
      rawArguments: arguments.prefix(1).map { Array($0.utf8) }
        + [Array("--file".utf8), Array("f=".utf8) + oddName]
        + arguments.dropFirst().map { Array($0.utf8) }, in: place)
  }

  /// Regression: its name was repaired, and two files could get one name.
  @Test func `a file name that is not UTF-8 is sent as its bytes`() throws {
    let run = try Self.withOddName("encode", "--boundary=B")
    #expect(
      run.stdout == Array((Self.start + "; filename=\"").utf8) + Self.oddName
        + Array(("\"" + Self.typeLine + "!\r\n--B--\r\n").utf8), "\(run.output)")
  }

  @Test func `what can't be written names the flag for another name`() throws {
    let refused = try Self.withOddName("encode", "--escaping=rfc2231")
    #expect(refused.exit == 64)
    #expect(refused.stderr.contains("not UTF-8"), "\(refused.stderr)")
    #expect(refused.stderr.contains("(--filename)"), "\(refused.stderr)")
    let named = try Self.withOddName("encode", "--filename=ab", "--escaping=rfc2231")
    #expect(named.exit == 0, "\(named.stderr)")
  }

  @Test func `the receiver stores a file whose name is not UTF-8`() throws {
    let receiver = try Receiving("--into", "stored", "--once")
    let sent = try Self.withOddName("post", receiver.url)
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(sent.output.contains("\"filename\":\"a\u{FFFD}b\""), "\(sent.output)")
    #expect(try receiver.wait().exit == 0)
    let stored = try shell("cat stored/*", in: receiver.place)
    #expect(stored.output == "!")
  }

  @Test func `a value that is not UTF-8 is sent byte for byte`() throws {
    let run = try run(
      "formstream",
      rawArguments: [Array("encode".utf8), Array("--boundary=B".utf8), Array("--field".utf8)]
        + [[0x66, 0x3D, 0xE9]])
    #expect(
      run.stdout == Array((Self.start + "\r\n\r\n").utf8) + [0xE9] + Array("\r\n--B--\r\n".utf8))
  }

  @Test(arguments: ["a,b.txt", "a;b.txt", "@a", "<a", " a ", "a=b", "\"a\"", "a\\b", "ä\n1.txt"])
  func `--field and --file accept any text`(_ name: String) throws {
    let place = try TemporaryDirectory()
    try place.write(name, "!")
    let run = try formstream(
      "encode", "--sniff=none", "--boundary=B", "--file", "f=\(name)", in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.hasSuffix(Self.typeLine + "!\r\n--B--\r\n"))
    let field = try formstream("encode", "--boundary=B", "--field", "f=\(name)")
    #expect(field.output == Self.start + "\r\n\r\n\(name)\r\n--B--\r\n")
  }
}
