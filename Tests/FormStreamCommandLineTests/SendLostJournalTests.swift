import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --journal` in a directory in which a journal is missing, or is there twice.
@Suite struct SendLostJournalTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` is the command that runs every night, and `journals` names the journals, the oldest first.
  private func night(_ script: String, _ flags: String = "") throws -> Invocation {
    let url = flags == "--put" ? "'\(server.url)/{name}'" : "\(server.url)/"
    return try shell(
      "S() { $F send --retry 0 --journal j \(flags) \"$@\" \(url) in; }; journals() { grep -Hom 1 '\"begun_ns\":[0-9]*' j/journal-* | sort -t : -k 3n | cut -d : -f 1; }; \(script)",
      in: place)
  }

  private var sent: [String] { server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }.sorted() }

  @Test func `a journal that is lost is missed, because the next round names it`() throws {
    let run = try night(
      """
      S -q; echo 3 > in/f3; S -q; echo 4 > in/f4
      lost=$(journals | head -n 1); mv $lost kept
      S -q; echo $?; $F report j; echo $?; $F plan --against j in; echo $?; $F send -q --journal j --all \(server.url)/ in; echo $?
      mkdir moved; mv j/journal-* moved; S -q; echo $?; mv moved/* j
      mv kept $lost; S -q; echo $?; $F report j
      """)
    #expect(
      run.output == "66\n66\n66\n66\n66\n0\n4 files: 4 ok. 18 B accepted.\n3 manifests, 3 journals.\n",
      "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("which is not beside it any more: put it back"), "\(run.stderr)")
    #expect(sent == ["f1", "f2", "f3", "f4"])
  }

  @Test func `a copy of a journal counts once, whatever its name`() throws {
    let run = try night(
      """
      S -q; one=$(journals); cp $one j/journal-copy.jsonl; head -n 3 $one > j/journal-begun.jsonl
      mkdir k; cp $one k/journal-other.jsonl
      $F report j k; echo $?; S; echo $?; touch in/f1; S -q; $F report j k
      """)
    #expect(
      run.output == """
        2 files: 2 ok. 14 B accepted.
        1 journal.
        0
        0
        2 files: 2 ok. 14 B accepted.
        2 manifests, 2 journals.

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Nothing is new: 2 files"), "\(run.stderr)")
  }

  /// Regression: the files of a round whose only journal was gone were sent again without a mark, and `report` counted them as
  /// accepted exactly once.
  @Test(arguments: ["", "--put"], 1...3)
  func `the last round's journal is missed, too`(_ flags: String, _ rounds: Int) throws {
    let run = try night(
      """
      for n in $(seq 3 $((\(rounds) + 1))); do S -q; echo $n > in/f$n; done; S -q
      lost=$(journals | tail -n 1); mv $lost kept
      S -q; echo $?; $F report j; echo $?; $F plan --against j in; echo $?
      mv kept $lost; S -q; echo $?; $F report j
      """, flags)
    #expect(run.output.hasPrefix("66\n66\n66\n0\n\(rounds + 1) files: \(rounds + 1) ok."), "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("The journal of the manifest \"j/manifest"), "\(run.stderr)")
    #expect(server.requests.count == rounds + 1)
  }

  /// A run that is killed before it begins its journal has sent nothing. Regression: the next run sent what that run had listed,
  /// and left out what had changed since. `begun` is what the kill leaves of the journal: a manifest gets its final name
  /// after that.
  @Test(arguments: ["", "--put"], ["rm", "sed -i 1q", ": >"])
  func `a round that has no journal yet is listed again`(_ flags: String, _ begun: String) throws {
    let run = try night(
      """
      S -q; echo 3 > in/f3; S -q; \(begun) $(journals | tail -n 1); mv j/manifest-2.jsonl j/manifest-2.partial.jsonl
      echo 4 > in/f4; rm in/f3; (exec 9< j/manifest-2.partial.jsonl; flock 9; S; echo $?); S; $F report j
      """, flags)
    #expect(run.output == "75\n3 files: 3 ok. 16 B accepted.\n2 manifests, 2 journals.\n", "\(run.output) \(run.stderr)")
    let expected = [
      "Another run writes the manifest", "1 file: 1 ok.", "Round 2: 1 new, 0 changed, 0 again; 2 unchanged, 0 gone.",
    ]
    #expect(expected.filter { !run.stderr.contains($0) }.isEmpty, "\(run.stderr)")
  }

  @Test(arguments: ["", "--put"])
  func `a first round that has no journal yet is listed again`(_ flags: String) throws {
    let run = try night(
      """
      S -q; rm j/journal-*; mv j/manifest.jsonl j/manifest.partial.jsonl; rm in/f1; echo three > in/f3; echo longer > in/f2
      S; $F report j
      """, flags)
    #expect(run.output == "2 files: 2 ok. 13 B accepted.\n1 journal.\n", "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("2 files: 2 ok."), "\(run.stderr)")
  }

  @Test func `a first round that was refused can be corrected, with other files`() throws {
    let run = try shell(
      """
      mkdir a b; echo 1 > a/x; echo 2 > b/x; echo 3 > b/y; S() { $F send -q --put --journal j '\(server.url)/{name}' "$@"; echo $?; }
      S a b; S a b/y
      """, in: place)
    #expect(run.output == "64\n0\n", "\(run.output) \(run.stderr)")
    #expect(server.requests.map(\.target).sorted() == ["/x", "/y"])
  }
}
