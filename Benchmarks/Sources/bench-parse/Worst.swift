import Measuring
import FormStreamMultipart

/// A body made to be slow: a head, one text over and over, and a tail.
struct WorstBody {
  let name: String
  let unit: [UInt8]
  private let boundary: String
  private let head: [UInt8]
  private let tail: [UInt8]
  private let options: FormParser.Options

  /// Bytes of a part.
  private init(_ name: String, _ unit: String, for boundary: String, bareLF: Bool = false) {
    self.init(
      name, unit: unit, boundary: boundary, head: "\(field)\r\n", tail: "\r\n--\(boundary)",
      bareLF: bareLF)
  }

  /// Parts, each from the end of a delimiter to the end of the next.
  private init(_ name: String, parts unit: String) {
    self.init(
      name, unit: "\(unit)\r\n--\(usual)", boundary: usual, head: "", tail: "", bareLF: false)
  }

  private init(
    _ name: String, unit: String, boundary: String, head: String, tail: String, bareLF: Bool
  ) {
    self.name = name
    self.unit = Array(unit.utf8)
    self.boundary = boundary
    self.head = Array("--\(boundary)\(head)".utf8)
    self.tail = Array("\(tail)--".utf8)
    var options = FormParser.Options()
    options.allowsBareLF = bareLF
    options.limits.parts = .max
    options.limits.allHeaders = .max
    self.options = options
  }

  /// The length of the delimiter that the parser searches for.
  var delimiterLength: Int { boundary.utf8.count + (options.allowsBareLF ? 3 : 4) }

  func time(_ bytes: UnsafeRawBufferPointer, piece: Int) throws -> Timing {
    let parser = try FormParser(boundary: boundary, options: options)
    var count = Count()
    let timing = try Timing {
      try head.withUnsafeBytes { try parser.feed($0) { count.add($0) } }
      try parser.feed(bytes, piece: piece, to: &count)
      try tail.withUnsafeBytes { try parser.feed($0) { count.add($0) } }
      while let event = try parser.finish() { count.add(event) }
    }
    guard count.isComplete else { throw Failure("\(name): the body is not complete") }
    return timing
  }
}

private let usual = "FormStream-0123456789abcdefghijklmn"
private let hyphens = String(repeating: "-", count: 40)
private let field = "\r\nContent-Disposition: form-data; name=\"a\"\r\n"

extension WorstBody {
  static let all = [
    WorstBody("hyphens, boundary of hyphens", "-", for: hyphens),
    WorstBody("hyphens and CR, boundary of hyphens", "-\r", for: hyphens),
    WorstBody("delimiters of hyphens that go on", "\r\n--\(hyphens)-", for: hyphens),
    WorstBody("delimiters without their last byte", "\r\n--\(usual.dropLast())", for: usual),
    WorstBody("delimiters without their last but one", "\r\n--\(usual.dropLast(2))n", for: usual),
    WorstBody("delimiters that go on", "\r\n--\(usual)x", for: usual),
    WorstBody("delimiters that nearly close", "\r\n--\(usual)--x", for: usual),
    WorstBody("the boundary's last byte", "n", for: usual),
    WorstBody("CRLF", "\r\n", for: usual),
    WorstBody("CRLF and two hyphens", "\r\n--", for: usual),
    WorstBody("CR", "\r", for: usual),
    WorstBody("CRLF, where LF may stand alone", "\r\n", for: usual, bareLF: true),
    WorstBody("CR, where LF may stand alone", "\r", for: usual, bareLF: true),
    WorstBody(
      "white space after delimiters",
      parts: "\(String(repeating: " ", count: 16_000))\(field)\r\n"),
    WorstBody(
      "header blocks of one line",
      parts: "\(field)X: \(String(repeating: "x", count: 16_000))\r\n\r\n"),
    WorstBody(
      "header blocks of folded lines",
      parts: "\(field)X: x\r\n\(String(repeating: " x\r\n", count: 4000))\r\n"),
    WorstBody(
      "header blocks of parameters",
      parts: "\r\nContent-Disposition: form-data; name=a\(parameters)\r\n\r\n"),
    WorstBody("parts of nothing", parts: "\(field)\r\n"),
  ]

  private static let parameters = (0..<1200).map { "; p\($0)=\"\\\"" }.joined()
}
