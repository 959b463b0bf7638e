import FormStreamTestSupport
import Testing

/// A body whose boundary nobody has told: `encode` says it, and `parse` finds it.
@Suite struct UnnamedBoundaryTests {
  @Test func `encode says the type of the body that it has written`() throws {
    let place = try TemporaryDirectory()
    for line in ["-o body.bin", "> body.bin", "-o - | cat > body.bin"] {
      let run = try shell("$F encode -F title=Sunset \(line)", in: place)
      #expect(run.exit == 0)
      let body = try shell("cat body.bin", in: place).output
      let boundary = try #require(body.split(separator: "\r\n").first?.dropFirst(2))
      #expect(run.stderr == "Content-Type: multipart/form-data; boundary=\(boundary)\n")
    }
  }

  @Test(arguments: ["-q", "--headers", "--dry-run"])
  func `encode does not say it with -q, and not twice`(_ flag: String) throws {
    let run = try formstream("encode", flag, "--boundary", "B", "-F", "a=b")
    #expect(run.exit == 0)
    #expect(run.stderr.isEmpty, "\(run.stderr)")
  }

  @Test func `encode does not say it of a body that is incomplete`() throws {
    let run = try shell("$F encode -F a=b > /dev/full")
    #expect(run.exit == 74)
    #expect(!run.stderr.contains("Content-Type"), "\(run.stderr)")
  }

  @Test func `the line that encode prints is understood by parse`() throws {
    let run = try shell(
      """
      $F encode --boundary 'a b=?' -F a=b -o body 2> type
      $F parse -q --content-type "$(cat type)" body
      """)
    #expect(run.output.contains("1 part"), "\(run.stderr)")
  }

  /// The first examples in the help of both, one after the other, as a newcomer tries them.
  @Test func `the first example of parse reads what the first example of encode writes`() throws {
    let place = try TemporaryDirectory()
    try place.write("sunset.jpg", noise(1000))
    var lines: [String] = []
    for verb in ["encode", "parse"] {
      let line = try FormStreamCommandLineTests.lines(inHelpOf: verb).first {
        $0.hasPrefix("  formstream \(verb)")
      }
      lines.append(try #require(line).replacing("formstream", with: "$F"))
    }
    let run = try shell(lines.joined(separator: " && "), in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains("The form is complete: 2 parts"))
    #expect(run.stderr.contains("Content-Type: multipart/form-data; boundary=FormStream-"))
    #expect(run.stderr.contains("formstream: The boundary is \"FormStream-"), "\(run.stderr)")
  }

  private static let part = "Content-Disposition: form-data; name=a\r\n\r\nb"

  /// Bodies, and the boundary that is in their first delimiter line.
  static let bodies: [(body: String, boundary: String)] = [
    ("--B\r\n\(part)\r\n--B--\r\n", "B"),
    ("--B \t\r\n\(part)\r\n--B--\r\n", "B"),
    ("----x\r\n\(part)\r\n----x--", "--x"),
    ("A preamble.\r\n - - \r\n--B\r\n\(part)\r\n--B--\r\n", "B"),
    ("\r\n--B\r\n\(part)\r\n--B--\r\n", "B"),
    // Two hyphens at its end belong to the boundary if a part follows.
    ("--B--\r\n\(part)\r\n--B----\r\n", "B--"),
    ("--a b\r\n\(part)\r\n--a b--\r\n", "a b"),
    (
      "--B\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name=a\r\n\r\n--C\r\n--B--",
      "B"
    ),
  ]

  @Test(arguments: bodies)
  func `parse takes the first delimiter line if no boundary is given`(
    _ body: String, _ boundary: String
  ) throws {
    let run = try formstream("parse", "-", standardInput: Array(body.utf8))
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains("The form is complete: 1 part, \(body.utf8.count) bytes."))
    #expect(
      run.stderr
        == "formstream: The boundary is \"\(boundary)\", as in the first delimiter line of the body.\n"
    )
    let given = try formstream(
      "parse", "--json", "--boundary", boundary, "-", standardInput: Array(body.utf8))
    let found = try formstream("parse", "--json", "-q", "-", standardInput: Array(body.utf8))
    #expect(found.output == given.output)
    #expect(found.stderr.isEmpty, "\(found.stderr)")
  }

  /// The form has no parts, so the first delimiter line is also the last.
  @Test(arguments: ["--B--\r\n", "--B--", "--B--\r\n\r\n"])
  func `a form without parts has a boundary too`(_ body: String) throws {
    let run = try formstream("parse", "-", standardInput: Array(body.utf8))
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains("no parts"))
    #expect(run.stderr.contains("The boundary is \"B\""), "\(run.stderr)")
  }

  @Test func `the boundary of a body with LF alone is found with --bare-lf, and hinted at without`()
    throws
  {
    let body = Array("--B\nContent-Disposition: form-data; name=a\n\nb\n--B--\n".utf8)
    let run = try formstream("parse", "--bare-lf", "-", standardInput: body)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains("1 part"))
    let strict = try formstream("parse", "-", standardInput: body)
    #expect(strict.exit == 1)
    #expect(strict.stderr.contains("--bare-lf"), "\(strict.stderr)")
  }

  static let unfound: [[UInt8]] = [
    Array("no form\r\n".utf8), Array("x--B\r\n\(part)\r\nx--B--\r\n".utf8),
    Array("--\r\n--\r\n".utf8), Array("- -B\r\n".utf8),
    Array("--\(String(repeating: "b", count: 71))\r\n\(part)".utf8),
    Array("--\r\n".utf8) + [0x2D, 0x2D, 0xFF, 0x0D, 0x0A],
    [UInt8](repeating: UInt8(ascii: "x"), count: 70_000) + Array("\r\n--B--\r\n".utf8),
    [UInt8](repeating: UInt8(ascii: "-"), count: 70_000),
  ]

  @Test(arguments: unfound.indices)
  func `a body without a delimiter line is malformed`(_ index: Int) throws {
    let body = Self.unfound[index]
    let run = try formstream("parse", "--json", "-", standardInput: body)
    #expect(run.exit == 1)
    #expect(run.stderr.contains("has no delimiter line"), "\(run.stderr)")
    #expect(run.stderr.contains("--boundary"), "\(run.stderr)")
    #expect(
      run.output.hasPrefix(#"{"schema":"formstream.parsed/1","body_bytes":"#)
        && run.output.contains(#""complete":false,"parts":[],"error":{"code":"malformed-body","#))
  }

  @Test func `every way to cut a body into two pieces finds the same boundary`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", "--B \r\n\(Self.part)\r\n--B--\r\n")
    for split in 1..<12 {
      let run = try shell(
        "(head -c \(split) body; tail -c +\(split + 1) body) | $F parse -",
        in: place)
      #expect(run.stderr.contains("The boundary is \"B\""), "\(split): \(run.stderr)")
      #expect(run.exit == 0, "\(split): \(run.stderr)")
    }
  }

  @Test func `a boundary that can't be shown is escaped`() throws {
    let body = Array("--B\u{1B}[31m\r\n\(Self.part)\r\n--B\u{1B}[31m--\r\n".utf8)
    let run = try formstream("parse", "-", standardInput: body)
    #expect(run.exit == 0)
    #expect(!run.stderr.contains("\u{1B}"), "\(run.stderr)")
  }

  @Test(arguments: [["--boundary", "--B"], ["--boundary", "C"]])
  func `after a wrong boundary, the message says that parse can find it`(_ flags: [String]) throws {
    let body = Array("--B\r\n\(Self.part)\r\n--B--\r\n".utf8)
    let run = try run("formstream", ["parse"] + flags + ["-"], standardInput: body)
    #expect(run.exit == 1)
    #expect(run.stderr.contains("Without --boundary"), "\(run.stderr)")
  }

  @Test(arguments: [
    ("parts=1", "more than 1 part, ", "--limit parts"),
    ("parts=0", "more than 0 parts, ", "--limit parts"),
    ("part-bytes=1", "more than 1 byte, ", "--limit part-bytes"),
    ("body=60", "more than 60 bytes, ", "--limit body"),
    ("header-block=9", "more than 9 bytes, ", "--limit header-block"),
    ("headers=1", "more than 1 header, ", "--limit headers"),
    ("all-headers=50", "more than 50 bytes, ", "--limit all-headers"),
    ("preamble=1", "more than 1 byte before", "--limit preamble"),
    ("epilogue=1", "more than 1 byte after", "--limit epilogue"),
    ("boundary=0", "1 to 0 bytes", "--limit boundary"),
  ])
  func `a message about a limit names the flag that raises it`(
    _ limit: String, _ says: String, _ remedy: String
  ) throws {
    let part = "Content-Disposition: form-data; name=a\r\nX-A: b\r\n\r\nbcd"
    let body = Array("pre\r\n--B\r\n\(part)\r\n--B\r\n\(part)\r\n--B--\r\nepi".utf8)
    let run = try formstream(
      "parse", "--boundary", "B", "--limit", limit, "-", standardInput: body)
    #expect(run.exit != 0)
    #expect(run.stderr.contains(says), "\(run.stderr)")
    #expect(run.stderr.contains(remedy), "\(run.stderr)")
  }
}
