import FormStreamTestSupport
import Testing

/// What the help of each command looks like, and that it says what is true of that command.
@Suite struct HelpTests {
  @Test(arguments: [""] + DocumentTests.verbs)
  func `no line of a help page is wider than 80 columns`(_ verb: String) throws {
    let page = try (verb.isEmpty ? formstream("--help") : formstream(verb, "--help")).output
    let wide = page.split(separator: "\n").filter { $0.count > 80 }
    #expect(wide.isEmpty, "\(wide)")
    #expect(!page.contains(" \n"), "blanks at the end of a line")
  }

  @Test(arguments: DocumentTests.verbs)
  func `command lines in the manual fit into its 80 columns`(_ verb: String) throws {
    let run = try shell("$F \(verb) --generate man > page.1; MANWIDTH=80 man -l page.1 | col -b")
    let lines = run.output.split(separator: "\n")
    let start = try #require(lines.firstIndex(of: "EXAMPLES"))
    let end = try #require(lines.firstIndex(of: "EXIT STATUS"))
    #expect(lines[start..<end].allSatisfy { $0.count <= 80 }, "\(lines[start..<end])")
    #expect(lines[start..<end].contains { $0.contains("formstream \(verb)") })
  }

  /// A request that got a 500 ends with 1, and would often succeed the next time.
  @Test(arguments: ["post", "put", "get", "send"])
  func `exit code 1 doesn't promise that the same request fails again`(_ verb: String) throws {
    let page = try formstream(verb, "--help").output
    #expect(!page.contains("would fail again"))
    #expect(page.split(separator: "\n").contains { $0.hasPrefix("  1  ") && $0.contains("failed") }, "\(page.suffix(1500))")
  }

  @Test(arguments: ["post", "put", "get", "send"])
  func `the help shows how a rate for a time of the day is written`(_ verb: String) throws {
    let summary = try Self.summaries(of: verb).first { $0.flag == "--limit-rate" }?.summary
    #expect(summary?.contains("09:00-18:00 2M") == true, "\(summary ?? "")")
  }

  /// The text beside each flag, put together again.
  private static func summaries(of verb: String) throws -> [(flag: String, summary: String)] {
    var found: [(flag: String, summary: String)] = []
    for line in try lines(inHelpOf: verb) {
      if line.hasPrefix("  -") || line.hasPrefix("      --") {
        let name = line.split(separator: " ").first { $0.hasPrefix("--") } ?? ""
        // A flag that is too long for its column stands alone.
        let isAlone = !line.dropFirst(26).hasPrefix("  ")
        found.append((String(name), isAlone ? "" : String(line.dropFirst(28))))
      } else if line.hasPrefix(String(repeating: " ", count: 28)), !found.isEmpty {
        let rest = line.drop { $0 == " " }
        found[found.count - 1].summary += (found[found.count - 1].summary.isEmpty ? "" : " ") + rest
      }
    }
    return found
  }

  /// Completions and the manual show the text without its neighbors.
  @Test(arguments: DocumentTests.verbs)
  func `the text of a flag can be read without the flag before it`(_ verb: String) throws {
    let summaries = try Self.summaries(of: verb)
    #expect(summaries.count > 5)
    for (flag, summary) in summaries {
      #expect(summary.first?.isUppercase == true || summary.hasPrefix("-"), "\(flag): \(summary)")
      for start in ["The same", "Its ", "Also ", "Only ", "No "] {
        #expect(!summary.hasPrefix(start), "\(flag): \(summary)")
      }
    }
  }

  /// Regression: the page of `get` named --retry-unsafe and -T, which it does not have.
  @Test(arguments: DocumentTests.verbs)
  func `the text of a flag names only flags of its command, and no other command`(
    _ verb: String
  ) throws {
    let known = try flags(inHelpOf: verb).union(generalFlags)
    // A debug build reads a literal anew each time.
    let first = /^  -(?<letter>[A-Za-z0-9]),/
    let (long, short) = (
      /(^|[ (])--(?<name>[a-z][a-z0-9.-]*[a-z0-9])/, /(^|[ (])-(?<letter>[A-Za-z])([ ,;:.)]|$)/
    )
    let letters = Set(
      try lines(inHelpOf: verb).compactMap { line in
        line.firstMatch(of: first).map { String($0.letter) }
      })
    for (flag, summary) in try Self.summaries(of: verb) {
      for other in DocumentTests.verbs {
        #expect(!summary.contains("\(other):"), "\(flag): \(summary)")
      }
      for named in summary.matches(of: long) {
        #expect(known.contains(String(named.name)), "\(flag): \(summary)")
      }
      for named in summary.matches(of: short)
      where !summary.contains("find -") {
        #expect(letters.contains(String(named.letter)), "\(flag): \(summary)")
      }
    }
  }

  /// Regression: these were the texts of another command.
  @Test(arguments: [
    ("get", "--retry", "default: 2 for files"), ("post", "--retry", "default: 0"),
    ("send", "--retry", "default: 2"), ("get", "--limit-rate", "Receive at most"),
    ("put", "--limit-rate", "Send at most"), ("send", "--limit-rate", "at a time of the day"), ("get", "--data", "-G"),
    ("get", "--globoff", "in URLs as they are"), ("get", "--response-timeout", "the request"),
    ("get", "--request", "instead of GET"), ("post", "--request", "instead of POST"),
    ("send", "--request", "instead of POST"), ("get", "--retry-all-errors", "404"),
    ("get", "--expect-status", "for a file 200 and 203"),
    ("send", "--filename", "all files"), ("post", "--filename", "part"),
    ("receive", "--token-file", "require"), ("post", "--token-file", "send"),
    ("parse", "--boundary", "first delimiter line"), ("post", "--boundary", "random"),
    ("send", "--idempotency-key", "auto"), ("send", "--sha256", "each file"),
    ("receive", "--verbose", "requests"), ("encode", "--quiet", "Print no notes"),
    ("encode", "--dry-run", "outline"),
  ])
  func `the text of a flag is true of its command`(
    _ verb: String, _ flag: String, _ says: String
  ) throws {
    let summary = try #require(try Self.summaries(of: verb).first { $0.flag == flag })
    #expect(summary.summary.contains(says), "\(summary)")
    // The manual and the completions say the same.
    let manual = try formstream(verb, "--generate", "man").output
      .replacing("\\-", with: "-").replacing("\\&", with: "")
    #expect(manual.contains("\n\(summary.summary)."), "\(summary)")
    let zsh = try formstream("--generate", "zsh").output
      .replacing("\\:", with: ":").replacing("\\[", with: "[").replacing("\\]", with: "]")
    #expect(zsh.contains("[\(summary.summary)]"), "\(summary)")
    let fish = try formstream("--generate", "fish").output
    #expect(fish.contains("-d '\(summary.summary)'"), "\(summary)")
  }

  /// Regression: a line of sha256sum was several words.
  @Test func `the first example of get works with the line of sha256sum`() throws {
    let page = try lines(inHelpOf: "get")
    let example = try #require(
      page.first { $0.contains("--sha256 ") && $0.contains("formstream get") })
    let server = try ScriptedServer { _ in .good(body: "film") }
    let result = try shell(
      "printf film > film.mp4; sha256sum film.mp4 > film.sha256; rm film.mp4; "
        + example.replacing("formstream get", with: "$F get")
        .replacing("https://example.org", with: server.url) + "; cat film.mp4")
    #expect((result.exit, result.output) == (0, "film"), "\(result.stderr)")
  }

  @Test(arguments: [
    ("post", ["upload-file", "data", "user", "dry-run"]),
    ("put", ["upload-file", "user", "dry-run"]), ("get", ["user"]),
    ("encode", ["dry-run"]),
  ])
  func `flags that nearly everybody needs stand first`(
    _ verb: String, _ flags: [String]
  ) throws {
    let page = try formstream(verb, "--help").output
    let section = try #require(
      page.split(separator: "\nExamples:").first?.split(separator: "Common flags:\n").last)
    for flag in flags { #expect(section.contains("--\(flag)"), "\(flag)") }
  }

  /// What each command's page lists, and a line of shell that ends with each code but 70, which stands for bugs.
  private static let codes: [String: [(code: Int32, line: String)]] = [
    "post": requesting("post -d a", "post -d @missing URL", "post -d a -o no/dir URL"),
    "put": requesting("put -T f", "put -T missing URL", "put -T f -o no/dir URL"),
    "get": requesting("get --retry 0", "get -K missing URL", "get -o no/dir URL"),
    "send": requesting("send --retry 0", "send URL missing", "send URL f --journal m", file: " f"),
    "plan": [(0, "plan f"), (64, "plan"), (66, "plan missing"), (74, "plan f > /dev/full")],
    "report": [
      (64, "report"), (66, "report --manifest missing ."),
      (74, "report --manifest m . > /dev/full"), (75, "report --manifest m ."),
    ],
    "receive": [
      (64, "receive x"), (66, "receive --token-file missing"), (74, "receive --listen 192.0.2.1:0"),
    ],
    "encode": [
      (0, "encode -F a=b"), (64, "encode x"), (66, "encode -F a=@missing"),
      (74, "encode -F a=b -o no/dir"),
    ],
    "parse": [
      (0, "parse --boundary B body"), (1, "parse --boundary C body"), (64, "parse"),
      (66, "parse missing"), (74, "parse --boundary B body > /dev/full"),
    ],
    "sniff": [(0, "sniff f"), (64, "sniff"), (66, "sniff missing"), (74, "sniff f > /dev/full")],
    "bench": [
      (0, "bench --size 1K --rounds 1"), (1, "bench --size 1K --rounds 1 -- true {url} {file}"), (64, "bench --size 0"),
      (66, "bench --from missing"), (74, "bench --size 1K --rounds 1 > /dev/full"),
    ],
  ]

  /// The codes of a command that sends requests.
  private static func requesting(
    _ start: String, _ missing: String, _ unwritable: String, file: String = ""
  ) -> [(code: Int32, line: String)] {
    [
      (0, "\(start) URL\(file)"), (1, "\(start) URL/404\(file)"),
      (64, "\(start) x://h/\(file)"), (66, missing), (74, unwritable),
      (75, "\(start) http://127.0.0.1:1/\(file)"),
    ]
  }

  /// Codes that no line above leads to, because they need a server or a file that fails in the middle.
  private static let others: [String: Set<Int32>] = [
    "post": [3], "put": [3], "get": [3], "send": [3], "report": [0, 1, 3], "receive": [0],
  ]

  @Test(arguments: codes.keys.sorted())
  func `a help page lists the exit codes that its command can have, and no others`(
    _ verb: String
  ) throws {
    let lines = try #require(Self.codes[verb])
    let page = try formstream(verb, "--help").output
    let listed = page.split(separator: "Exit codes:\n").last.map {
      $0.matches(of: #/(?m)^  (?<code>[0-9]+)  /#).compactMap { Int32($0.code) }
    }
    let expected = Set(lines.map(\.code)).union(Self.others[verb] ?? []).union([70])
    #expect(listed == expected.sorted())
    let manual = try formstream(verb, "--generate", "man").output
    let section = try #require(manual.split(separator: ".SH \"EXIT STATUS\"").last)
    let documented = section.split(separator: ".SH")[0]
      .matches(of: /\.TP\n(?<code>[0-9]+)\n/).compactMap { Int32($0.code) }
    #expect(documented == listed)
    let server = try ScriptedServer { request in
      request.target.contains("404") ? .good(404) : .good()
    }
    let place = try TemporaryDirectory()
    for (code, line) in lines {
      let line = line.replacing("URL", with: server.url)
      let run = try shell(
        "echo a > f; $F encode -q --boundary B -F a=b -o body; [ -e m ] || $F plan -o m f 2> /dev/null; $F \(line)",
        in: place)
      #expect(run.exit == code, "\(line): \(run.stderr)")
    }
  }
}
