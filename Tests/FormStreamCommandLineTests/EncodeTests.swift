import Testing
import FormStreamTestSupport

@Suite struct EncodeTests {
  @Test func `encode writes the body, byte for byte`() throws {
    let place = try TemporaryDirectory()
    try place.write("a.txt", "hello\n")
    let run = try formstream(
      "encode", "--boundary", "B", "-F", "title=Sunset", "-F", "f=@a.txt;type=text/plain",
      "--file", "g=a.txt", "--type", "text/x-g", "--filename", "é.txt",
      "--part-header", "X-One: 1", "--part-header", "X-Two: 2", "--range", "1:3", in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(
      run.output == """
        --B\r
        Content-Disposition: form-data; name="title"\r
        \r
        Sunset\r
        --B\r
        Content-Disposition: form-data; name="f"; filename="a.txt"\r
        Content-Type: text/plain\r
        \r
        hello
        \r
        --B\r
        Content-Disposition: form-data; name="g"; filename="é.txt"\r
        Content-Type: text/x-g\r
        X-One: 1\r
        X-Two: 2\r
        \r
        ell\r
        --B--\r

        """)
    #expect(run.stderr == "Content-Type: multipart/form-data; boundary=B\n")
  }

  @Test func `header values are sent byte for byte`() throws {
    let run = try formstream(
      "encode", "-F", "a=b", "--part-header", "X:\u{301}a", "--part-header", "Y: \u{301}b")
    #expect(run.output.contains("\r\nX: \u{301}a\r\nY: \u{301}b\r\n"), "\(run.output)")
  }

  @Test func `a form without parts is a closing line, and a note`() throws {
    let run = try formstream("encode", "--boundary=B")
    #expect(run.output == "--B--\r\n")
    #expect(
      run.stderr == """
        formstream: The form has no parts: -F, --field and --file add them.
        Content-Type: multipart/form-data; boundary=B

        """)
  }

  /// Headers and body are made in two runs; with two random boundaries, they would not match.
  @Test func `headers with a random boundary are noted`() throws {
    #expect(
      try formstream("encode", "--headers", "-F", "a=b").stderr.contains("give the same --boundary")
    )
    #expect(try formstream("encode", "--headers", "--boundary=B", "-F", "a=b").stderr == "")
  }

  @Test func `the length in the headers is the number of bytes`() throws {
    let place = try TemporaryDirectory()
    try place.write("data", [UInt8](repeating: 7, count: 300_000))
    let arguments = ["encode", "--boundary", "B", "-F", "a=é", "-F", "f=@data", "-F", "t=<data"]
    let headers = try run("formstream", arguments + ["--headers"], in: place)
    let body = try run("formstream", arguments, in: place)
    #expect(
      headers.output == """
        Content-Type: multipart/form-data; boundary=B
        Content-Length: \(body.stdout.count)

        """)
    #expect(body.stdout.count > 600_000)
  }

  @Test func `headers quote a boundary if needed`() throws {
    let run = try formstream("encode", "--boundary", "a b:c", "--headers")
    #expect(
      run.output == """
        Content-Type: multipart/form-data; boundary="a b:c"
        Content-Length: 11

        """)
  }

  @Test func `headers of a form of unknown length have no Content-Length`() throws {
    let run = try formstream(
      "encode", "--boundary", "B", "--headers", "-F", "f=@-", standardInput: [1, 2])
    #expect(run.exit == 0)
    #expect(run.output == "Content-Type: multipart/form-data; boundary=B\n")
    #expect(run.stderr.contains("no Content-Length"))
  }

  @Test func `a dry run shows every offset and no contents`() throws {
    let place = try TemporaryDirectory()
    try place.write("a.txt", "hello\n")
    let run = try formstream(
      "encode", "--boundary", "B", "--dry-run", "--sniff", "none", "-F", "t=x", "-F", "f=@a.txt",
      "-F", "s=<-",
      standardInput: [1], in: place)
    #expect(
      run.output == """
        Content-Type: multipart/form-data; boundary=B
        Content-Length: unknown

        @0            --B
                      Content-Disposition: form-data; name="t"
        @49           [1 byte, from the command line]
        @50           --B
                      Content-Disposition: form-data; name="f"; filename="a.txt"
                      Content-Type: application/octet-stream
        @159          [6 bytes, from the file a.txt]
        @165          --B
                      Content-Disposition: form-data; name="s"
        @216          [unknown length, from standard input]
        @unknown      --B--

        """)
  }

  @Test(arguments: ["--headers", "--dry-run"])
  func `no file is opened if its contents are not needed`(_ flag: String) throws {
    let place = try TemporaryDirectory()
    try place.write("a.txt", "hello\n")
    let trace = place.path("trace")
    let plain = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-o", trace, builtBinary("formstream"), "encode", flag, "--sniff", "extension", "-F",
        "f=@a.txt",
      ], in: place,
      environment: underStrace)
    #expect(plain.exit == 0)
    let lines = try shell("grep -c 'a\\.txt' trace; grep -c 'open.*a\\.txt' trace", in: place)
    let counts = lines.output.split(separator: "\n").compactMap { Int($0) }
    #expect(counts.count == 2 && counts[0] > 0 && counts[1] == 0, "\(lines.output)")
  }

  @Test func `a file is opened once, read in order, and closed`() throws {
    let place = try TemporaryDirectory()
    try place.write("a.bin", [UInt8](repeating: 1, count: 600_000))
    try place.write("b.bin", [UInt8](repeating: 2, count: 10))
    let run = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-y", "-e", "trace=openat,pread64,close", "-o", place.path("trace"),
        builtBinary("formstream"), "encode", "--sniff", "none", "-F", "a=@a.bin", "-F", "b=@b.bin",
      ], in: place, environment: underStrace)
    #expect(run.exit == 0)
    let trace = try shell("cat trace", in: place).output.split(separator: "\n")
    var isOpen = false
    var opened = 0
    for line in trace where line.contains(".bin") {
      if line.contains("openat(") {
        #expect(!isOpen, "two files are open at once: \(line)")
        isOpen = true
        opened += 1
      } else if line.contains("close(") {
        isOpen = false
      } else {
        let asked = line.split(separator: ", ").compactMap { Int($0) }.first ?? .max
        #expect(asked <= 256 * 1024, "\(line)")
      }
    }
    #expect(opened == 2)
    #expect(!isOpen)
  }

  @Test func `a file is sniffed and sent through the same descriptor`() throws {
    let place = try TemporaryDirectory()
    try place.write("a.bin", [UInt8](repeating: 1, count: 600_000))
    let trace = place.path("trace")
    let run = try run(
      program: "/usr/bin/strace",
      ["-f", "-y", "-o", trace, builtBinary("formstream"), "encode", "-F", "a=@a.bin"], in: place,
      environment: underStrace)
    #expect(run.exit == 0)
    let lines = try shell(
      "grep 'a\\.bin' trace | grep -oE '(openat|pread64|lseek|close)\\(.*'", in: place)
    let calls = lines.output.split(separator: "\n")
    #expect(calls.count { $0.hasPrefix("openat(") } == 1, "\(lines.output)")
    #expect(calls.count { $0.hasPrefix("close(") } == 1)
    #expect(!calls.contains { $0.hasPrefix("lseek(") })
    // Once for libmagic, and then from the start again for the body.
    #expect(calls.count { $0.hasPrefix("pread64(") && $0.contains(", 0) = ") } == 2)
  }

  @Test(arguments: [
    ("browser", #"name="a%22b"; filename="é%22\.txt""#),
    ("rfc2231", #"name="a%22b"; filename="é%22%5C.txt"; filename*=UTF-8''%C3%A9%22%5C.txt"#),
    ("backslash", #"name="a\"b"; filename="é\"\\.txt""#),
    ("percent", #"name="a%22b"; filename="%C3%A9%22%5C.txt""#),
  ])
  func `each escaping profile can be chosen`(_ profile: String, _ expected: String) throws {
    let run = try formstream(
      "encode", "--escaping", profile, "--field", #"a"b=x"#, "--filename", #"é"\.txt"#)
    #expect(run.output.contains("Content-Disposition: form-data; \(expected)\r\n"), "\(run.output)")
  }

  @Test func `browser text makes lone line breaks CRLF, in text fields only`() throws {
    let place = try TemporaryDirectory()
    try place.write("f", "1\n2\r")
    let plain = try formstream("encode", "--boundary=B", "--field", "t=1\n2\r3\r\n4")
    #expect(plain.output.contains("\r\n\r\n1\n2\r3\r\n4\r\n--B--"))
    let browser = try formstream(
      "encode", "--boundary=B", "--browser-text", "--field", "t=1\n2\r3\r\n4", "-F", "f=<f",
      in: place)
    #expect(browser.output.contains("\r\n\r\n1\r\n2\r\n3\r\n4\r\n--B\r\n"))
    #expect(browser.output.contains("\r\n\r\n1\n2\r\r\n--B--"))
  }

  @Test func `text is always searched for the boundary, files only on request`() throws {
    let place = try TemporaryDirectory()
    try place.write("f", "first\n--Bird\n")
    let text = try formstream("encode", "--boundary", "B", "--field", "t=--B")
    #expect(text.exit == 64)
    #expect(text.stderr.contains("occurs inside part \"t\""))
    let arguments = ["encode", "--boundary", "B", "-F", "f=@f"]
    #expect(try run("formstream", arguments, in: place).exit == 0)
    let verified = try run("formstream", arguments + ["--verify-boundary"], in: place)
    #expect(verified.exit == 64)
    #expect(verified.stdout.isEmpty)
  }

  @Test func `each run has its own random boundary`() throws {
    let first = try formstream("encode", "--headers", "-F", "a=b")
    #expect(first.output.hasPrefix("Content-Type: multipart/form-data; boundary=FormStream-"))
    #expect(try formstream("encode", "--headers", "-F", "a=b").output != first.output)
  }
}
