import FormStreamTestSupport
import Testing

/// `send` and `plan`: a file that is named twice is sent once, and counted.
@Suite struct SendOnceTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell(
      """
      mkdir -p d/e; echo a > d/a; echo b > d/e/b; echo hidden > d/.hidden; ln -s d link; ln -s d/a file-link
      ln d/a d/hard; printf '%s\\n' d/a ./d/a d//a "$PWD/d/a" "$PWD/./d/a" d/./a "$PWD/link/a" > list
      """, in: place)
  }

  /// Ways to name files, the files that arrive, and how many names were repeated.
  private static let ways: [(words: String, files: [String], repeated: Int)] = [
    ("d d/a", ["a", "b", "hard"], 1), ("d/a d", ["a", "b", "hard"], 1),
    ("d d", ["a", "b", "hard"], 3), ("d d/e", ["a", "b", "hard"], 1),
    ("d/e d", ["a", "b", "hard"], 1), ("d ./d/", ["a", "b", "hard"], 3),
    ("d link", ["a", "b", "hard"], 3), ("d/a file-link", ["a", "file-link"], 0),
    ("d/a d/e/../a", ["a"], 1), ("d d/.hidden", [".hidden", "a", "b", "hard"], 0),
    ("d/a d/hard", ["a", "hard"], 0), ("--files-from list", ["a"], 6),
    ("--files-from list d", ["a", "b", "hard"], 7),
    ("--files-from list --files-from0 list0", ["a", "b"], 7),
  ]

  @Test(arguments: ways)
  func `a file that is named twice is sent once, and counted`(
    _ words: String, _ files: [String], _ repeated: Int
  ) throws {
    _ = try shell("printf 'd/e/b\\0d/a\\0' > list0", in: place)
    let note =
      "\(repeated) repeated \(repeated == 1 ? "name" : "names") left out: a file that is named twice is taken once."
    for (journal, count) in [("", "files"), ("--journal j ", "files"), ("--journal j ", "unchanged")] {
      let sent = try shell("$F send --json \(journal)\(server.url) \(words)", in: place)
      #expect(sent.exit == 0, "\(sent.stderr)")
      #expect(sent.output.contains(#""\#(count)":\#(files.count),"#), "\(sent.output)")
      #expect(sent.stderr.contains(note) == (repeated > 0), "\(sent.stderr)")
    }
    let names = server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    #expect(names == (files + files).sorted())

    for sort in ["", "--sort"] {
      let plan = try shell("$F plan \(sort) \(words) -o m; tail -n +2 m | wc -l; rm m", in: place)
      #expect(plan.output == "\(files.count)\n", "\(plan.stderr)")
      #expect(plan.stderr.contains(note) == (repeated > 0), "\(plan.stderr)")
    }
  }

  /// Regression: the entry that can't be sent had the name of the good one, which was left out as repeated.
  @Test func `an entry that can't be sent hides no file of the same name`() throws {
    let run = try shell(
      """
      printf '%s\\n' d/../../${PWD##*/}/d/a d/a d/e/../a d/missing d/e/b > list; $F plan --files-from list -o m; tail -n +2 m | wc -l
      $F send --json --retry 0 \(server.url) --files-from list
      """, in: place)
    #expect(run.exit == 66, "\(run.stderr)")
    // The path that leads out and comes back is refused.
    #expect(run.output.hasPrefix("4\n"), "\(run.output)")
    #expect(run.output.contains(#""files":4,"ok":2,"failed":2,"#), "\(run.output)")
    #expect(Set(server.sentFiles) == [SentFile("a", "a\n"), SentFile("b", "b\n")])
  }

  /// What is remembered of so many names goes to the disk.
  @Test func `a list of any length is compared with itself`() throws {
    let run = try shell(
      """
      mkdir t n; (cd n; seq 100000 140000 | xargs touch)
      { ls -U n; ls n; ls -r n; } | sed 's,^,n/,' > l
      TMPDIR=t $F plan --files-from l -o m; tail -n +2 m | sort -u | wc -l; tail -n +2 m | wc -l; ls -A t
      TMPDIR=$PWD/missing $F plan --files-from l -o m2; echo $?; TMPDIR=missing $F plan --files-from list -o m3; echo $?
      """, in: place)
    #expect(run.output == "40001\n40001\n74\n0\n", "\(run.stderr)")
    #expect(run.stderr.contains("80002 repeated names left out"))
    #expect(run.stderr.contains("TMPDIR"), "\(run.stderr)")
  }

  @Test func `a list that names files in another way is continued without sending them again`()
    throws
  {
    let line = "$F send --json --retry 0 --journal j \(server.url) --files-from list2"
    _ = try shell("printf 'd/a\\nd/e/b\\n' > list2; \(line)", in: place)
    #expect(server.requests.count == 2)
    // As if the run had been killed while it listed.
    let second = try shell(
      """
      sed -i /closed/d j/journal-*; mv j/manifest.jsonl j/manifest.partial.jsonl
      printf '%s\\n' "$PWD/d/e/b" ./d/a d/hard > list2; \(line)
      """, in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(second.output.contains(#""files":3,"ok":1,"#), "\(second.output)")
    #expect(server.requests.count == 3)
  }
}
