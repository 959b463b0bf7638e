import Foundation
import FormStreamTestSupport
import Testing

/// The lines of `Tests/Curl/lines.txt`: what curl or HTTPie sends, and what formstream sends for the line beside it.
@Suite struct CurlLinesTests {
  /// Headers that are not compared; the file says why.
  private static let ignored: Set = [
    "user-agent", "accept-encoding", "connection", "expect", "content-length", "transfer-encoding",
  ]

  private struct Entry {
    var line = ""
    var ours = ""
    var sends: [String] = []
    var differences: Set<String> = []
    /// The reasons of differences.
    var reasons: [String] = []
    var refusal: String?

    var isOfCurl: Bool { !line.hasPrefix("http ") }
    var comparesAgent: Bool {
      ["-A ", "agent", "curl.cfg"].contains { line.contains(" \($0)") || line.contains("\n\($0)") }
    }
  }

  /// What is compared of the last request for a line.
  private struct Shape {
    var method = ""
    var target = ""
    var headers: [String: [String]] = [:]
    var body = ""

    func differences(from other: Shape) -> Set<String> {
      var found: Set<String> = []
      if method != other.method { found.insert("method") }
      if target != other.target { found.insert("target") }
      if body != other.body { found.insert("body") }
      for name in Set(headers.keys).union(other.headers.keys)
      where headers[name] != other.headers[name] {
        found.insert("header \(name)")
      }
      return found
    }
  }

  @Test func `formstream sends what curl and HTTPie send, but for the differences that are named`()
    throws
  {
    let entries = try Self.entries()
    #expect(entries.count > 150)
    let place = try Self.place()
    let server = try ScriptedServer { request in
      let isAuthorized = request.header("Authorization")?.contains("response=") == true
      return request.target.hasSuffix("/digest") && !isAuthorized
        ? .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
        : .good(body: "ok\n")
    }
    let curls = entries.enumerated().filter { $0.element.isOfCurl }.map { ($0, $1.line) }
    try Self.run(curls, as: "c", at: server.url, in: place)
    try Self.run(entries.enumerated().map { ($0, $1.ours) }, as: "f", at: server.url, in: place)
    var differing = 0
    for (index, entry) in entries.enumerated() {
      let error = try String(contentsOfFile: place.path("f\(index).err"), encoding: .utf8)
      let exit = try String(contentsOfFile: place.path("f\(index).exit"), encoding: .utf8)
      if let refusal = entry.refusal {
        differing += 1
        #expect(exit == "64\n" && error.contains(refusal), "\(entry.line): \(error)")
        continue
      }
      #expect(exit != "64\n", "\(entry.line): \(error)")
      let ours = server.requests.filter { $0.target.hasPrefix("/f\(index)/") }
      let theirs = server.requests.filter { $0.target.hasPrefix("/c\(index)/") }
      let shape = Self.shape(ours.last, "/f\(index)", entry)
      let wanted =
        entry.isOfCurl
        ? Self.shape(theirs.last, "/c\(index)", entry) : Self.shape(written: entry.sends, server)
      var found = shape.differences(from: wanted)
      if ours.count != (entry.isOfCurl ? theirs.count : 1) { found.insert("requests") }
      #expect(
        found == entry.differences, "\(entry.line)\n\(error)\nours: \(shape)\ntheirs: \(wanted)")
      if !found.isEmpty { differing += 1 }
    }
    print("Of \(entries.count) lines, \(differing) differ.")
  }

  /// The table in `docs/coming-from-curl.md` is the only list of what differs from curl: `make curl-suite` and the lines here name its
  /// rows, and each row is named.
  @Test func `each difference from curl is in the documents, and nothing else is`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/coming-from-curl.md"), encoding: .utf8)
    let table = page.split(separator: "\n## What differs\n").dropFirst().first?
      .split(separator: "\n## ").first
    let listed = try #require(table).matches(of: /\n\| ([a-z]+) \| ([^\n]+) \|/)
    let rows = listed.map { String($0.output.1) }
    #expect(rows.count > 15)
    #expect(Set(rows).count == rows.count)
    for row in listed { #expect(row.output.2.count > 20, "\(row.output.1) says too little") }
    let suite = try String(
      contentsOf: root.appending(path: "Tests/Curl/differences.toml"), encoding: .utf8)
    let named = suite.matches(of: /(?:^|\n)\[different\.([a-z]+)\]/).map { String($0.output.1) }
    #expect(Set(named) == Set(rows))
    for entry in try Self.entries() where entry.isOfCurl {
      for reason in entry.reasons {
        let name = String(reason.prefix { $0 != "," })
        #expect(rows.contains(name), "\(entry.line): \(reason)")
      }
    }
  }

  // MARK: Running

  /// Runs lines of shell one after another; the server tells them by the first component of the path.
  private static func run(
    _ lines: [(Int, String)], as name: String, at url: String, in place: TemporaryDirectory
  ) throws {
    let script = lines.map { index, line in
      """
      (U=\(url)/\(name)\(index); \(line)
      ) > \(name)\(index).out 2> \(name)\(index).err < /dev/null; echo $? > \(name)\(index).exit
      """
    }
    try place.write("\(name).sh", script.joined(separator: "\n") + "\n")
    let result = try shell(
      """
      curl() { command curl -q "$@"; }
      formstream() { "$F" "$@"; }
      export HOME="$PWD" TOKEN=tok
      . ./\(name).sh
      """, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
  }

  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for (name, contents) in [
      ("form.txt", "a=1&\nb=2\n"), ("report.txt", "words of a report\nand more\n"),
      ("index.html", "<html></html>\n"), ("re,port;1.txt", "x\n"),
      ("headerfile", "X-A: 1\nX-B: 2\n"), ("data.json", "{\"a\": 1}\n"),
      ("image.png", "no image\n"), ("cat.gif", "GIF89a\u{1}"),
      ("doc.pdf", "%PDF-1.4\n"), ("archive.zip", "PK\u{3}\u{4}"), ("archive.tgz", "\u{1F}x"),
      ("artifact.jar", "PK\u{3}\u{4}"), ("audio.mp3", "ID3\u{3}\0"),
      ("bulk.ndjson", "{\"index\":{}}\n{\"a\":1}\n"), ("data.csv", "a,b\n1,2\n"),
      ("order.xml", "<order/>\n"), ("script.js", "export default {}\n"),
      (
        "curl.cfg",
        "# a comment\n--data \"a=b c\"\nheader: \"X-A: 1\"\nsilent\nuser-agent = agent/1\n--request PATCH\n"
      ),
      ("cookies.txt", "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n"),
      (".netrc", "machine 127.0.0.1 login me password p\n"),
    ] {
      try place.write(name, contents)
    }
    // Both find its type: curl by its name, formstream by its contents.
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1]
    try place.write("photo.jpg", jpeg + [0, 1, 0, 0])
    return place
  }

  // MARK: Comparing

  private static func shape(
    _ request: RecordedRequest?, _ prefix: String, _ entry: Entry
  ) -> Shape {
    guard let request else { return Shape() }
    let boundary = request.header("Content-Type").flatMap {
      $0.split(separator: "boundary=").dropFirst().first.map(String.init)
    }
    func plain(_ text: String) -> String {
      let text = text.replacing("\(prefix)/", with: "/")
      return boundary.map { text.replacing($0, with: "B") } ?? text
    }
    var shape = Shape(
      method: request.method,
      target: plain(request.target).replacing(/%[0-9a-f]{2}/) { $0.output.uppercased() },
      body: plain(
        FormLanguageTests.numberingBoundaries(
          request.body.map { String(UnicodeScalar($0)) }.joined())))
    for header in request.headers {
      let name = header.name.lowercased()
      if ignored.contains(name), name != "user-agent" || !entry.comparesAgent { continue }
      shape.headers[name, default: []].append(plain(header.value))
    }
    if boundary != nil, !entry.line.contains(";type=") {
      shape.body = shape.body.replacing(/(filename="[^\n]*"\r\n)Content-Type: [^\r]*\r\n/) {
        $0.output.1
      }
    }
    return shape
  }

  /// The request that the table itself holds.
  private static func shape(written lines: [String], _ server: ScriptedServer) -> Shape {
    let words = (lines.first ?? "").split(separator: " ").map(String.init)
    var shape = Shape(method: words.first ?? "", target: words.last ?? "")
    shape.headers["host"] = ["127.0.0.1:\(server.port)"]
    for line in lines.dropFirst() {
      if line.hasPrefix("body ") {
        shape.body = String(line.dropFirst(5)).replacing("\\r", with: "\r")
          .replacing("\\n", with: "\n")
      } else if let header = RecordedHeader(line: line) {
        shape.headers[header.name.lowercased()] = [header.value]
      }
    }
    return shape
  }

  // MARK: Reading

  private static func entries() throws -> [Entry] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Curl/lines.txt")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n\n").compactMap {
      try entry($0)
    }
  }

  /// Nil for a block of comments.
  private static func entry(_ block: Substring) throws -> Entry? {
    var entry = Entry()
    for line in block.split(separator: "\n") where !line.hasPrefix("#") {
      let halves = line.split(separator: ": ", maxSplits: 1)
      try #require(halves.count == 2, "\(line)")
      let value = String(halves[1])
      switch halves[0] {
      case "from": break
      case "line": entry.line = value
      case "ours": entry.ours = value
      case "sends": entry.sends.append(value)
      case "differs":
        entry.differences.insert(value.prefix { $0 != ":" }.lowercased())
        entry.reasons.append(String(value.split(separator: ": ", maxSplits: 1).last ?? ""))
      case "refused": entry.refusal = String(value.prefix { $0 != ":" })
      default: Issue.record("This is no line of an entry: \(line)")
      }
    }
    if entry.line.isEmpty { return nil }
    if entry.ours.hasPrefix("= ") {
      let rest = entry.line.split(separator: " ", maxSplits: 1).last ?? ""
      entry.ours = "formstream \(entry.ours.dropFirst(2)) \(rest)"
    }
    return entry
  }
}

extension RecordedHeader {
  /// Reads `Name: value`.
  fileprivate init?(line: String) {
    let halves = line.split(separator: ":", maxSplits: 1)
    guard halves.count == 2 else { return nil }
    self.init(name: String(halves[0]), value: halves[1].trimmingCharacters(in: .whitespaces))
  }
}
