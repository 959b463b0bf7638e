import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// What the parser refuses, and the offset of the error.
@Suite struct ParserMalformedTests {
  private static let start = "--B\r\n"
  private static let disposition = "Content-Disposition: form-data; name=\"a\"\r\n"

  /// The header lines of a part, and the offset of the error in them.
  struct Row: Sendable, CustomTestStringConvertible {
    let lines: String
    let place: Int
    var testDescription: String { lines.debugDescription }

    init(_ lines: String, _ place: Int) { (self.lines, self.place) = (lines, place) }
  }

  static let rows = [
    Row(disposition + "none\r\n", 42), Row(disposition + ": x\r\n", 42),
    Row(disposition + "X : y\r\n", 42), Row(disposition + "X\t: y\r\n", 42),
    Row(disposition + "X Y: z\r\n", 42), Row(disposition + "é: z\r\n", 42),
    Row(" " + disposition, 0), Row("\t\r\n" + disposition, 0), Row(" \r\n", 0),
    Row(disposition + "X: \0\r\n", 45), Row(disposition + "X\0: \r\n", 43),
    Row(disposition + "X: \ry\r\n", 45), Row(disposition + "X: y\r\r\n", 46),
    Row(disposition + "\rX: y\r\n", 42), Row("X: y\n" + disposition, 4),
    Row(disposition + "\n", 42), Row(disposition + "X: y\n\n", 46),
    // Content-Disposition.
    Row("", 0), Row("Content-Type: a/b\r\n", 0), Row(disposition + disposition, 0),
    Row(disposition + "CONTENT-disposition: form-data; name=b\r\n", 0),
    Row("Content-Disposition: attachment; name=a\r\n", 0),
    Row("Content-Disposition: form-data\r\n", 0),
    Row("Content-Disposition: form-data; filename=a\r\n", 0),
    Row("Content-Disposition: form-data; name=\"a\r\n", 0),
    Row("Content-Disposition:\r\n", 0), Row("Content-Disposition: ; name=a\r\n", 0),
    Row("Content-Disposition: form-data; name=a; name=a\r\n", 0),
  ]

  @Test(arguments: rows) func `a malformed header is refused with its offset`(row: Row) throws {
    let run = try ParserRun("p\r\n\(Self.start)\(row.lines)\r\nx\r\n--B--\r\n")
    #expect(run.events == [])
    #expect(run.code == .malformedBody)
    #expect(run.offset == Int64(8 + row.place))
  }

  @Test func `bytes over 0x7F are allowed in a value, and are kept`() throws {
    let lines = Array("--B\r\n\(Self.disposition)X: ".utf8) + [0x80, 0xFF, 0x7F, 0x01]
    let run = try ParserRun(lines + Array("\r\n\r\n\r\n--B--".utf8))
    #expect(
      run.parts.first?.head.headers.first { $0.name == "X" }?.bytes == [0x80, 0xFF, 0x7F, 0x01])
  }

  @Test(arguments: [
    "--B x\r\n", "--B \rx", "--B \r\r\n", "--B \r \n", "--B \r\t\n", "--B\t--\r\n", "--B \n",
  ])
  func `text after the white space after a delimiter is refused`(line: String) throws {
    let run = try ParserRun(line + "\(Self.disposition)\r\n\r\n--B--\r\n")
    #expect(run.code == .malformedBody)
    let place = line.utf8.dropFirst(3).enumerated().first { index, byte in
      let before = Array(line.utf8)[index + 2]
      return byte != 0x20 && byte != 0x09 && byte != 0x0D || before == 0x0D
    }
    #expect(run.offset == place.map { Int64($0.offset + 3) })
  }

  /// A boundary may contain a colon, so that its line looks like a header: for one parser the
  /// headers continue, for another the next part begins.
  @Test(arguments: ["B", "a:b", "a:", "a: b"])
  func `a delimiter among the headers is refused`(boundary: String) throws {
    for end in ["\r\n", "--\r\n", " \r\n"] {
      let start = "--\(boundary)\r\n\(Self.disposition)"
      let run = try ParserRun(
        "\(start)--\(boundary)\(end)\(Self.disposition)\r\nx\r\n--\(boundary)--\r\n",
        boundary: boundary)
      #expect(run.code == .malformedBody)
      #expect(run.offset == Int64(start.utf8.count))
    }
  }

  @Test func `a body that is cut anywhere is incomplete or malformed, and never complete`() throws {
    let body = Array(
      "pre\r\n--B \r\n\(Self.disposition)X: y\r\n z\r\n\r\nx\r\n--BX\r\n--B\r\n\(Self.disposition)\r\n--B--"
        .utf8)
    for size in 0..<body.count {
      let run = try ParserRun(Array(body[..<size]))
      if run.isComplete || run.code != .bodyIncomplete || run.offset != Int64(size) {
        Issue.record("\(size) bytes: \(run)")
      }
      if run.events.contains(.done) { Issue.record("\(size) bytes end the form") }
    }
    #expect(try ParserRun(body).isComplete)
  }

  @Test(arguments: [
    "", "x", "--", "--b--", "\r\n", "a=1&b=2", "{\"a\": 1}", "--C\r\n\r\n\r\n--C--\r\n",
  ])
  func `a body without its boundary is incomplete`(body: String) throws {
    let run = try ParserRun(body)
    #expect(run.events == [])
    #expect(run.code == .bodyIncomplete)
    #expect(run.offset == Int64(body.utf8.count))
  }

  @Test func `a parser throws its first error again`() throws {
    let parser = try FormParser(boundary: "B")
    Array("--B\r\nbad\r\n\r\n--B--".utf8).withUnsafeBytes { bytes in
      var input = bytes
      let first = failure { try parser.next(&input) }
      #expect(first?.code == .malformedBody)
      #expect(first?.offset == 5)
      var more = bytes
      let second = failure { try parser.next(&more) }
      #expect(second?.offset == 5)
      #expect(more.count == bytes.count)
      #expect(failure { try parser.finish() }?.offset == 5)
    }
  }

  @Test func `a parser that ended too early throws that error again`() throws {
    let parser = try FormParser(boundary: "B")
    #expect(failure { try parser.finish() }?.code == .bodyIncomplete)
    Array("--B--".utf8).withUnsafeBytes { bytes in
      var input = bytes
      #expect(failure { try parser.next(&input) }?.code == .bodyIncomplete)
    }
  }

  @Test(arguments: ["", "a\r\nb", "a\nb", "\r", String(repeating: "a", count: 71)])
  func `an invalid boundary is refused`(boundary: String) {
    #expect(failure { try FormParser(boundary: boundary) }?.code == .invalidBoundary)
  }
}
