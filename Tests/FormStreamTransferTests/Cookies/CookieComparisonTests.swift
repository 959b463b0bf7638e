import FormStreamTestSupport
import Foundation
import Testing

/// What a session does with cookies, beside what the installed curl does.
@Suite struct CookieComparisonTests {
  /// The table is about this version.
  static let isComparable = (try? curl(["--version"]))?.output.hasPrefix("curl 7.88.") == true

  @Test(.enabled(if: isComparable), arguments: CookieDifference.all)
  func `each row of the table is true`(row: CookieDifference) async throws {
    let (theirs, ours) = (try row.trial.runWithCurl(), try await row.trial.runWithSession())
    for (result, expected) in [(theirs, row.curl), (ours, row.ours)] {
      if row.isAboutOrder {
        #expect(result.sent.last == expected.joined(separator: "; "))
      } else {
        let pairs = result.pairs.last ?? []
        #expect(pairs == expected.sorted(), "\(pairs.map { $0.prefix(20) })")
      }
    }
  }

  @Test func `the page has a row for each difference, and no others`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let page = try String(contentsOf: root.appending(path: "docs/cookies.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
      .compactMap { $0.split(separator: "|").first?.trimmingCharacters(in: .whitespaces) }
    #expect(rows == CookieDifference.all.map(\.title))
  }

  /// All sequences are one run of each program: each sequence has a domain of its own.
  @Test(.enabled(if: isComparable))
  func `three hundred sequences of requests get the same cookies`() async throws {
    var random = SeededSequence(seed: 46)
    let sequences = (0..<300).map { CookieSequence(number: $0, &random) }
    let trial = CookieTrial(file: sequences.flatMap(\.file), steps: sequences.flatMap(\.steps))
    let (theirs, ours) = (try trial.runWithCurl(), try await trial.runWithSession())
    try #require(theirs.sent.count == trial.steps.count && ours.sent.count == trial.steps.count)
    var (start, sent, different) = (0, 0, [String]())
    for sequence in sequences {
      let range = start..<(start + sequence.steps.count)
      start = range.upperBound
      for index in range where theirs.pairs[index] != ours.pairs[index] {
        different.append("\(sequence): curl \(theirs.pairs[index]), ours \(ours.pairs[index])")
      }
      sent += ours.pairs[range].joined().count
    }
    #expect(different.isEmpty, "\(different.prefix(5))")
    #expect(sent > 500)
    #expect(theirs.saved.count > 200)
    let (missing, surplus) = (Set(theirs.saved).subtracting(ours.saved), Set(ours.saved).subtracting(theirs.saved))
    #expect(missing.isEmpty && surplus.isEmpty, "\(missing.prefix(5)) \(surplus.prefix(5))")
  }

  @Test(.enabled(if: isComparable), arguments: [[60], [50, 50, 45], [45, 45, 45, 45]])
  func `a response and a request have as many cookies as with curl`(counts: [Int]) async throws {
    let steps = counts.enumerated().map { step, count in
      CookieTrial.Step(url: "http://a.example/", sets: (100..<(100 + count)).map { "c\(step)-\($0)=1" })
    }
    let trial = CookieTrial(steps: steps + [.init(url: "http://a.example/")])
    let (theirs, ours) = (try trial.runWithCurl(), try await trial.runWithSession())
    #expect(theirs.pairs.map(\.count) == ours.pairs.map(\.count))
    #expect(theirs.pairs == ours.pairs)
  }

  /// Connections to this machine count as encrypted. Each sequence has a run of its own, because all have one host.
  @Test(.enabled(if: isComparable))
  func `thirty sequences with Secure cookies get the same cookies`() async throws {
    var random = SeededSequence(seed: 47)
    for number in 0..<30 {
      let sequence = CookieSequence(number: number, isOnLoopback: true, &random)
      let trial = CookieTrial(file: sequence.file, steps: sequence.steps)
      let (theirs, ours) = (try trial.runWithCurl(), try await trial.runWithSession())
      #expect(theirs.pairs == ours.pairs, "\(sequence)")
      #expect(theirs.saved == ours.saved, "\(sequence)")
    }
  }
}

/// Some requests to the hosts of one domain, with cookies that are set with any mixture of attributes. What a row of the table is
/// about is left out.
private struct CookieSequence: CustomStringConvertible {
  var file: [String] = []
  var steps: [CookieTrial.Step] = []

  init(number: Int, isOnLoopback: Bool = false, _ random: inout SeededSequence) {
    let domain = isOnLoopback ? "127.0.0.1" : "s\(number).example"
    let hosts = isOnLoopback ? [domain] : [domain, "a.\(domain)", "b.a.\(domain)"]
    if Int.random(in: 0..<3, using: &random) == 0 {
      file = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.line(domain, hosts, &random) }
    }
    for _ in 0..<Int.random(in: 3...6, using: &random) {
      let count = Int.random(in: 0...3, using: &random)
      steps.append(
        .init(
          url: "http://\(Self.one(of: hosts, &random))\(Self.one(of: Self.paths, &random))",
          sets: (0..<count).map { _ in Self.set(domain, isOnLoopback, hasFile: !file.isEmpty, &random) }))
    }
  }

  var description: String { "\(file) \(steps.map { "\($0.url) \($0.sets)" })" }

  private static func one<Choice>(of choices: [Choice], _ random: inout SeededSequence) -> Choice {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }

  private static let paths = ["/", "/x", "/x/", "/x/y", "/xy", "/x/y/z"]
  private static let names = ["a", "b", "c", "long-name", "__Secure-a", "__Host-a"]
  private static let dates = [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Tue, 01 Jan 2999 00:00:00 GMT",
    "Tue Jan  1 00:00:00 2999", "01-Jan-2999 00:00:00 GMT", "nonsense",
  ]

  /// A value of `Set-Cookie`.
  private static func set(
    _ domain: String, _ isOnLoopback: Bool, hasFile: Bool, _ random: inout SeededSequence
  ) -> String {
    let name = one(of: names, &random)
    let values = ["1", "", "a b", "\"quoted\"", "x=y", "ü,", " padded ", "\(Int.random(in: 0..<99, using: &random))", "t\tt"]
    let cookie = "\(name)=\(one(of: values, &random))"
    var pieces: [String] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let attributes = [
        "Path=\(one(of: paths, &random))", "path=\"/x/\"", "Domain=\(domain)", "Domain=.\(domain)",
        "domain=\(isOnLoopback ? "127.0.0.2" : "a.\(domain)")", "Domain=example", "Domain=other.example", "Secure", "SECURE",
        "HttpOnly", "Max-Age=\(one(of: ["1000", "0", "-1", "99999999999999999999"], &random))",
        "Expires=\(one(of: dates, &random))", "SameSite=Strict", "SameSite=None", "Version=1", "Unknown", "",
      ]
      pieces.append(one(of: attributes, &random))
    }
    // What rows of the table are about.
    for name in ["domain", "expires"] where pieces.count(where: { $0.lowercased().hasPrefix(name) }) > 1 {
      pieces.removeAll { $0.lowercased().hasPrefix(name) }
    }
    if name == "__Host-a" {
      pieces.removeAll { $0.lowercased().hasPrefix("domain") }
      pieces.append("Path=/")
    }
    if hasFile { pieces.removeAll { $0.hasSuffix("=0") || $0.hasSuffix("=-1") || $0.contains("94 ") } }
    return ([cookie] + pieces).joined(separator: one(of: ["; ", ";", " ;  "], &random))
  }

  /// A line of a file.
  private static func line(_ domain: String, _ hosts: [String], _ random: inout SeededSequence) -> String {
    let host = one(of: hosts, &random)
    let lines = [
      "\(host)\tFALSE\t/\tFALSE\t0\ta\t1", ".\(host)\tTRUE\t/x\tFALSE\t0\tb\t2",
      "#HttpOnly_\(host)\tFALSE\t/x/\tFALSE\t9999999999\tc\t3", "\(host)\tFALSE\t/\tTRUE\t0\td\t4",
      "\(host)\tFALSE\t/\tFALSE\t1\tgone\t5", "\(host)\tFALSE\tFALSE\t0\te\t6", "\(host)\tFALSE\t/\tFALSE\t0\tf",
      "Set-Cookie: g=7; Domain=\(host); Path=/x", "Set-Cookie: h=8; Domain=\(host); Max-Age=0",
      "\(host)\tFALSE\t/\tFALSE\t0\t__Secure-a\t9", "\(host)\tFALSE\t/\tTRUE\t0\t__Host-a\t10",
      "\(host)\tFALSE\t/\tFALSE\tnever\ti\t11", "\(host)\tFALSE\t/\tFALSE\t0\tj\t1\t2", "# \(domain)",
    ]
    return one(of: lines, &random)
  }
}
