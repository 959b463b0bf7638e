import FormStreamTestSupport
import FormStreamTransfer
import Testing

@testable import FormStreamHTTP

/// Dates as people write them, read as curl reads them.
@Suite struct DateExpressionTests {
  @Test(
    arguments: [
      ("6 Nov 1994", 784_080_000), ("19941106 08:49", 784_111_740),
      ("Nov  6 08:49:37 1994", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("1994.Nov.6", 784_080_000), ("Sun/Nov/6/94/GMT", 784_080_000),
      ("Sun, 06 Nov 1994 08:49:37 CET", 784_108_177), ("06 Nov 1994 08:49:37 EST", 784_129_777),
      ("Sat, 11 Sep 2004 21:32:11 +0200", 1_094_931_131), ("12 Sep 2004 15:05:58 -0700", 1_095_026_758),
      ("6 Nov 94 A", 784_083_600), ("94 6 Nov 08:49:37", 784_111_777),
      ("31 Feb 2000", 951_955_200), ("6 Nov 1994 23:59:60", 784_166_400),
      ("19941106", 784_080_000), ("1 Jan 1583", -12_212_553_600),
      // Six words are read.
      ("Sun 6 Nov 1994 08:49:37 GMT nonsense", 784_111_777),
    ] as [(String, Int64)])
  func `a date is read in many forms`(text: String, seconds: Int64) {
    #expect(HTTPDate.seconds(text) == seconds)
  }

  @Test(
    arguments: [
      "", "Nov", "6 Nov", "Nov 1994", "6 Nov 1994 24:00", "6 Nov 1994 08:60", "32 Nov 1994",
      "6 Nov 1582", "6 November 1994", "nonsense", "6 Nov 1994 nonsense", "6 Nov 1994 GMT CET",
      "99999999999 Nov 6", "19941306", "6 Nov 1994\0", "6 6 Nov 1994", "6 Nov 1994 +1401", "08:49:37",
    ])
  func `a text that lacks something, or has too much, is no date`(text: String) {
    #expect(HTTPDate.seconds(text) == nil)
  }

  /// The program curl reads the value of `-z` with the function of libcurl for dates.
  @Test func `a thousand dates are those of curl`() throws {
    var random = SeededSequence(seed: 46)
    let texts = (0..<1000).map { _ in Self.text(&random) }
    let server = try ScriptedServer { _ in .good(204) }
    var lines = ["silent"]
    for (index, text) in texts.enumerated() {
      if index > 0 { lines += ["next", "silent"] }
      lines += ["url = \"\(server.url)/\(index)\"", "time-cond = \"\(text)\""]
    }
    let place = try TemporaryDirectory()
    try place.write("config", lines.joined(separator: "\n"))
    let end = try curl(["-K", place.path("config")])
    #expect(end.exit == 0, "\(end.stderr.suffix(300))")
    let requests = server.requests
    try #require(requests.count == texts.count)
    var (read, different) = (0, [String]())
    for (text, request) in zip(texts, requests) {
      let theirs = request.header("If-Modified-Since")
      let ours = HTTPDate.seconds(text).flatMap { HTTPDate.text(ofSeconds: $0) }
      if theirs != nil { read += 1 }
      // A year of more than four digits has no text of ours.
      let isSame = theirs.map { $0.utf8.count > 29 } == true ? HTTPDate.seconds(text) != nil : theirs == ours
      if !isSame { different.append("\(text): \(theirs ?? "none"), ours \(ours ?? "none")") }
    }
    #expect(different.isEmpty, "\(different.prefix(20))")
    #expect((200...800).contains(read))
  }

  /// A date with words that are right, wrong, missing or double, in any order.
  private static func text(_ random: inout SeededSequence) -> String {
    let kinds: [[String]] = [
      ["Sun", "monday", "TUE", "Wednesday", "Su"], ["6", "06", "31", "0", "32", "00"],
      ["Nov", "feb", "DEC", "November"], ["1994", "94", "70", "71", "2038", "1582", "1583", "9999", "0"],
      ["08:49:37", "8:49", "23:59:60", "24:00:00", "1:2:3", "0:0", "12:345"],
      ["GMT", "utc", "CEST", "PDT", "Z", "J", "m", "+0200", "-0930", "+1400", "-1401", "XYZ"],
      ["19941106", "20000230", "19941306", "19940000", "123456789012"],
    ]
    var words: [String]
    if Int.random(in: 0..<3, using: &random) == 0 {
      // The first of each list of kinds is right.
      words = kinds.prefix(6).map { $0[0] }
      for index in [0, 4, 5] where Bool.random(using: &random) { words[index] = "" }
      if Bool.random(using: &random) {
        let kind = Int.random(in: 0..<6, using: &random)
        words[kind] = kinds[kind].randomElement(using: &random) ?? ""
      }
    } else {
      words = (0..<Int.random(in: 2...6, using: &random)).map { _ in
        kinds.randomElement(using: &random)?.randomElement(using: &random) ?? ""
      }
    }
    if Bool.random(using: &random) { words.shuffle(using: &random) }
    let separator = [" ", " ", ", ", "-", "/", "."].randomElement(using: &random) ?? " "
    let text = words.filter { !$0.isEmpty }.joined(separator: separator)
    // curl takes a sign at the start for another condition.
    return "+-".contains(text.prefix(1)) || text.isEmpty ? "x" + text : text
  }
}
