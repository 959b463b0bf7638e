import FormStreamTestSupport
import Testing

/// Parts of resources: what a server sends for the ranges that it is asked for, and parts that nobody asked for.
@Suite struct GetRangeTests {
  /// How a server responds with 206, and whether that is what was asked for.
  struct Answer: Sendable, CustomTestStringConvertible {
    let asked, range: String
    let isRight: Bool

    init(_ asked: String, _ range: String, _ isRight: Bool) {
      (self.asked, self.range, self.isRight) = (asked, range, isRight)
    }

    var testDescription: String { "\(asked) by \(range)" }

    /// As many bytes as the range has.
    var body: String {
      let ends = range.prefix { $0 != "/" }.split(separator: "-").compactMap { Int($0) }
      return String(repeating: "x", count: ends.count == 2 ? ends[1] - ends[0] + 1 : 0)
    }
  }

  static let answers = [
    // One of them.
    Answer("0-1,4-5", "0-1/8", true), Answer("0-1,4-5", "4-5/8", true),
    Answer("0-1,4-5", "0-1/*", true), Answer("0-1,4-5", "4-4/5", true),
    Answer("0-1,-2", "6-7/8", true), Answer("0-1,6-", "6-7/8", true),
    // All that is between the first byte and the last.
    Answer("0-1,4-5", "0-5/8", true), Answer("4-5,0-1", "0-5/8", true),
    Answer("0-3,2-5", "0-5/8", true), Answer("0-1,4-5", "0-4/5", true),
    Answer("0-1,9-10", "0-1/8", true),
    // More, less, or other bytes.
    Answer("0-1,4-5", "0-7/8", false), Answer("0-1,4-5", "0-6/8", false),
    Answer("0-1,4-5", "0-4/8", false), Answer("0-1,4-5", "1-5/8", false),
    Answer("0-1,4-5", "0-0/8", false), Answer("0-1,4-5", "4-4/8", false),
    Answer("0-1,4-5", "2-3/8", false), Answer("0-1,4-5", "4-5/5", false),
    Answer("1-2,4-5", "0-5/8", false), Answer("0-1,4-5", "0-4/*", false),
    Answer("0-1,-2", "0-7/8", false), Answer("0-1,6-", "0-7/8", false),
    Answer("0-1,9-10", "0-7/8", false),
  ]

  @Test(arguments: answers)
  func `of several ranges, one is accepted or all together, and nothing else`(
    _ answer: Answer
  ) throws {
    let server = try ScriptedServer { request in
      .good(206, headers: [("Content-Range", "bytes \(answer.range)")], body: answer.body)
    }
    let result = try formstream("get", "-r", answer.asked, server.url)
    #expect(server.requests.first?.header("Range") == "bytes=\(answer.asked)")
    #expect(result.exit == (answer.isRight ? 0 : 1), "\(result.stderr)")
    #expect(result.output == answer.body)
    #expect(result.stderr.contains("sent other bytes") == !answer.isRight, "\(result.stderr)")
  }

  /// RFC 9110 §15.3.7.2: "A server MUST NOT generate a multipart response to a request for a single range".
  @Test(arguments: [true, false], ["multipart/byteranges; boundary=b", "Multipart/Byteranges"])
  func `one range that comes in parts is refused`(_ hasRange: Bool, _ type: String) throws {
    let place = try TemporaryDirectory()
    let headers = [("Content-Type", type)] + (hasRange ? [("Content-Range", "bytes 0-3/8")] : [])
    let server = try ScriptedServer { _ in .good(206, headers: headers, body: "--b\n") }
    for flags in [["-o", "f"], ["--json"], []] {
      let result = try run("formstream", ["get", "-r", "0-3"] + flags + [server.url], in: place)
      #expect(result.exit == 1, "\(result.stderr)")
      #expect((result.stderr + result.output).contains("multipart"), "\(result.stderr)")
    }
    #expect(try shell("ls", in: place).output == "")
  }

  /// The file had a part of the response, and the exit code was 0.
  @Test(arguments: ["GET", "POST", "DELETE", "PUT"], ["-o f", "-O", "-i -o f", "", "--json"])
  func `a part that nobody asked for is refused, whatever the method`(
    _ method: String, _ flags: String
  ) throws {
    let place = try TemporaryDirectory()
    let words = ["get", "-q", "-X", method] + flags.split(separator: " ").map(String.init)
    for (status, headers) in [
      (206, [("Content-Range", "bytes 0-3/8")]), (206, []),
      (200, [("Content-Range", "bytes 0-3/8")]), (201, [("content-range", "Bytes 4-7/8")]),
    ] {
      let server = try ScriptedServer { _ in .good(status, headers: headers, body: "part") }
      let result = try run(
        "formstream", words + ["--expect-status", "200,201,206", "\(server.url)/f"], in: place)
      // The server has acted on the other methods, whatever it says of its response.
      let exit: Int32 = method == "GET" || status == 206 ? 1 : 74
      #expect(result.exit == exit, "\(status): \(result.stderr)")
      #expect(try shell("ls", in: place).output == "")
    }
    // Other units number the rows of a page.
    let rows = try ScriptedServer { _ in
      .good(headers: [("Content-Range", "items 0-3/8")], body: "rows")
    }
    #expect(try run("formstream", words + ["\(rows.url)/f"], in: place).exit == 0)
  }
}
