import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// Rounds, and manifests that are sent after a later round, or at the same time: nothing is lost, nothing is sent twice without a
/// mark, and the report agrees.
@Suite struct SendOrderTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory
  /// The responses to files, by name, or to paths.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    server = try ScriptedServer(byName: statuses)
    place = try TemporaryDirectory()
    _ = try shell("mkdir d; echo a > d/a; echo b > d/b", in: place)
  }

  /// Runs a script after the server was told how to respond. In it, `S` is the command that runs every night, and `L LIST` sends a
  /// manifest with the same journal.
  private func night(_ responses: [String: Int] = [:], _ script: String) throws -> Invocation {
    statuses.withLock { $0 = responses }
    return try shell(
      """
      S() { $F send --retry 0 --journal j "$@" \(server.url)/ d; }
      L() { $F send --retry 0 --journal j --manifest "$@" \(server.url)/; }
      \(script)
      """, in: place)
  }

  private func sent(_ name: String) -> Int { server.sentFiles.count { $0.name == Array(name.utf8) } }

  /// Regression: the file was sent again without a mark.
  @Test func `a list that is sent after the next round skips what that round has sent`() throws {
    #expect(try night(["a": 400], "S -q --failed list").exit == 1)
    #expect(try night([:], "S -q").exit == 0)
    let late = try night([:], "L list")
    #expect(late.exit == 0 && late.stderr.contains("Nothing is left to do"), "\(late.stderr)")
    #expect(sent("a") == 2 && sent("b") == 1)
    #expect(try night([:], "$F report j").exit == 0)
  }

  /// Regression: the files were sent again without a mark.
  @Test func `a shard that is sent after the next manifest skips what that one has sent`() throws {
    let run = try night(
      [:],
      """
      $F plan -q --sort -o p1 d && L p1 -q --shard 1/2 && $F plan -q --against j -o p2 d && L p2 -q && L p1 -q --shard 2/2
      $F report j
      """)
    #expect(run.exit == 0, "\(run.output) \(run.stderr)")
    #expect(server.requests.count == 2)
  }

  /// Regression: the server kept the older version for good.
  @Test func `a list that replaces what a later round has put is noticed`() throws {
    let put = "--put"
    #expect(try night(["*": 400], "echo v1 > d/a; cp -p d/a v1; rm d/b; S -q \(put) --failed list").exit == 1)
    #expect(try night([:], "echo version 2 > d/a; cp -p d/a v2; S -q \(put)").exit == 0)
    #expect(try night([:], "cp -p v1 d/a; L list -q \(put)").exit == 0)
    #expect(try night([:], "cp -p v2 d/a; S -q \(put)").exit == 0)
    #expect(server.requests.last?.body == Array("version 2\n".utf8))
    #expect(server.requests.count == 4)
  }

  /// Regression: the server kept the bytes of the other path for good.
  @Test func `a file whose URL another path had meanwhile is sent again when it is back`() throws {
    let send = "$F send -q --journal j --put '\(server.url)/{name}' d e"
    for step in ["mkdir e", "mv d/a kept; echo other > e/a", "rm e/a; mv kept d/a", ":"] {
      let run = try night([:], "\(step); \(send)")
      #expect(run.exit == 0, "\(run.stderr)")
    }
    #expect(
      server.requests.filter { $0.target == "/a" }.map { String(decoding: $0.body, as: UTF8.self) } == [
        "a\n", "other\n", "a\n",
      ])
    #expect(server.requests.count == 4)
  }

  /// Regression: files of the missing round were sent again without a mark, and others got their indices.
  @Test(arguments: ["manifest-2.jsonl", "manifest*.jsonl"])
  func `without the manifest of a round, nothing is sent and nothing is reported`(_ missing: String) throws {
    #expect(try night([:], "S -q; echo c > d/c; S -q; echo e > d/e; S -q; rm j/\(missing)").exit == 0)
    let count = server.requests.count
    for command in ["S -q", "$F report j", "$F plan --against j d"] {
      let run = try night([:], command)
      #expect(run.exit == 66 && run.stderr.contains("which is not beside them any more: put it back"), "\(run.stderr)")
    }
    #expect(server.requests.count == count)
  }

  /// Regression: the files of the cut lines were sent again without a mark.
  @Test func `a manifest that has lost its last lines is refused`() throws {
    #expect(try night([:], "S -q; sed -i '$d' j/manifest.jsonl").exit == 0)
    for command in ["S -q", "$F report j"] {
      let run = try night([:], command)
      #expect(run.exit == 66 && run.stderr.contains("has a file at byte"), "\(run.stderr)")
    }
    #expect(server.requests.count == 2)
  }

  /// Regression: the next round did so or not, by chance.
  @Test func `what a list of a list has sent is not sent again`() throws {
    for number in 1...4 {
      _ = try night(["a": 400], "rm -rf j l1 l2; S -q --failed l1")
      _ = try night(["a": 0], "L l1 -q --failed l2")
      #expect(try night([:], "L l2 -q").exit == 0)
      let next = try night([:], "S")
      #expect(next.stderr.contains("Nothing is new: 2 files"), "\(next.stderr)")
      #expect(sent("a") == 3 * number)
    }
  }

  @Test func `two manifests that are sent at the same time are counted as duplicates`() throws {
    #expect(try night(["*": 400], "S -q --failed list").exit == 1)
    // Each begins before the other has sent anything.
    let both = try night([:], "L list -q -r 1 & S -q -r 1; wait; $F report j")
    let twice = [sent("a"), sent("b")].count { $0 == 3 }
    #expect(both.output.contains("accepted twice or more") == (twice > 0), "\(both.output)")
  }

  @Test func `doubts that somebody has looked at don't count in later reports`() throws {
    _ = try night(["a": 0], "S -q")
    let next = try night([:], "S -q; $F report j")
    #expect(next.exit == 3 && next.output.contains("1 file accepted, and maybe twice."), "\(next.output)")
    for arguments in ["--settle j", "j", "--json j"] {
      let report = try night([:], "$F report \(arguments)")
      #expect(report.exit == 0, "\(report.output)")
      #expect(
        report.output.contains("1 file accepted twice, or maybe twice, and settled with --settle.")
          || report.output.contains(#""maybe_duplicates":0,"settled":1"#), "\(report.output)")
    }
    // Another version is another doubt.
    _ = try night(["a": 0], "echo other >> d/a; S -q")
    #expect(try night([:], "S -q; $F report j").exit == 3)
    #expect(try night([:], "chmod 500 j; $F report --settle j").exit == (getuid() == 0 ? 0 : 74))
  }

  /// Regression: they were skipped, because journals said that they were accepted elsewhere.
  @Test func `files that were sent to another URL are sent`() throws {
    let run = try night(
      [:],
      """
      S -q; $F plan -q -o x d; $F send -q --journal j --manifest x \(server.url)/two
      """)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(server.requests.count { $0.target == "/two" } == 2)
  }

  /// Regression: they were skipped, because an earlier round had sent them.
  @Test func `the failed files of a round that sends all again are sent`() throws {
    #expect(try night([:], "S -q").exit == 0)
    #expect(try night(["a": 400], "S -q --all --failed list").exit == 1)
    #expect(try night([:], "L list -q").exit == 0)
    #expect(sent("a") == 3 && sent("b") == 2)
  }

  /// Regression: what was accepted after somebody had looked was hidden.
  @Test func `a doubt that is newer counts again`() throws {
    let settled = try night(
      [:], "S -q; M=j/manifest.jsonl; $F send -q --journal k --manifest $M \(server.url)/; $F report --settle --manifest $M j k"
    )
    #expect(settled.exit == 0 && settled.output.contains("2 files accepted twice"), "\(settled.output)")
    let later = try night(
      [:], "$F send -q --journal l --manifest j/manifest.jsonl \(server.url)/; $F report --manifest j/manifest.jsonl j k l")
    #expect(later.exit == 1 && later.output.contains("2 files accepted twice or more."), "\(later.output)")
  }
}
