import Foundation
import FormStreamTestSupport
import Testing

/// README.md and the pages in docs, compared with what they describe.
@Suite struct DocumentationTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let pages =
    ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
    + ((try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: "docs").path)) ?? [])
    .filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }

  /// Flags of other programs that the pages mention.
  private static let foreignFlags: Set<String> = [
    "--aws-sigv4", "--fail-with-body", "--http3", "--ntlm",
    "--array", "--post-file", "--retries", "--record", "--quick", "--only", "--strict", "--write",
    "--bwlimit", "--files-from-raw", "--foreground", "--rm",
  ]

  /// Folders, and types of Foundation, that CONTRIBUTING mentions.
  private static let foreignNames: Set<String> = [
    "Benchmarks", "Corpus", "InputStream", "Internals", "Samples", "Sources", "URLSession",
  ]

  private static func text(_ page: String) throws -> String {
    try String(contentsOf: root.appending(path: page), encoding: .utf8)
  }

  @Test func `the pages in docs are found`() {
    #expect(Self.pages.count > 20)
  }

  /// The pages on which each flag of the help must stand.
  private static let references = ["docs/command.md", "docs/coming-from-curl.md", "docs/receiver.md"]

  @Test(arguments: DocumentTests.verbs) func `each flag of the help stands on a page of reference`(
    _ verb: String
  ) throws {
    let text = try Self.references.map(Self.text).joined(separator: "\n")
    let described = Set(
      text.matches(of: /[^a-zA-Z0-9-](?<flag>--[a-z][a-z0-9.-]*[a-z0-9])/).map { String($0.flag.dropFirst(2)) })
    let listed = try flags(inHelpOf: verb)
    #expect(listed.count > 5)
    let missing = listed.subtracting(described).sorted()
    #expect(missing.isEmpty, "\(missing)")
  }

  @Test func `the front page has at most 120 lines`() throws {
    #expect(try Self.text("README.md").count { $0.isNewline } <= 120)
  }

  @Test(arguments: pages) func `every link leads to a file and to a heading`(
    _ page: String
  ) throws {
    for match in try Self.text(page).matches(of: /\]\((?<path>[^)#\s]*)(#(?<heading>[^)\s]+))?\)/) {
      let path = String(match.path)
      if path.contains("://") { continue }
      let directory = URL(filePath: page, relativeTo: Self.root).deletingLastPathComponent()
      let file =
        path.isEmpty
        ? Self.root.appending(path: page) : URL(filePath: path, relativeTo: directory)
      #expect(FileManager.default.fileExists(atPath: file.path), "\(match.0)")
      guard let heading = match.heading else { continue }
      let headings = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        .filter { $0.hasPrefix("#") }
        .map { line in
          line.drop { $0 == "#" }.dropFirst().lowercased().replacing(" ", with: "-")
            .filter { $0.isLetter || $0.isNumber || $0 == "-" }
        }
      let isHeading = headings.contains(String(heading))
      #expect(isHeading, "\(match.0)")
    }
  }

  @Test func `every path in CONTRIBUTING is there`() throws {
    let paths = try Self.text("CONTRIBUTING.md")
      .matches(
        of: /`(?<path>(Sources|Tests|Fuzz|Samples|Benchmarks|docs|\.ci)\/[A-Za-z0-9_\/.+-]*)`/)
    #expect(paths.count > 20)
    for path in paths.map({ String($0.path) }) {
      let isThere = FileManager.default.fileExists(atPath: Self.root.appending(path: path).path)
      #expect(isThere, "\(path)")
    }
  }

  @Test func `every type and member in CONTRIBUTING is declared`() throws {
    let folders = ["Sources", "Tests", "Fuzz/Properties"]
    let files = try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(
        atPath: Self.root.appending(path: folder).path
      ).filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }
    var declared = Set(
      files.flatMap { $0.split(separator: "/") }.map { String($0.split(separator: ".")[0]) })
    for file in files {
      for match in try Self.text(file).matches(
        of: /\b(struct|class|enum|protocol|case|func|let|var|typealias|import) (?<name>\w+)/)
      { declared.insert(String(match.name)) }
    }
    let names = try Self.text("CONTRIBUTING.md")
      .matches(of: /`(?<name>[A-Z][A-Za-z]+(\.[A-Za-z]+)*)`/)
    #expect(names.count > 50)
    for name in names.flatMap({ $0.name.split(separator: ".") }) {
      let isDeclared = declared.contains(String(name)) || Self.foreignNames.contains(String(name))
      #expect(isDeclared, "\(name)")
    }
  }

  /// All flags of the manual, whose pages are printed once for all tests.
  private static let flagsOfManual = Result {
    let manual = try (DocumentTests.verbs)
      .map { try formstream($0, "--generate", "man").output }.joined()
      .replacing("\\-", with: "-").replacing("\\&", with: "")
    return Set(manual.matches(of: /--[a-z][a-z0-9.-]*[a-z0-9]/).map { String($0.0) })
  }

  @Test(arguments: pages) func `every flag on a page is in the manual`(_ page: String) throws {
    let known = try Self.flagsOfManual.get()
    let named = try Self.text(page).matches(of: /[^a-zA-Z0-9-](?<flag>--[a-z][a-z0-9.-]*[a-z0-9])/)
    for flag in named.map({ String($0.flag) }) {
      let isKnown = known.contains(flag) || Self.foreignFlags.contains(flag)
      #expect(isKnown, "\(flag)")
    }
  }

  /// The first pages of the products, and the articles about them.
  private static let articles = Result {
    let sources = root.appending(path: "Sources")
    return try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/\($0)" }.sorted()
  }

  @Test func `every Swift example of an article is part of a sample`() throws {
    let articles = try Self.articles.get()
    #expect(articles.count > 20)
    for article in articles where try Self.text(article).contains("```") {
      try expectSwiftExamplesInSamples(article)
    }
  }

  @Test(arguments: [
    "README.md", "docs/background-uploads.md", "docs/library.md", "docs/post-from-swift.md", "docs/resumable.md",
    "docs/ten-tasks.md", "docs/test-your-code.md",
  ])
  func `every Swift example is part of a sample`(_ page: String) throws {
    try expectSwiftExamplesInSamples(page)
  }

  private func expectSwiftExamplesInSamples(_ page: String) throws {
    let samples = Self.root.appending(path: "Samples/Sources")
    let sources = try FileManager.default.subpathsOfDirectory(atPath: samples.path)
      .filter { $0.hasSuffix(".swift") }
      .map { Self.unindented(try Self.text("Samples/Sources/\($0)")) }
    let examples = try Self.text(page).matches(of: /```swift\n(?<code>[^`]+)```/)
    #expect(!examples.isEmpty)
    for example in examples {
      let code = Self.unindented(String(example.code))
      // `.ci/consumers` builds it.
      if code.hasPrefix("// swift-tools-version") { continue }
      let isPartOfSample = sources.contains { $0.contains(code) }
      #expect(isPartOfSample, "\(page): \(example.code)")
    }
  }

  @Test func `a sample has at most 70 lines`() throws {
    let samples = Self.root.appending(path: "Samples/Sources")
    for file in try FileManager.default.subpathsOfDirectory(atPath: samples.path) where file.hasSuffix(".swift") {
      let count = try Self.text("Samples/Sources/\(file)").count { $0.isNewline }
      #expect(count <= 70, "\(file)")
    }
  }

  @Test func `the manifest of the guide has every library product, and is the one that is built`()
    throws
  {
    let manifest = try #require(
      try Self.text("docs/library.md").firstMatch(
        of: /```swift\n(?<code>\/\/ swift-tools-version[^`]+)```/))
    let products = manifest.code.matches(of: /\.product\(name: "(?<name>\w+)"/).map {
      String($0.name)
    }
    let declared = try Self.text("Package.swift").matches(of: /\n    product\("(?<name>\w+)"\)/)
      .map { String($0.name) }
    #expect(!declared.isEmpty)
    #expect(products.sorted() == declared.sorted())
    let script = try Self.text(".ci/consumers")
    #expect(script.contains("docs/library.md"))
    #expect(try Self.text(".ci/check").contains(".ci/consumers"))
    // What the script replaces and leaves out is there.
    #expect(manifest.code.contains("path: \"../formstream\""))
  }

  @Test func `the table of ten tasks counts the lines of the examples`() throws {
    let sections = try Self.text("docs/ten-tasks.md").split(separator: "\n## ")
    let rows = sections[0].matches(of: /\n\| [^|]* (?<counts>(\| [0-9]+ )+)\|/).map { row in
      row.counts.split(separator: "|").compactMap { Int($0.trimmingPrefix(" ").dropLast()) }
    }
    let counted = sections.dropFirst().map { section in
      section.matches(of: /```\w+\n(?<code>[^`]+)```/).map { example in
        example.code.split(separator: "\n").count { !$0.allSatisfy { $0 == " " } }
      }
    }
    #expect(counted.count == 10)
    let sums = (0..<5).map { column in counted.reduce(0) { $0 + $1[column] } }
    #expect(rows == counted + [sums])
  }

  /// Programs that use a library can't set the command's flags.
  @Test func `no message of a library names a flag`() throws {
    let sources = Self.root.appending(path: "Sources")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".swift") && !$0.lowercased().hasPrefix("formstreamcommand/") }
    #expect(files.count > 100)
    let flag = /"[^"]*[ (`']--[a-z][^"]*"/
    for file in files {
      for line in try Self.text("Sources/\(file)").split(separator: "\n")
      where line.contains(flag) { Issue.record("\(file): \(line)") }
    }
  }

  /// The lines of the sources that are no comments, with the names of their files.
  private static func codeLines() throws -> [(file: String, line: Substring)] {
    let sources = root.appending(path: "Sources")
    let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      .filter { $0.hasSuffix(".swift") }
    return try files.flatMap { file in
      try text("Sources/\(file)").split(separator: "\n")
        .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.map { (file, $0) }
    }
  }

  /// Regression: "the body has 1 bytes". What is never 1 is a constant, whose name begins with `maximum` or `minimum`.
  @Test func `no message counts one thing as several`() throws {
    let nouns =
      "bytes|files|parts|seconds|lines|requests|times|URLs|slices|fields|redirects|entries|headers"
    let count = try Regex(#"\\\((?<value>[^()]*(\([^()]*\)[^()]*)*)\) (\#(nouns))\b"#)
    // A debug build reads a literal anew each time.
    let (constant, share) = (/(^|\.)(maximum|minimum)[A-Z]/, /[ ]of ($|\\\()/)
    for (file, line) in try Self.codeLines() {
      for match in line.matches(of: count) {
        let value = match["value"]?.substring ?? ""
        let isConstant = value.contains(constant)
        // "4 of 9 bytes" is a part, and "the server at … redirects the request" has a verb.
        if isConstant || line.contains("== 1 ?")
          || line[..<match.range.lowerBound].contains(share)
          || line[match.range.upperBound...].hasPrefix(" the request")
        {
          continue
        }
        Issue.record("\(file): \(line)")
      }
    }
  }

  /// Regression: a message named `maximumConnectionsPerHost`, which the command has another name for.
  @Test func `messages of transfers name settings by SettingName`() throws {
    let setting =
      /"[^"]*(^|[^A-Za-z])(Configuration|TransferOptions|RetryPolicy|TimeLimits|TLSSettings|ProxySettings|RedirectPolicy)\.[a-z][^"]*"/
    for (file, line) in try Self.codeLines()
    where file.hasPrefix("FormStreamHTTP/") && !file.hasSuffix("/SettingName.swift") {
      if line.contains(setting) {
        Issue.record("\(file): \(line)")
      }
    }
  }

  private static func unindented(_ code: String) -> String {
    code.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0.drop { $0 == " " }) }.joined(separator: "\n")
  }

  @Test func `the page of exit codes lists those of the manual`() throws {
    let manual = try formstream("--generate", "man").output
    let section = try #require(manual.split(separator: ".SH \"EXIT STATUS\"").dropFirst().first)
    let codes = section.split(separator: ".SH")[0].matches(of: /\.TP\n(?<codes>[0-9, ]+)\n/)
      .map { String($0.codes) }
    let listed = try Self.text("docs/exit-codes.md").matches(of: /\n\| (?<codes>[0-9][0-9, ]*) \|/)
      .map { String($0.codes) }
    #expect(!codes.isEmpty)
    #expect(listed == codes)
  }

  /// The keys in the first columns below a heading of docs/records.md.
  private static func keys(_ heading: String, table: Int = 0) throws -> [String] {
    let section = try #require(
      try text("docs/records.md").split(separator: "\n## \(heading)\n").dropFirst().first)
    let tables = section.split(separator: "\n## ")[0].split(separator: "\n|---|---|\n").dropFirst()
    let rows = tables.dropFirst(table).first?.split(separator: "\n\n").first
    let key = /`(?<key>[a-z0-9_]+)`/
    return (rows ?? "").split(separator: "\n").flatMap { row in
      row.split(separator: "|")[0].matches(of: key).map { String($0.key) }
    }
  }

  /// The keys of a JSON object, in order; those of objects inside it do not count.
  private static func keys(of record: Substring) -> [String] {
    var keys: [String] = []
    var (depth, isQuoted, isEscaped) = (0, false, false)
    var word = ""
    for character in record {
      if isQuoted {
        if !isEscaped, character == "\"" { isQuoted = false } else { word.append(character) }
        isEscaped = !isEscaped && character == "\\"
        continue
      }
      switch character {
      case "\"": (isQuoted, word) = (true, "")
      case "{", "[": depth += 1
      case "}", "]": depth -= 1
      case ":": if depth == 1 { keys.append(word) }
      default: break
      }
      if depth == 0 { return keys }
    }
    return keys
  }

  @Test func `the page of records lists their keys, in order`() throws {
    let run = try shell(
      """
      $F encode --boundary B -F a=b -o body
      $F parse --json --boundary B body
      $F parse --json --boundary B body | sed 's/.*"parts":.//'
      $F sniff --json body
      $F post --json -F a=b http://127.0.0.1:1/
      $F post -q --progress json -F a=b http://127.0.0.1:1/ 2>&1 | grep '^{' | head -1
      $F send --json --retry 0 http://127.0.0.1:1/ body
      """)
    let records = run.output.split(separator: "\n")
    try #require(records.count == 7, "\(run.output)")
    #expect(try Self.keys("The record of a body") == Self.keys(of: records[0]))
    #expect(try Self.keys("The record of a body", table: 1) == Self.keys(of: records[1]))
    #expect(try Self.keys("The record of a file") == Self.keys(of: records[2]))
    #expect(try Self.keys("The record of a request") == Self.keys(of: records[3]))
    #expect(try Self.keys("The record of progress") == Self.keys(of: records[4]))
    #expect(try Self.keys("The record of a file that was sent") == Self.keys(of: records[5]))
    #expect(try Self.keys("The record of a run") == Self.keys(of: records[6]))
  }

  @Test func `the page of records lists the keys of what the receiver prints`() throws {
    let run = try shell(
      """
      coproc R { $F receive --json --once --listen 127.0.0.1:0; }
      # Bash closes its own descriptor as soon as the receiver has ended.
      exec 3<&"${R[0]}"
      read -r listening <&3
      printf '%s\\n' "$listening"
      url=$(printf '%s' "$listening" | sed 's/.*"url":"//; s/".*//')
      $F post --json -F a=b "$url" | sed 's/.*"response"://'
      cat <&3
      """)
    let records = run.output.split(separator: "\n")
    try #require(records.count == 3, "\(run.output) \(run.stderr)")
    #expect(try Self.keys("The record of a receiver") == Self.keys(of: records[0]))
    #expect(try Self.keys("The record of a request", table: 1) == Self.keys(of: records[1]))
    #expect(
      try Self.keys("The record of a body") + Self.keys("The record of an upload")
        == Self.keys(of: records[2]))
  }
}
