import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// What the parser accepts beyond the strict grammar, and where it stops.
@Suite struct ParserLeniencyTests {
  private let head = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
  private var body: String { "--B\r\n\(head)1\r\n--B--\r\n" }

  private func texts(_ body: String, _ options: FormParser.Options = .init()) throws -> [String]? {
    let run = try ParserRun(body, options: options)
    return run.isComplete ? run.parts.map(\.text) : nil
  }

  /// RFC 2046 §5.1.1: "implementations must ignore anything that appears before the first boundary
  /// delimiter line or after the last one".
  @Test(arguments: [
    "\r\n", "preamble\r\n", "--A--\r\n", "--BX\r\n", "x--BX--BX\r\n", "-B\r\n\r\n", "\n\r\r\n",
    // Other boundaries that begin in the same way.
    "--B-\r\n", "--B-x\r\n", "x--B-x--B-\r\n", "--B--x\r\n", "x--B---\r\n", "--B-x--\r\n",
  ])
  func `a preamble is skipped`(preamble: String) throws {
    #expect(try texts(preamble + body) == ["1"])
  }

  /// Regression: the damaged delimiter counted as a preamble with all that followed it: the form was complete, and had
  /// no parts.
  @Test(arguments: [
    ("\u{FEFF}", "", 3), (" ", "", 1), ("\t", "", 1), ("x", "", 1), ("\n", "", 1), ("-", "", 1),
    ("", "\n", 0), ("x\r\n\r\nx", "", 6), ("a\r\n--BX\r\n ", "", 10), ("--BX--B", "\t", 7),
    ("x--B--\r\n", "", 1), ("x--B-- y\r\n", "", 1), ("--B--B \r\n", "", 3), ("--B-x--B\r\n", "", 5),
  ])
  func `a body whose first delimiter is damaged is malformed`(
    before: String, after: String, offset: Int64
  ) throws {
    let whole = "\(before)--B\(after)\r\n\(head)1\r\n--B--\r\n"
    for cuts in [[], Array(1..<whole.utf8.count)] {
      let run = try ParserRun(whole, cuts: cuts)
      #expect(run.code == .malformedBody)
      #expect(run.offset == offset)
      #expect(run.events.isEmpty)
    }
  }

  /// Regression: the part after the damaged delimiter counted as a preamble. The form was complete, and lacked it.
  @Test(arguments: [
    "", "--B--\r\n", "--B-\r\n", "--Bx\r\n", "--B;\r\n", "--B\0\r\n", "--B\u{B}\r\n",
    "--B\u{A0}\r\n", "-B\r\n",
    "B\r\n", "--b\r\n", "\u{2013}B\r\n", "--\"B\"\r\n", "--B",
  ])
  func `a form is malformed if a part is before its first delimiter`(first: String) throws {
    for rest in ["--B--\r\n", "--B\r\n\(head)2\r\n--B--\r\n"] {
      for head in [head, head.lowercased(), head.uppercased()] {
        let whole = "\(first)\(head)1\r\n\(rest)"
        for cuts in [[], Array(1..<whole.utf8.count)] {
          let run = try ParserRun(whole, cuts: cuts)
          #expect(run.code == .malformedBody)
          #expect(run.offset == Int64(first.utf8.count))
          #expect(run.parts.isEmpty)
        }
      }
    }
  }

  /// Regression: a second body after the first was an epilogue, and its parts were lost.
  @Test(arguments: [
    "--B\r\n", "\r\n--B\r\n", "", "epilogue\r\nContent-Disposition\r\n",
    "Content-DispositionContent-",
  ])
  func `a form is malformed if a part is after its last delimiter`(before: String) throws {
    for start in [body, "--B--\r\n"] {
      let whole = "\(start)\(before)\(head)2\r\n--B--\r\n"
      for cuts in [[], Array(1..<whole.utf8.count)] {
        let run = try ParserRun(whole, cuts: cuts)
        #expect(run.code == .malformedBody)
        #expect(run.offset == Int64(start.utf8.count + before.utf8.count))
      }
    }
  }

  @Test(arguments: [
    "\r\n", "epilogue", "\r\n--B\r\n", "--B\r\nContent-Type: text/plain\r\n\r\n--B--\r\n",
    "Content-Disposition form-data",
  ])
  func `an epilogue is skipped unless it holds a part`(epilogue: String) throws {
    #expect(try texts(body + epilogue) == ["1"])
  }

  /// RFC 2046 §5.1.1: transport-padding := *LWSP-char.
  @Test(arguments: [" ", "\t", " \t  \t", String(repeating: " ", count: 5000)])
  func `white space can follow a delimiter`(padding: String) throws {
    #expect(
      try texts("--B\(padding)\r\n\(head)1\r\n--B\(padding)\r\n\(head)2\r\n--B--\(padding)") == [
        "1", "2",
      ])
  }

  @Test(arguments: ["", " ", "\r\n", "\r"])
  func `the last delimiter is complete with its two hyphens`(end: String) throws {
    #expect(try texts("--B\r\n\(head)1\r\n--B--\(end)") == ["1"])
  }

  @Test func `a delimiter can follow a header block immediately`() throws {
    #expect(try texts("--B\r\n\(head)--B\r\n\(head)--B--") == ["", ""])
    #expect(try texts("--B\r\n\(head)\r\n--B--") == [""])
    #expect(try texts("--B\r\n\(head)--BX\r\n--B--") == ["--BX"])
  }

  @Test func `a header can continue on the next line`() throws {
    let run = try ParserRun(
      "--B\r\nContent-Disposition: form-data;\r\n\tname=\"a b\";\r\n   filename=\"c\r\n d\"\r\n"
        + "X: 1\r\n \t \r\n 2 \r\n\r\n\r\n--B--")
    #expect(run.isComplete)
    #expect(run.parts.first?.head.name == "a b")
    #expect(run.parts.first?.head.filename == "c d")
    #expect(run.parts.first?.head["x"] == "1 2")
  }

  /// Regression: a type on the line after its header's name had a space before it.
  @Test func `white space is removed from a value that begins on the next line`() throws {
    let run = try ParserRun(
      "--B\r\nContent-Disposition:\r\n form-data; name=a\r\nContent-Type: \r\n\ttext/plain\r\n \r\n"
        + "\r\n\r\n--B--")
    #expect(run.isComplete)
    #expect(run.parts.first?.head.contentType == "text/plain")
    #expect(run.parts.first?.head["content-disposition"] == "form-data; name=a")
  }

  @Test func `a form may have no parts`() throws {
    #expect(try texts("--B--") == [])
    #expect(try texts("--B--\r\n") == [])
    #expect(try texts("preamble\r\n--B--\r\nepilogue") == [])
    #expect(try ParserRun("--B--").events == [.done])
  }

  @Test func `lines may end with LF alone only if the options allow it`() throws {
    let bare = body.replacing("\r\n", with: "\n")
    var options = FormParser.Options()
    options.allowsBareLF = true
    #expect(try texts(bare, options) == ["1"])
    #expect(try texts(body, options) == ["1"])
    #expect(
      try texts("pre\n--B\r\n\(head)1\r\r\n--B\t\n\(head)2\n\r\n--B--\n", options) == [
        "1\r", "2\n",
      ])
    #expect(try texts("--B\r\n\(head)1\r\n--B\rx\n--B--", options) == ["1\r\n--B\rx"])
    #expect(try texts("--B\n\(head)1\r--B--\n--B--", options) == ["1\r--B--"])

    let run = try ParserRun(bare)
    #expect(run.code == .bodyIncomplete)
    #expect(run.events == [])
    #expect(try texts("--B\r\n\(head)1\n--B--\r\n--B--") == ["1\n--B--"])
  }

  /// Text that begins like a delimiter and continues in another way is data.
  @Test(
    arguments: [
      "\r\n--BX", "\r\n--B-", "\r\n--B--x", "\r\n--B\rX", "\r\n--B\r", "\r\n--B\n", "\r\n--B-\r\n-",
      "\r\n--B---", "\r\n--B\r\r\n--B\rX", "\r\n--\r\n--", "\n--B\r\n", "\r--B\r\n", "--B--x",
      "--B-",
    ])
  func `data that begins like a delimiter is data`(text: String) throws {
    #expect(try texts("--B\r\n\(head)\(text)\r\n--B--\r\n") == [text])
    #expect(try texts("--B\r\n\(head)x\(text)y\r\n--B--\r\n") == ["x\(text)y"])
  }

  @Test func `a part needs no name if the options don't require one`() throws {
    var options = FormParser.Options()
    options.requiresNames = false
    let run = try ParserRun(
      "--B\r\n\r\n1\r\n--B\r\nContent-Disposition: attachment; filename=f\r\n\r\n2\r\n"
        + "--B\r\nContent-Disposition: \"\r\n\r\n3\r\n--B--", options: options)
    #expect(run.parts.map(\.text) == ["1", "2", "3"])
    #expect(run.parts.map(\.head.filename) == [nil, "f", nil])
    #expect(run.parts.map(\.head.disposition?.type) == [nil, "attachment", nil])
  }
}
