import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send` and `report`: what is not known, or can't be right, is said as it is, and somebody can say that it is known.
@Suite struct SendGuardTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2 3; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` is the command that runs every night.
  private func night(_ script: String) throws -> Invocation {
    try shell("S() { $F send --retry 0 \"$@\" \(server.url)/ in; }; \(script)", in: place)
  }

  /// Regression: one line that the disk has lost made each report of these journals end with 3.
  @Test func `a journal with lines that can't be read can be settled, until it has more of them`() throws {
    let run = try night(
      """
      S -q -j 1 --journal j; one=$(ls j/journal-*); sed -i '2s/.*/x/' $one; touch in/f1; S -q --journal j
      for flags in '' --settle '' --json; do $F report $flags j; echo $?; done | sed 's/.*"damaged_journals"/"damaged_journals"/'
      sed -i '4s/.*/x/' $one; $F report j > /dev/null 2>&1; echo $?
      """)
    #expect(
      run.output == """
        3 files: 3 ok. 21 B accepted.
        2 manifests, 2 journals.
        1 journal has some lines that can't be read: what they said is not known.
        3
        3 files: 3 ok. 21 B accepted.
        2 manifests, 2 journals.
        1 journal has some lines that can't be read, settled with --settle.
        0
        3 files: 3 ok. 21 B accepted.
        2 manifests, 2 journals.
        1 journal has some lines that can't be read, settled with --settle.
        0
        "damaged_journals":0,"listed":true,"files":3,"ok":3,"failed":0,"retryable":0,"unknown":0,"source_changed":0,"missing":0,\
        "duplicates":0,"maybe_duplicates":0,"settled":0,"bytes":21,"exit":0}
        0
        3

        """, "\(run.output) \(run.stderr)")
  }

  /// Regression: no report of such journals ended with anything but 66, whatever was settled.
  @Test(arguments: ["1s/.*/x/", "1d", "1s/.*//", "1s/^{/{{/"])
  func `a journal whose first line can't be read can be settled, too`(_ damage: String) throws {
    let run = try night(
      """
      S -q -j 1 --journal j; one=$(ls j/journal-*); echo word 4 > in/f4; S -q --journal j; sed -i '\(damage)' $one
      for flags in '' --settle ''; do $F report $flags j > said; echo $?; tail -n 1 said; done
      echo word 5 > in/f5; S -q --journal j; echo $?; $F report j > said; echo $?; head -n 1 said; S --journal j 2>&1 | head -n 1
      """)
    let damaged = "1 journal has some lines that can't be read"
    #expect(
      run.output == """
        3
        \(damaged): what they said is not known.
        0
        \(damaged), settled with --settle.
        0
        \(damaged), settled with --settle.
        0
        0
        5 files: 5 ok. 35 B accepted.
        Nothing is new: 5 files are as earlier runs sent them.

        """, "\(run.output) \(run.stderr)")
    #expect(server.requests.count == 5)
  }

  /// What a run has sent whose first line is lost is not known, if nothing else says what run it was.
  @Test func `a journal without any line that can be read is refused, with what to do`() throws {
    let run = try night(
      """
      S -q -j 1 --journal j; one=$(ls j/journal-*); sed -i 's/.*/x/' $one; $F report j; echo $?; S -q --journal j; echo $?
      mv $one .; $F report j; echo $?
      """)
    #expect(run.output.hasPrefix("66\n66\n"), "\(run.output)")
    #expect(run.stderr.contains("move it to another directory"), "\(run.stderr)")
    #expect(server.requests.count == 3)
  }

  /// A lost line may have said that files were sent, so what is not known to be accepted is marked.
  @Test func `after a lost first line, files without a result are marked`() throws {
    let run = try night(
      """
      S -q -j 1 --journal j; one=$(ls j/journal-*); sed -i '1s/.*/x/; /f3"/d; $d' $one; S --json --journal j; $F report j; echo $?
      """)
    #expect(server.requests.count == 4 && run.output.contains(#""maybe_duplicate":true"#), "\(run.output) \(run.stderr)")
    #expect(run.output.hasSuffix("\n3\n"), "\(run.output)")
  }

  /// The superuser can list each directory, so the directory is one that is nested too deep.
  @Test func `a directory that can't be listed is no file`() throws {
    let deep = Array(repeating: "d", count: 260).joined(separator: "/")
    let run = try night(
      """
      mkdir -p in/\(deep); S --journal j; echo $?; S --journal j; $F report j
      rm in/f*; $F send --retry 0 \(server.url)/ in; $F plan -o m in
      """)
    #expect(
      run.output
        == "66\n3 files and 1 directory that can't be listed: 3 ok, 1 failed. 21 B accepted.\n2 manifests, 2 journals.\n",
      "\(run.output) \(run.stderr)")
    let expected = [
      "3 files and 1 directory that can't be listed: 3 ok, 1 failed.",
      "Round 2: 0 new, 0 changed, 0 again; 3 unchanged, 0 gone.", "\n1 directory that can't be listed: 1 failed.",
      "1 directory that can't be listed, 0 B, of which 1 can't be sent",
    ]
    #expect(expected.filter { !run.stderr.contains($0) }.isEmpty, "\(run.stderr)")
  }

  @Test func `a folder with fewer files than there must be is not sent`() throws {
    let run = try night(
      """
      for place in '' '--journal j' '--put --journal p'; do S -q --at-least 4 $place; echo $?; done
      S -q --at-least 3 --journal k; echo $?; echo word 4 > in/f4; S -q --at-least 4 --journal k; echo $?
      mv in/f* .; S --at-least 1 --journal k; echo $?; find . -name 'f?' | $F send -q --at-least 5 --files-from - \(server.url)/; echo $?
      mv f* in; S -q --at-least 5 --journal k; echo $?; S -q --at-least 4 --journal j; echo $?; $F report k; ls k | wc -l
      $F send --at-least 1 --manifest m \(server.url)/; S --at-least x
      """)
    #expect(
      run.output == "66\n66\n66\n0\n0\n66\n66\n66\n0\n4 files: 4 ok. 28 B accepted.\n2 manifests, 2 journals.\n4\n",
      "\(run.output) \(run.stderr)")
    #expect(server.sentFiles.count == 8)
    let expected = [
      "There are only 3 files, and --at-least is 4: nothing is sent.",
      "There are no files, and --at-least is 1: nothing is sent.",
      "--manifest names the files: leave one out", "is not a number",
    ]
    #expect(expected.filter { !run.stderr.contains($0) }.isEmpty, "\(run.stderr)")
  }

  /// Samples/nightly with `LEAST`: an empty folder is no success.
  @Test func `the script of every night refuses a folder that is empty`() throws {
    let script =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/Samples/nightly"
    let run = try shell(
      """
      PATH=$(dirname $F):$PATH; N() { bash '\(script)' \(server.url)/ in state cat; echo $?; }
      LEAST=1 N; rm in/*; N; LEAST=1 N | head -n 2; ls in; echo word > in/f1; LEAST=1 N
      """, in: place)
    #expect(
      run.output == """
        0
        0
        formstream ended with 66.
        formstream: There are no files, and --at-least is 1: nothing is sent. Check that the folder is the right one, and that its \
        disk is mounted.
        0

        """, "\(run.output) \(run.stderr)")
  }

  /// The message began with "0 files." and "the same command goes on from there", and the reason came last.
  @Test func `the first night of a folder that is empty says the reason, and nothing else`() throws {
    let script =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/Samples/nightly"
    let run = try shell(
      "PATH=$(dirname $F):$PATH; rm in/*; LEAST=1 bash '\(script)' \(server.url)/ in state cat; echo $?", in: place)
    #expect(
      run.output == """
        formstream ended with 66.
        formstream: There are no files, and --at-least is 1: nothing is sent. Check that the folder is the right one, and that its \
        disk is mounted.
        66

        """, "\(run.output) \(run.stderr)")
  }

  /// `plan` knew no such flag.
  @Test func `a folder with fewer files than there must be makes no manifest`() throws {
    let run = try night(
      """
      for o in '' '-o m' '--sort' '--against j -o m'; do [ "${o%%j*}" = "$o" ] || S -q --journal j; $F plan $o --at-least 4 in; echo $?; done
      ls m; $F plan --at-least 3 -o m in; echo $?; ls m
      """)
    #expect(run.output == "66\n66\n66\n66\n0\nm\n", "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("There are only 3 files, and --at-least is 4: nothing is sent."), "\(run.stderr)")
  }

  /// Regression: what is found below two sources was counted twice.
  @Test func `what is left out is counted once`() throws {
    let run = try night(
      """
      ln -s f1 in/l1; mkdir in/d; ln -s ../f1 in/d/l2; touch in/.hidden; mkfifo in/d/fifo
      for sources in in 'in in/d' 'in ./in in/d'; do $F send \(server.url)/ $sources 2>&1 | grep -E 'links|hidden|FIFO'; done
      """)
    let once = """
      formstream: 1 hidden name left out; --hidden lists them.
      formstream: 2 symbolic links left out; --follow-symlinks follows them.
      formstream: 1 FIFO, socket or device left out.

      """
    #expect(run.output == once + once + once, "\(run.output)")
  }
}
