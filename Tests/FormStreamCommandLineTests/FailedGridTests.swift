import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Runs and the lists of their failed files, over all kinds of sources and of requests: in the end each file was accepted exactly
/// once, and each step says what is so.
@Suite struct FailedGridTests {
  /// Sources in a directory with `a/x`, `a/y`, `a/s/x` and `b/x`. Each file has contents of its own, such as `<a/x>`.
  private static let sources: [(words: String, files: Set<String>)] = [
    ("a", ["a/x", "a/y", "a/s/x"]),
    ("a b", ["a/x", "a/y", "a/s/x", "b/x"]),
    ("a/x b/x", ["a/x", "b/x"]),
    ("a a/x a/s", ["a/x", "a/y", "a/s/x"]),
    ("--files-from list", ["a/x", "b/x", "a/y"]),
    ("b --files-from list", ["a/x", "b/x", "a/y"]),
    ("--files-from0 list0 a/s", ["a/y", "a/s/x"]),
    ("--manifest plan", ["a/x", "a/y", "a/s/x", "b/x"]),
    ("--include x a b", ["a/x", "a/s/x", "b/x"]),
  ]

  /// How files are sent.
  private static let requests: [(flags: String, path: String)] = [
    ("", ""),
    ("--filename {relative} --field-template p={path}", ""),
    ("--idempotency-key auto", ""),
    ("--per-request 2 --as f{i}", ""),
    ("--together", ""),
    ("--put", "/"),
    ("--put", "/{path}"),
    ("--put", "/{name}"),
    ("--put", "/{stem}-{size}"),
  ]

  /// Whether two files would be sent to one URL.
  private static func hasOneURLTwice(_ words: String, _ files: Set<String>, _ path: String) -> Bool {
    let parts = files.map { file in
      let name = file.split(separator: "/").last ?? ""
      return switch path {
      case "/{name}": "\(name)"
      // The contents are the path in angle brackets.
      case "/{stem}-{size}": "\(name) \(file.utf8.count)"
      // The name of a file that was named directly is all that is kept of its path.
      case "/" where words == "a/x b/x": "\(name)"
      default: file
      }
    }
    return Set(parts).count < parts.count
  }

  private static func files(in body: [UInt8]) -> [String] {
    String(decoding: body, as: UTF8.self).matches(of: /<(?<name>[a-z\/]+)>/).map { String($0.name) }
  }

  @Test(arguments: 0..<9, 0..<9)
  func `a run and its repair end in 0, and each file was accepted once`(source: Int, request: Int) throws {
    let (words, files) = Self.sources[source]
    let (flags, path) = Self.requests[request]
    // Each request that has the file b/x or a/y is refused once.
    let refusals = Guarded(Set(["a/y", "b/x"]))
    let accepted = Guarded<[String]>([])
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .decide { request in
          let names = Self.files(in: request.body)
          let isRefused = refusals.withLock { refusals in
            let isRefused = !refusals.isDisjoint(with: names)
            refusals.subtract(names)
            return isRefused
          }
          if !isRefused { accepted.withLock { $0 += names } }
          return [.respond(isRefused ? 422 : 200)]
        },
      ]
    }
    let place = try TemporaryDirectory()
    let url = "'\(server.url)\(path)'"
    let run = try shell(
      """
      mkdir -p a/s b; for f in a/x a/y a/s/x b/x; do printf '<%s>' $f > $f; done
      printf 'a/x\\nb/x\\na/x\\na/./y\\n' > list; printf 'a/y\\0a/y\\0' > list0; $F plan -q -o plan a b
      $F send -q -j 1 --journal j --failed rest \(flags) \(url) \(words) 2> first; echo $?
      $F report --json \(words.hasPrefix("--manifest") ? words : "") j > before; echo $?
      if [ -e rest ]; then $F send -q -j 1 --journal j --manifest rest \(flags) \(url) 2> second; echo $?; else echo 0; fi
      $F report --json \(words.hasPrefix("--manifest") ? words : "") j > after; echo $?
      cat after
      """, in: place)
    let lines = run.output.split(separator: "\n")
    let expected = accepted.withLock(\.self)
    if Self.hasOneURLTwice(words, files, path) {
      #expect(lines.first == "64" && server.requests.isEmpty, "\(run.output) \(run.stderr)")
      return
    }
    try #require(lines.count == 5, "\(run.output) \(run.stderr)")
    let hasRefused = !files.isDisjoint(with: ["a/y", "b/x"])
    #expect(lines[0] == (hasRefused ? "1" : "0") && lines[1] == lines[0], "\(run.output)")
    #expect(lines[2] == "0" && lines[3] == "0", "\(run.output)")
    #expect(expected.sorted() == files.sorted())
    #expect(lines[4].contains(#""files":\#(files.count),"ok":\#(files.count),"failed":0,"#), "\(lines[4])")
    #expect(lines[4].contains(#""missing":0,"duplicates":0,"maybe_duplicates":0,"#), "\(lines[4])")
  }
}
