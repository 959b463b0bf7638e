import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Bodies that are made to be slow or confusing are parsed correctly.
@Suite struct ParserHostileTests {
  private static let head = "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
  private static let size = 1 << 20

  /// The text that fills a part, and the boundary that it is made to confuse.
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
  func `a megabyte that is made to slow down the search is parsed correctly`(filling: Filling)
    throws
  {
    let unit = Array(filling.unit.utf8)
    var part = Array("x".utf8)
    while part.count < Self.size { part += unit }
    // So that the end of the part is not the beginning of the delimiter.
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

  @Test func `many hyphens in small pieces are parsed correctly`() throws {
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

  /// The bytes of each event are read only just before the next call, after other memory was
  /// allocated and written: if they were in memory that the parser has freed, they would be
  /// overwritten.
  @Test func `the bytes of an event stay valid until the next call of the parser`() throws {
    var options = FormParser.Options()
    options.allowsBareLF = true
    let text = "x\r\n--BX\r\r\n--B\r\r\n--B-\n--B--y\r\n--B\ry\r"
    let body = Array("--B\(Self.head)\(text)\r\n--B--".utf8)
    for size in [1, 5, body.count] {
      let parser = try FormParser(boundary: "B", options: options)
      var received: [UInt8] = []
      for start in stride(from: 0, to: body.count, by: size) {
        try body[start..<min(start + size, body.count)].withUnsafeBytes { bytes in
          var input = bytes
          while let event = try parser.next(&input) {
            Self.overwriteFreedMemory()
            if case .partBytes(let bytes) = event { received += Array(bytes) }
          }
        }
      }
      #expect(String(decoding: received, as: UTF8.self) == text)
    }
  }

  /// Allocates blocks of all small sizes, writes to them, and frees them.
  private static func overwriteFreedMemory() {
    let blocks = stride(from: 8, through: 256, by: 8).flatMap { size in
      (0..<8).map { _ in
        UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
      }
    }
    for block in blocks {
      block.initializeMemory(as: UInt8.self, repeating: 0xA5)
      block.deallocate()
    }
  }

  /// The parser holds most bytes if a part begins with text like a delimiter, and the input
  /// continues with as much as the search reads.
  @Test(arguments: [false, true])
  func `the bytes that the parser holds fit its buffer at every cut`(bareLF: Bool) throws {
    var options = FormParser.Options()
    options.allowsBareLF = bareLF
    for length in 1...70 {
      let boundary = String(repeating: "-", count: length)
      let text = ["\r\n", "\n"].map {
        "\($0)--\(boundary)-\($0)--\(boundary)\rx\($0)--\(boundary)--x"
      }
      .joined()
      let body = Array("--\(boundary)\(Self.head)x\(text)\r\n--\(boundary)--".utf8)
      let undivided = try ParserRun(body, boundary: boundary, options: options)
      #expect(undivided.isComplete)
      for cut in 40..<body.count
      where try ParserRun(body, boundary: boundary, cuts: [cut], options: options) != undivided {
        Issue.record("\(length) hyphens, cut at \(cut)")
      }
      #expect(
        try ParserRun(body, boundary: boundary, cuts: 0..<body.count, options: options) == undivided
      )
    }
  }
}
