import FormStreamBatch
import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct NamePatternTests {
  struct Row: Sendable {
    let pattern: String
    let matching: [String]
    let others: [String]

    init(_ pattern: String, _ matching: [String], not others: [String]) {
      (self.pattern, self.matching, self.others) = (pattern, matching, others)
    }
  }

  static let rows = [
    Row("a", ["a", "b/a", "a/c"], not: ["b", "aa", "ab/c"]),
    Row("*.txt", ["a.txt", ".txt", "b/c.txt"], not: ["txt", "a.txt2"]),
    Row("a*c", ["ac", "abc", "abbc"], not: ["ab", "bac"]),
    Row("*a*b*", ["ab", "xaxbx"], not: ["ba", "x"]),
    Row("?", ["a"], not: ["ab"]),
    Row("??", ["ab", "é"], not: ["a", "abc"]),
    Row("[a-c]x", ["ax", "cx"], not: ["dx", "x", "-x"]),
    Row("[!a-c]x", ["dx"], not: ["ax", "x"]),
    Row("[^a]", ["b"], not: ["a"]),
    Row("[]]", ["]"], not: ["a"]),
    Row("[]a]", ["]", "a"], not: ["b"]),
    Row("[a-]", ["a", "-"], not: ["b"]),
    Row("[\\]-a]", ["]", "^", "a"], not: ["b", "\\"]),
    Row("\\*", ["*"], not: ["a", "\\"]),
    Row("\\a", ["a"], not: ["\\a"]),
    Row("a/b", ["a/b"], not: ["b", "x/a/b", "a/c"]),
    Row("/a", ["a", "a/b"], not: ["b/a"]),
    Row("/*.txt", ["a.txt"], not: ["b/a.txt"]),
    Row("a/*/c", ["a/b/c"], not: ["a/c", "a/b/b/c"]),
    Row("a/**/c", ["a/c", "a/b/c", "a/b/b/c"], not: ["a/bc", "ac", "b/c"]),
    Row("**/c", ["c", "a/c", "a/b/c"], not: ["bc"]),
    Row("**/a/b", ["a/b", "x/y/a/b"], not: ["xa/b", "b"]),
    Row("a/**", ["a/b", "a/b/c"], not: ["b", "ab"]),
    Row("**", ["a", "a/b"], not: []),
    Row("x**z/y", ["xz/y", "xa/bz/y"], not: ["xz"]),
    Row("d/", ["d/a", "x/d/a"], not: ["d"]),
    Row("x/d/", ["x/d/a"], not: ["d/a", "x/d"]),
    Row("*", ["a", "-", "é"], not: []),
  ]

  /// Excluded files are those that match, or are in a directory that matches.
  @Test(arguments: rows) func `a pattern matches names`(row: Row) throws {
    for name in row.matching + row.others {
      // One at a time: a name may be a directory in one row's paths and a file in another.
      let place = try TemporaryDirectory(inMemory: true)
      try place.make(name)
      let left = try names(place) { $0.excludes = [try NamePattern(row.pattern)] }
      #expect(left.isEmpty == row.matching.contains(name), "\(row.pattern) \(name)")
    }
  }

  @Test(arguments: ["", "/", "[", "[]", "[a", "[!]", "a\\", "[b-a]", "[\\"])
  func `an invalid pattern is refused`(text: String) {
    let error = #expect(throws: BatchError.self) { try NamePattern(text) }
    #expect(error?.code == .invalidPattern)
  }

  @Test func `patterns are bytes`() throws {
    let place = try TemporaryDirectory(inMemory: true)
    try writeFile(LocalPath(bytes: Array("\(place.path)/".utf8) + [0xFF, 0x61]), [])
    var options = ListingOptions()
    options.includes = [try NamePattern(bytes: [0xFF, 0x3F])]
    #expect(try listed([.path(LocalPath(place.path))], options).count == 1)
    options.includes = [try NamePattern(bytes: [0xFE, 0x3F])]
    #expect(try listed([.path(LocalPath(place.path))], options).isEmpty)
  }

  @Test func `a pattern made to take long does not`() throws {
    let place = try TemporaryDirectory(inMemory: true)
    try place.make(String(repeating: "a", count: 250))
    let pattern = String(repeating: "*a", count: 100) + "b"
    #expect(try names(place) { $0.excludes = [try NamePattern(pattern)] }.count == 1)
  }
}
