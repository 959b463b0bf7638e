import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Each limit is exact, and its error has the offset.
@Suite struct ParserLimitTests {
  private static let head = "Content-Disposition: form-data; name=\"a\"\r\n"

  private func run(
    _ body: String, cuts: some Sequence<Int> = EmptyCollection<Int>(),
    _ change: (inout FormParser.Limits) -> Void = { _ in }
  ) throws -> ParserRun {
    var options = FormParser.Options()
    change(&options.limits)
    return try ParserRun(body, cuts: cuts, options: options)
  }

  /// A body at the limit passes. One more byte fails at that byte, however the body is divided.
  private func expect(
    _ fits: String, _ tooLong: String, at place: Int, _ change: (inout FormParser.Limits) -> Void
  ) throws {
    #expect(try run(fits, change).isComplete)
    let size = tooLong.utf8.count
    for cuts in [
      Array(0..<0), Array(0..<size), [size / 2], [size - 1], [place], [max(0, place - 1)],
    ] {
      let run = try run(tooLong, cuts: cuts, change)
      #expect(run.code == .limitExceeded, "\(cuts.count) cuts")
      #expect(run.offset == Int64(place), "\(cuts.count) cuts")
    }
  }

  @Test func `a boundary has at most 70 bytes, unless the limit is raised`() throws {
    let longest = String(repeating: "b", count: 70)
    let run = try ParserRun(
      "--\(longest)\r\n\(Self.head)\r\nx\r\n--\(longest)--", boundary: longest)
    #expect(run.parts.map(\.text) == ["x"])
    #expect(failure { try FormParser(boundary: longest + "b") }?.code == .invalidBoundary)
    var options = FormParser.Options()
    options.limits.boundary = 71
    _ = try FormParser(boundary: longest + "b", options: options)
  }

  @Test func `a header block is limited, including its empty line`() throws {
    let size = Self.head.utf8.count + "X: \r\n\r\n".utf8.count + 10
    let lines = { "--B\r\n\(Self.head)X: \(String(repeating: "x", count: $0))\r\n\r\n\r\n--B--" }
    try expect(lines(10), lines(11), at: 5 + size) { $0.headerBlock = size }
    let most = 16 * 1024 - (size - 10)
    try expect(lines(most), lines(most + 1), at: 5 + 16 * 1024) { _ in }
  }

  /// It was once reported as a malformed body.
  @Test func `the number of headers in a part is limited`() throws {
    let lines = { "--B\r\n\(Self.head)\(String(repeating: "X: y\r\n", count: $0))\r\n\r\n--B--" }
    #expect(try run(lines(31)).isComplete)
    let tooMany = try run(lines(32))
    #expect(tooMany.code == .limitExceeded)
    #expect(tooMany.offset == Int64(5 + Self.head.utf8.count + 31 * 6))
    #expect(try run(lines(2)) { $0.headersPerPart = 3 }.isComplete)
    #expect(try run(lines(3)) { $0.headersPerPart = 3 }.code == .limitExceeded)
  }

  @Test func `a body has at most ten thousand parts`() throws {
    let part = "--B\r\n\(Self.head)\r\n\r\n"
    let most = String(repeating: part, count: 10_000)
    let fits = try run(most + "--B--")
    #expect(fits.isComplete)
    #expect(fits.parts.count == 10_000)
    let tooMany = try run(most + part + "--B--")
    #expect(tooMany.code == .limitExceeded)
    #expect(tooMany.offset == Int64(most.utf8.count + 5))
    #expect(tooMany.parts.count == 10_000)
  }

  @Test func `the preamble is limited`() throws {
    let body = { String(repeating: "x", count: $0) + "\r\n--B--" }
    try expect(body(7), body(8), at: 7) { $0.preamble = 7 }
    try expect(body(65_536), body(65_537), at: 65_536) { _ in }
    #expect(try run("\r\n--B--") { $0.preamble = 0 }.isComplete)
    #expect(try run("--BX\r\n--B--") { $0.preamble = 4 }.isComplete)
    #expect(try run("--BX\r\n--B--") { $0.preamble = 3 }.code == .limitExceeded)
  }

  /// There was once no limit: a body could continue forever without an event.
  @Test func `white space after a delimiter is limited like a header block`() throws {
    let body = { "--B\(String(repeating: " ", count: $0))\r\n\r\n\r\n--B--" }
    var options = FormParser.Options()
    options.requiresNames = false
    options.limits.headerBlock = 9
    #expect(try ParserRun(body(9), options: options).isComplete)
    let tooLong = try ParserRun(body(10), options: options)
    #expect(tooLong.code == .limitExceeded)
    #expect(tooLong.offset == 12)
  }

  /// The line break of the last delimiter was once counted: with an epilogue limit of 0, bodies of
  /// our own encoder were refused.
  @Test func `the epilogue is limited, without the line break before it`() throws {
    let body = { "--B--\r\n" + String(repeating: "x", count: $0) }
    try expect(body(7), body(8), at: 14) { $0.epilogue = 7 }
    try expect(body(0), body(1), at: 7) { $0.epilogue = 0 }
    try expect(body(65_536), body(65_537), at: 65_543) { _ in }
  }

  @Test func `the bytes of each part are limited`() throws {
    let body = { "--B\r\n\(Self.head)\r\n" + String(repeating: "x", count: $0) + "\r\n--B--" }
    let start = 5 + Self.head.utf8.count + 2
    try expect(body(7), body(8), at: start + 7) { $0.partBytes = 7 }
    try expect(body(0), body(1), at: start) { $0.partBytes = 0 }
    let twice = "--B\r\n\(Self.head)\r\n1234567\r\n--B\r\n\(Self.head)\r\n7654321\r\n--B--"
    #expect(try run(twice) { $0.partBytes = 7 }.isComplete)
    #expect(try run(twice) { $0.partBytes = 6 }.code == .limitExceeded)
  }

  @Test func `the bytes of the body are limited`() throws {
    let body = "pre\r\n--B\r\n\(Self.head)\r\nxyz\r\n--B--\r\nepi"
    let size = body.utf8.count
    #expect(try run(body) { $0.totalBytes = Int64(size) }.isComplete)
    for limit in 5..<size { try expect("--B--", body, at: limit) { $0.totalBytes = Int64(limit) } }
  }

  /// Parses `piece` again and again until the parser throws, and returns the error.
  private func failureOfEndless(_ start: String, _ piece: String) throws -> MultipartError? {
    let parser = try FormParser(boundary: "B")
    for bytes in [start] + Array(repeating: piece, count: 100_000) {
      let error = Array(bytes.utf8).withUnsafeBytes { bytes in
        var input = bytes
        return failure { while try parser.next(&input) != nil {} }
      }
      if let error { return error }
    }
    return nil
  }

  @Test(
    arguments: [
      ("--B\r\n", "X"), ("--B\r\nX: ", "yyyyyyyyy"), ("--B\r\n", "\r"),
      ("--B\r\nX: y\r\n", " \r\n"),
      ("", "x"), ("", "\r\n"), ("", "\r\n--BX"), ("", "\r\n--B-"), ("--B--", "x"),
      ("--B--\r\n", "\r\n--B\r\n"), ("--B", " "), ("--B", " \t  \t"),
    ])
  func `endless headers, preambles and epilogues are refused`(
    start: String, piece: String
  ) throws {
    let error = try failureOfEndless(start, piece)
    #expect(error?.code == .limitExceeded)
    #expect((error?.offset ?? .max) <= 65_536 + 7)
  }

  /// Subtracting from `Int64.min` once trapped.
  @Test func `a negative limit is the same as 0`() throws {
    var options = FormParser.Options()
    options.requiresNames = false
    options.limits.totalBytes = .min
    #expect(try ParserRun("x", options: options).offset == 0)
    options.limits = .init()
    options.limits.partBytes = .min
    let run = try ParserRun("--B\r\na:\r\n\r\nx\r\n--B--", options: options)
    #expect(run.code == .limitExceeded)
    #expect(run.offset == 11)
  }
}
