import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// The parser reads what the encoder writes.
@Suite struct ParserRoundTripTests {
  private static let boundary = "ab-ab"

  /// The pieces of names. Except with `backslash`, a `%22`, `%0A` or `%0D` in a name is read as an
  /// escape, because browsers don't escape the percent sign. So the pieces must not combine to one.
  private static let nameBits = [
    "a", "tags[]", "\"", "\\", "\\\"", ";", "; filename=", "=", " ", "%", "%41", "%zz", "é", "日本",
    "😀", "'", "\t", "\u{7F}", "C:\\dir\\", "/", ",", ":",
  ]
  private static let breaks = ["\r", "\n", "\r\n"]

  private static let bodyBits = [
    "\r\n", "\r", "\n", "-", "--", "\r\n-", "\r\n--", "\r\n--a", "\r\n--ab-", "\r\n--ab-a",
    "\r\n--ab-aX", "\r\n--ab-a\r\n", "ab-ab", "--ab-ab", "x--ab-ab\r\n", "é", "\0", "x", "ab",
    "Content-Disposition: form-data; name=\"x\"\r\n\r\n",
  ]

  private static func text(
    of bits: [String], atMost count: Int, using random: inout SeededSequence
  ) -> String {
    (0..<Int.random(in: 0...count, using: &random))
      .map { _ in bits[Int.random(in: bits.indices, using: &random)] }.joined()
  }

  private static func name(
    for escaping: EscapingProfile, using random: inout SeededSequence
  ) -> String {
    text(of: escaping == .backslash ? nameBits : nameBits + breaks, atMost: 6, using: &random)
  }

  /// A body that does not contain the delimiter.
  private static func body(using random: inout SeededSequence) throws -> String {
    while true {
      let body = text(of: bodyBits, atMost: 12, using: &random)
      let form = Form(boundary: try Boundary(boundary)) { Part.text("a", body) }
      if failure(of: { try form.layout() }) == nil { return body }
    }
  }

  /// WHATWG HTML: in names, each lone CR or LF becomes CRLF.
  private static func normalised(_ name: String) -> String {
    var result: [UInt8] = []
    let bytes = Array(name.utf8)
    for (index, byte) in bytes.enumerated() {
      if byte == 0x0A, index == 0 || bytes[index - 1] != 0x0D { result.append(0x0D) }
      result.append(byte)
      if byte == 0x0D, index + 1 == bytes.count || bytes[index + 1] != 0x0A { result.append(0x0A) }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func cuts(of size: Int, using random: inout SeededSequence) -> [Int] {
    (0..<Int.random(in: 0...9, using: &random))
      .map { _ in Int.random(in: 0...size, using: &random) }.sorted()
  }

  @Test(arguments: EscapingProfile.all)
  func `an encoded form is parsed to the same names and bytes`(
    escaping: EscapingProfile
  ) throws {
    var random = SeededSequence(seed: 2046)
    var options = FormParser.Options()
    options.escaping = escaping
    for round in 0..<2_500 {
      let parts = try (0..<Int.random(in: 0...4, using: &random)).map { _ in
        Part(
          name: Self.name(for: escaping, using: &random),
          filename: Bool.random(using: &random) ? Self.name(for: escaping, using: &random) : nil,
          type: MediaType("a/b"), body: .text(try Self.body(using: &random)))
      }
      let form = Form(boundary: try Boundary(Self.boundary), escaping: escaping, parts: parts)
      let bytes = try drain(form.layout().makeReader(), chunk: 4096)
      let run = try ParserRun(
        bytes, boundary: Self.boundary, cuts: Self.cuts(of: bytes.count, using: &random),
        options: options)
      guard run.isComplete, run.parts.count == parts.count else {
        Issue.record("round \(round): \(run)")
        continue
      }
      for (read, part) in zip(run.parts, parts) {
        let name = escaping == .backslash ? part.name : Self.normalised(part.name)
        guard Array(name.utf8) == read.head.name.map({ Array($0.utf8) }),
          part.filename.map({ Array($0.utf8) }) == read.head.filename.map({ Array($0.utf8) }),
          read.isComplete, read.head.contentType == "a/b", try sent(part) == read.body
        else {
          Issue.record("round \(round): \(part.name.debugDescription) \(part) came as \(read)")
          continue
        }
      }
    }
  }

  private func sent(_ part: Part) throws -> [UInt8] {
    let form = Form(boundary: try Boundary("Z"), parts: [Part(name: "n", body: part.body)])
    let bytes = try drain(form.layout().makeReader(), chunk: 4096)
    let head = "--Z\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n"
    return Array(bytes.dropFirst(head.utf8.count).dropLast("\r\n--Z--\r\n".utf8.count))
  }

  /// A browser sends such a header for the field `a\` and a file named `;x=y`. With `\"` as a quote
  /// it has another meaning, and it was once parsed so although the sender was known.
  @Test(arguments: [EscapingProfile.browser, .rfc2231, .percent])
  func `a backslash is not an escape if the profile of the sender has none`(
    escaping: EscapingProfile
  ) {
    let header = "form-data; name=\"a\\\"; filename=\";x=y\""
    let disposition = ContentDisposition(parsing: Array(header.utf8), escaping: escaping)
    #expect(disposition?.name == "a\\")
    #expect(disposition?.filename == ";x=y")
  }

  @Test func `a percent code in a name is read as an escape if the profile has it`() throws {
    let form = Form(boundary: try Boundary("B")) { Part.text("a%22%0a%41", "") }
    let bytes = try drain(form.layout().makeReader(), chunk: 4096)
    var options = FormParser.Options()
    #expect(try ParserRun(bytes, options: options).parts.first?.head.name == "a%22%0a%41")
    options.escaping = .browser
    #expect(try ParserRun(bytes, options: options).parts.first?.head.name == "a\"\n%41")
  }
}
