import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Bodies made to be slow or confusing: the right bytes come out of them.
@Suite struct ParserHostileTests {
  private static let head = "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
  private static let size = 1 << 20

  /// What fills a part, and the boundary that it is made against.
  struct Filling: Sendable, CustomTestStringConvertible {
    let unit: String
    let boundary: String
    var testDescription: String { "\(unit.debugDescription) for \(boundary)" }

    init(_ unit: String, for boundary: String) { (self.unit, self.boundary) = (unit, boundary) }
  }

  private static let hyphens = String(repeating: "-", count: 70)
  static let fillings = [
    Filling("-", for: hyphens), Filling("\r\n" + hyphens, for: hyphens),
    Filling("\r\n-" + hyphens, for: hyphens), Filling("-\r", for: hyphens),
    Filling("-", for: "-"), Filling("\r\n", for: "B"),
    Filling("\r", for: "B"), Filling("\n", for: "B"), Filling("\r\n--", for: "--"),
    Filling("\r\n--B", for: "BB"), Filling("\r\n--BX", for: "B"), Filling("\r\n--B-", for: "B"),
    Filling("\r\n--B\r", for: "B"), Filling("\r\n--B--x", for: "B"),
    Filling("a", for: String(repeating: "a", count: 69) + "b"),
    Filling("a", for: "b" + String(repeating: "a", count: 69)),
    Filling(String(repeating: "a", count: 69) + "c", for: String(repeating: "a", count: 70)),
  ]

  @Test(arguments: fillings)
  func `a megabyte made against the search comes out as it went in`(filling: Filling) throws {
    let unit = Array(filling.unit.utf8)
    var part = Array("x".utf8)
    while part.count < Self.size { part += unit }
    // So that the part's end can't be taken for the delimiter's beginning, nor the other way round.
    part += Array("x".utf8)
    let start = "--\(filling.boundary)\(Self.head)"
    let body = Array(start.utf8) + part + Array("\r\n--\(filling.boundary)--\r\n".utf8)
    for step in [body.count, 65_536, 4093] {
      let run = try ParserRun(
        body, boundary: filling.boundary, cuts: stride(from: step, to: body.count, by: step))
      #expect(run.isComplete)
      #expect(run.parts.count == 1)
      #expect(run.parts.first?.body == part)
    }
  }

  @Test func `a megabyte of hyphens by small reads comes out as it went in`() throws {
    let part = [UInt8](repeating: UInt8(ascii: "-"), count: 100_000) + [0x78]
    let body =
      Array("--\(Self.hyphens)\(Self.head)x".utf8) + part
      + Array("\r\n--\(Self.hyphens)--".utf8)
    for step in [1, 7, 71, 74, 75] {
      let run = try ParserRun(
        body, boundary: Self.hyphens, cuts: stride(from: step, to: body.count, by: step))
      #expect(run.parts.first?.body == [0x78] + part, "by \(step)")
    }
  }

  /// Each event's bytes are looked at once more, unharmed, just before the parser is called again.
  @Test func `lent bytes stand until the parser is called again`() throws {
    var options = FormParser.Options()
    options.allowsBareLF = true
    let text = "x\r\n--BX\r\r\n--B\r\r\n--B-\n--B--y\r\n--B\ry\r"
    let parser = try FormParser(boundary: "B", options: options)
    var given: [UInt8] = []
    for byte in "--B\(Self.head)\(text)\r\n--B--".utf8 {
      try withUnsafeBytes(of: byte) { bytes in
        var input = bytes
        var last: (UnsafeRawBufferPointer, [UInt8])?
        while true {
          if let (lent, copy) = last { #expect(Array(lent) == copy) }
          last = nil
          guard let event = try parser.next(&input) else { break }
          guard case .partBytes(let bytes) = event else { continue }
          last = (bytes, Array(bytes))
          given += Array(bytes)
        }
      }
    }
    #expect(String(decoding: given, as: UTF8.self) == text)
  }

  /// What may be held is longest where a part begins with a delimiter's text that is none, and the
  /// input goes on with as much as the search may look at.
  @Test(arguments: [false, true])
  func `what is held has room at every cut, with boundaries of every length`(bareLF: Bool) throws {
    var options = FormParser.Options()
    options.allowsBareLF = bareLF
    for length in 1...70 {
      let boundary = String(repeating: "-", count: length)
      let text = ["\r\n", "\n"].map {
        "\($0)--\(boundary)-\($0)--\(boundary)\rx\($0)--\(boundary)--x"
      }
      .joined()
      let body = Array("--\(boundary)\(Self.head)x\(text)\r\n--\(boundary)--".utf8)
      let whole = try ParserRun(body, boundary: boundary, options: options)
      #expect(whole.isComplete)
      for cut in 40..<body.count
      where try ParserRun(body, boundary: boundary, cuts: [cut], options: options) != whole {
        Issue.record("\(length) hyphens, cut at \(cut)")
      }
      #expect(
        try ParserRun(body, boundary: boundary, cuts: 0..<body.count, options: options) == whole)
    }
  }
}
