import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Random bodies from pieces of delimiters and headers, with limits that they exceed: events,
/// errors and their offsets do not depend on how the bodies are divided.
@Suite struct ParserRandomTests {
  private static let bits = [
    "\r\n--B\r\na:\r\n\r\n", "\r\n--B", "--B", "\r\n", "\r", "\n", "-", "--", " ", "\t", "x", "B",
    "\r\n--B--", "a: b\r\n", "a:\r\n c\r\n", "\r\n\r\n", "\n--B\n", "\n\n", "\0", "xxxxxxxx", ":",
    "\r\n--B\r\n\r\n",
  ]

  private static func limits(using random: inout SeededSequence) -> FormParser.Limits {
    var limits = FormParser.Limits()
    let small = { (random: inout SeededSequence) in Int.random(in: 0...40, using: &random) }
    if Bool.random(using: &random) { limits.headerBlock = small(&random) }
    if Bool.random(using: &random) { limits.headersPerPart = small(&random) / 10 }
    if Bool.random(using: &random) { limits.allHeaders = Int64(small(&random)) }
    if Bool.random(using: &random) { limits.parts = small(&random) / 10 }
    if Bool.random(using: &random) { limits.preamble = Int64(small(&random)) }
    if Bool.random(using: &random) { limits.epilogue = Int64(small(&random)) }
    if Bool.random(using: &random) { limits.partBytes = Int64(small(&random)) }
    if Bool.random(using: &random) { limits.totalBytes = Int64(2 * small(&random)) }
    return limits
  }

  private func body(using random: inout SeededSequence) -> [UInt8] {
    let count = Int.random(in: 0...12, using: &random)
    let bits = (0..<count).map { _ in Self.bits[Int.random(in: Self.bits.indices, using: &random)] }
    let start = Bool.random(using: &random) ? "--B\r\na:\r\n\r\n" : ""
    return Array("\(start)\(bits.joined())\r\n--B--\r\n".utf8)
  }

  @Test(arguments: [false, true])
  func `random pieces give the same result, with and without limits`(limited: Bool) throws {
    var random = SeededSequence(seed: limited ? 1 : 2)
    var codes: [MultipartError.Code?: Int] = [:]
    for round in 0..<6000 {
      let body = body(using: &random)
      var options = FormParser.Options()
      options.requiresNames = false
      options.allowsBareLF = Bool.random(using: &random)
      if limited { options.limits = Self.limits(using: &random) }
      let undivided = try ParserRun(body, options: options)
      codes[undivided.code, default: 0] += 1
      let cuts = (0..<3).map { _ in Int.random(in: 0...body.count, using: &random) }.sorted()
      for cuts in [Array(body.indices), cuts, Array(cuts.prefix(1))] {
        let run = try ParserRun(body, cuts: cuts, options: options)
        if run != undivided {
          Issue.record(
            """
            round \(round), cut at \(cuts.count < 4 ? cuts : []), \(options.limits)
            \(String(decoding: body, as: UTF8.self).debugDescription)
            \(run)
            \(undivided)
            """)
        }
      }
    }
    let kinds: [MultipartError.Code?] = [nil, .malformedBody] + (limited ? [.limitExceeded] : [])
    for kind in kinds { #expect(codes[kind, default: 0] > 400) }
  }
}
