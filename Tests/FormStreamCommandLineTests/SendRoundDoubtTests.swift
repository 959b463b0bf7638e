import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Rounds in which files are missing, come back or are in doubt: nothing is lost, and nothing is sent twice without a mark.
@Suite struct SendRoundDoubtTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory
  /// The responses to files, by name.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    server = try ScriptedServer(byName: statuses)
    place = try TemporaryDirectory()
    _ = try shell("mkdir d; echo v1 > d/b; echo c > d/c", in: place)
  }

  /// Runs a script after the server was told how to respond. In it, `S` is the command that runs every night: it names both
  /// files; `T` names the directory.
  private func night(_ responses: [String: Int] = [:], _ script: String) throws -> Invocation {
    statuses.withLock { $0 = responses }
    return try shell(
      """
      S() { $F send --retry 0 -j 1 --keep-going --journal j "$@" \(server.url) d/b d/c; }
      T() { $F send --retry 0 --journal j "$@" \(server.url) d; }
      \(script)
      """, in: place)
  }

  private func sent(_ name: String) -> [String] {
    server.sentFiles.filter { $0.name == Array(name.utf8) }.map {
      String(decoding: $0.contents, as: UTF8.self)
    }
  }

  private func isMarked(_ run: Invocation, _ name: String) -> Bool {
    run.output.split(separator: "\n").contains {
      $0.contains("/\(name)\"") && $0.contains(#""outcome":"ok""#)
        && $0.contains(#""maybe_duplicate":true"#)
    }
  }

  /// Regression: the file was compared with itself.
  @Test func `a file that was missing when it was listed is sent again when it has changed`() throws {
    _ = try night(["*": 503], "rm d/b; S -q --max-failures 1")
    let first = try night([:], "echo v1 > d/b; S -q; S")
    #expect(first.exit == 0, "\(first.stderr)")
    #expect(first.stderr.contains("Nothing is new: 2 files"), "\(first.stderr)")
    for flag in ["", "--checksum"] {
      let second = try night([:], "echo another version >> d/b; S \(flag)")
      #expect(second.exit == 0 && second.stderr.contains(" 1 changed, 0 again; 1 unchanged"), "\(second.stderr)")
    }
    #expect(sent("b").filter { $0.contains("another") }.count == 2)
  }

  /// Regression: it was sent again without a mark.
  @Test func `a file that was accepted, and missing when the next round was listed, is marked`() throws {
    #expect(try night([:], "S -q").exit == 0)
    _ = try night(["*": 503], "mv d/b kept; echo c2 > d/c; S -q --max-failures 1")
    let last = try night([:], "mv kept d/b; S --json")
    #expect(last.exit == 0, "\(last.stderr)")
    #expect(sent("b").count == 1 || isMarked(last, "b"), "\(last.output)")
  }

  /// Regression: the mark of the round that could not find the file was taken for a doubt about later versions.
  @Test func `a version that follows a round without the file is not marked`() throws {
    let run = try night([:], "S -q; mv d/b kept; S -q; mv kept d/b; S -q; echo v2 longer > d/b; S --json; $F report j")
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(sent("b") == ["v1\n", "v2 longer\n"] && !isMarked(run, "b"), "\(run.output)")
  }

  /// Regression: the next round did not know what the list of the failed files had sent.
  @Test(arguments: ["", "rm rest; "])
  func `what a list of failed files has sent is not sent again, even if the list is gone`(_ removal: String) throws {
    #expect(try night(["b": 400], "T -q").exit == 1)
    let repaired = try night(
      [:], "$F report --failed rest j > rep 2>&1; $F send -q --manifest rest --journal j \(server.url)")
    #expect(repaired.exit == 0, "\(repaired.stderr)")
    #expect(sent("b").count == 2)
    if removal.isEmpty {
      // A run and its repair end in 0.
      #expect(try night([:], "$F report j").exit == 0)
    }
    let last = try night([:], "\(removal)T --json")
    #expect(last.exit == 0, "\(last.stderr)")
    // Its journal has a copy of the list.
    #expect(sent("b").count == 2, "\(last.output)")
    // A later version is not taken for the one that the list had.
    let later = try night([:], "echo v3 longer > d/b; T -q; T --json")
    #expect(later.exit == 0 && later.output.contains(#""unchanged":2"#), "\(later.output)")
  }

  /// Regression: the key has the time in it, so it was another key, and the mark was taken away.
  @Test func `a file that has only another time has another key, and is marked`() throws {
    let keys = "--idempotency-key auto"
    let run = try night(
      ["b": 0],
      "$F plan -q --with-sha256 -o m1 d; $F send -q --retry 0 \(keys) --manifest m1 --journal j \(server.url)")
    #expect(run.exit == 3, "\(run.stderr)")
    let last = try night(
      [:],
      "touch -d @5000 d/b; $F plan -q --checksum --against j -o m2 d; $F send --json \(keys) --manifest m2 --journal j \(server.url)"
    )
    #expect(last.exit == 0, "\(last.stderr)")
    #expect(isMarked(last, "b"), "\(last.output)")
  }

  /// Regression: the report called the file failed for ever, and its list sent the file again without a mark.
  @Test(arguments: ["mv d/b kept; S -q; mv kept d/b", "cp -p d/b kept; echo v2 longer > d/b; S -q; mv kept d/b"])
  func `a file that is again as it was accepted counts as accepted`(_ script: String) throws {
    #expect(try night([:], "S -q").exit == 0)
    _ = try night(["b": 400], script)
    let last = try night([:], "S -q; S; $F report --failed rest j; tail -n +2 rest")
    #expect(last.exit == 0, "\(last.stderr)")
    #expect(last.stderr.contains("Nothing is new: 2 files"), "\(last.stderr)")
    #expect(last.output.hasPrefix("2 files: 2 ok."), "\(last.output)")
    #expect(!last.output.contains("path"))
    #expect(sent("b").filter { $0 == "v1\n" }.count == 1)
  }

  /// Regression: the doubt about the first version was forgotten.
  @Test func `a version in doubt is marked when it comes back`() throws {
    let first = try night(["b": 0], "touch -d @1000 d/b; T -q")
    #expect(first.exit == 3)
    #expect(try night(["b": 400], "echo v2 longer > d/b; T -q").exit == 1)
    let last = try night([:], "echo v1 > d/b; touch -d @1000 d/b; T --json")
    #expect(last.exit == 0 && isMarked(last, "b"), "\(last.output)")
  }

  /// Regression: the report said that the file was not sent.
  @Test func `a file in doubt that is left out stays unknown`() throws {
    #expect(try night(["b": 0], "T -q").exit == 3)
    let report = try night([:], "T -q --skip-unknown; T -q --skip-unknown; $F report j")
    #expect(report.exit == 3)
    #expect(report.output.contains("1 unknown"), "\(report.output)")
  }

  @Test func `a directory that was not there is not a file that is gone`() throws {
    let run = try shell(
      """
      S() { $F send --keep-going --journal k "$@" \(server.url) A B; }
      mkdir A B; echo a > A/a; echo b > B/b; S -q; mv B B_; S -q; mv B_ B; S; S
      """, in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(!run.stderr.contains("1 gone"), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }

  @Test func `only what was begun can be resumed`() throws {
    let run = try night([:], "T --resume-only")
    #expect(run.exit == 64, "\(run.stderr)")
    #expect(run.stderr.contains("nothing to resume"), "\(run.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test func `a report finds the manifests of rounds that plan has made`() throws {
    let run = try night(
      [:],
      """
      $F plan -q -o m1 d; $F send -q --manifest m1 --journal j \(server.url)
      echo new > d/e; $F plan -q --against j -o m2 d; $F send -q --manifest m2 --journal j \(server.url)
      $F report j
      """)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.hasPrefix("3 files: 3 ok."), "\(run.output)")
  }
}
