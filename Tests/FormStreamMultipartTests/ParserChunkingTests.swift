import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// The events do not depend on how a body is divided.
@Suite struct ParserChunkingTests {
  /// A body and its options.
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    var boundary = "B"
    var bareLF = false

    init(_ text: String, boundary: String = "B", bareLF: Bool = false) {
      (self.text, self.boundary, self.bareLF) = (text, boundary, bareLF)
    }

    /// One part with one header.
    init(part: String, boundary: String = "B") {
      self.init("--\(boundary)\r\na:\r\n\r\n\(part)\r\n--\(boundary)--\r\n", boundary: boundary)
    }

    var testDescription: String { text.debugDescription }

    func run(cuts: some Sequence<Int> = EmptyCollection<Int>()) throws -> ParserRun {
      var options = FormParser.Options()
      options.requiresNames = false
      options.allowsBareLF = bareLF
      return try ParserRun(text, boundary: boundary, cuts: cuts, options: options)
    }
  }

  static let cases = [
    // Data that begins like a delimiter.
    Case(part: ""), Case(part: "x"), Case(part: "\r"), Case(part: "\n"), Case(part: "\r\n"),
    Case(part: "\r\n\r\n"), Case(part: "\r\r\n\n"), Case(part: "\r\n-"), Case(part: "\r\n--"),
    Case(part: "\r\n--A"), Case(part: "\r\n--BX"), Case(part: "\r\n--B-"), Case(part: "--B-"),
    Case(part: "\r\n--B-\r\n--B-x"), Case(part: "\r\n--B--x"), Case(part: "\r\n--B\rX"),
    Case(part: "\r\n--B\r"), Case(part: "\r\n--B\r\r\n--B\rx"), Case(part: "--BX\r\n--B\r\r"),
    Case(part: "\r\n--B\nX"), Case(part: "\n--B\r\n"), Case(part: "--\r\n--\r\n--"),
    // Boundaries that overlap themselves.
    Case(part: "-----", boundary: "-"), Case(part: "\r\n---x\r\n----x", boundary: "-"),
    Case(part: "\r\n--ababa\r\n--aba", boundary: "abab"), Case(part: "--aaa\r", boundary: "aaaa"),
    Case(part: "\r\n----a\r\n--a--", boundary: "--a-"),
    // Around the parts.
    Case("--B--"), Case("--B--\r\n"), Case("--B-- \t\r\nepilogue"),
    Case("\r\n--B--\r\n\r\n--B\r\n"),
    Case("pre\r\n--B-x\r\n--B \t\r\na: b\r\n c\r\n\r\n\r\n--B\t\r\n\r\n--B--"),
    Case("--BX\r\n--B\r\n\r\n--B--"),
    Case("--B\r\na:\r\n\r\n1\r\n--B\r\nb:\r\n\r\n2\r\n--B--"),
    // Malformed bodies.
    Case(""), Case("--B"), Case("--B-"), Case("--B\r\nnone\r\n\r\n"), Case("--B x\r\n"),
    Case("--B\r\na: \0\r\n\r\n"), Case("--B\r\na: b\nc: d\r\n\r\n"), Case("--B\r\n a\r\n\r\n"),
    Case("--B\r\na:\r\n\r\nx\r\n--B"), Case("--B\r\na:\r\n\r\nx\r\n--B \r"),
    // Damaged delimiters before the first one.
    Case("--BX\r\n--B\r\r\n--B\r\n\r\n--B--"),
    Case("x--B\r\na:\r\n\r\n1\r\n--B\r\nb:\r\n\r\n2\r\n--B--"),
    // Lines that end with an LF alone.
    Case("--B\na: b\n\nx\n--B--\n", bareLF: true),
    Case("--B\n\n\r\r\n--BX\r\n--B\n\n", bareLF: true),
    Case("p\r\n--B \n\r\n\r\r\n--B\r\n\n\r\n--B\rX\n--B--", bareLF: true),
    Case("--B\n\n\n\n--B-\n--B\r\r\n--B--", bareLF: true),
  ]

  @Test(arguments: cases)
  func `a body in any two pieces and in single bytes gives the same events`(one: Case) throws {
    let undivided = try one.run()
    let size = one.text.utf8.count
    for cut in 0...size where try one.run(cuts: [cut]) != undivided {
      Issue.record("cut at \(cut)")
    }
    let bytes = try one.run(cuts: 0..<size)
    #expect(bytes == undivided)
    #expect(!bytes.hasEmptyBytes)
  }

  @Test(arguments: cases)
  func `a body in any three pieces gives the same events`(one: Case) throws {
    let undivided = try one.run()
    let size = one.text.utf8.count
    for first in 0...size {
      for second in first...size {
        if try one.run(cuts: [first, second]) != undivided {
          Issue.record("cuts at \(first), \(second)")
        }
      }
    }
  }

  /// The rest of the first piece was lost, and the bytes of the second part became those of the first, without an error.
  @Test func `after an event could not be handled, nothing more can be fed`() throws {
    struct NoRoom: Error {}
    let parser = try FormParser(boundary: "B")
    let head = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
    let pieces = ["\(head)one\r\n\(head)t", "wo\r\n--B--\r\n"].map { Array($0.utf8) }
    pieces[0].withUnsafeBytes { bytes in
      _ = #expect(throws: NoRoom.self) { try parser.feed(bytes) { _ in throw NoRoom() } }
    }
    pieces[1].withUnsafeBytes { bytes in
      let error = #expect(throws: MultipartError.self) { try parser.feed(bytes) { _ in } }
      #expect(error?.code == .parserUsed)
      #expect(error?.underlying is NoRoom)
    }
    #expect(throws: MultipartError.self) { try parser.finish() }
  }

  @Test func `each case is valid or malformed as it is meant to be`() throws {
    let outcomes = try Self.cases.map { try $0.run() }
    #expect(outcomes.count(where: \.isComplete) == 37)
    #expect(outcomes.count { $0.code == .bodyIncomplete } == 6)
    #expect(outcomes.count { $0.code == .malformedBody } == 7)
  }
}
