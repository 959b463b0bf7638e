import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// One after the other: each may need 1 GB.
@Suite(.serialized) struct DemoTests {
  @Test func `the demo's files arrive, and its temporary files are removed`() throws {
    let place = try TemporaryDirectory()
    let demo = try run("formstream", ["demo"], environment: ["TMPDIR": place.path])
    #expect(demo.exit == 0, "\(demo.stderr)")
    let lines = demo.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("part") == true)
    #expect(lines.count { $0.hasSuffix("  ok") } == 6)
    #expect(demo.output.contains("image/png") && demo.output.contains("text/markdown"))
    #expect(lines.last == "The received files are equal to the files that were sent.")
    #expect(try shell("ls -A \(place.path)").output == "")
  }

  /// 512 MiB do not fit.
  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `a full disk is reported`() throws {
    try SmallDisk.mounted(size: "16m", files: 100) { disk in
      let demo = try run("formstream", ["demo"], environment: ["TMPDIR": disk.description])
      #expect(demo.exit == 74)
      #expect(demo.stderr.contains("No space left on device"))
      #expect(
        demo.stderr.contains("TMPDIR to another directory: the demo needs about 1 GiB"),
        "\(demo.stderr)")
      #expect(try shell("ls -A \(disk)").output == "")
    }
  }

  /// Regression: the message said to set TMPDIR.
  @Test(
    .enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"),
    .enabled(if: sanitizer != "address", "it reads its options in /proc"))
  func `without /proc, the demo says what it needs it for`() throws {
    let place = try TemporaryDirectory()
    let demo = try shell(
      "export TMPDIR=$PWD; unshare -rm sh -c 'mount -t tmpfs none /proc && \"$F\" demo'",
      in: place)
    #expect(demo.exit == 74, "\(demo.stderr)")
    #expect(
      demo.stderr.contains("can't start this program a second time")
        && demo.stderr.contains("check that /proc is mounted") && !demo.stderr.contains("TMPDIR"),
      "\(demo.stderr)")
    #expect(try shell("ls -A", in: place).output == "")
  }

  /// Regression: the message was Foundation's.
  @Test func `if the directory does not exist, the message names TMPDIR`() throws {
    let demo = try run("formstream", ["demo"], environment: ["TMPDIR": "/no/such"])
    #expect(demo.exit == 74)
    #expect(
      demo.stderr
        == "formstream: The directory \"/no/such\" does not exist. Set TMPDIR to another directory: "
        + "the demo needs about 1 GiB there for some seconds.\n")
  }

  /// Regression: the signal had no effect while the files were sent. `set -m`: otherwise the shell's background jobs
  /// ignore SIGINT.
  @Test(arguments: [("INT", "130"), ("TERM", "143")])
  func `a signal ends the demo at any moment, and its files are removed`(
    _ signal: String, _ exit: String
  ) throws {
    for moment in ["ls -A tmp/* | grep -q empty.txt", "ls -A tmp/*/received | grep -q ."] {
      let result = try shell(
        """
        set -m; mkdir tmp
        TMPDIR=$PWD/tmp $F demo > out 2> result & pid=$!
        until \(moment) || ! kill -0 $pid; do sleep 0.01; done 2> none
        kill -\(signal) $pid
        wait $pid; echo $?; ls -A tmp; cat out
        grep -c '^formstream: Ended by a signal' result
        """)
      #expect(result.output == "\(exit)\n1\n", "\(result.stderr)")
    }
  }

  /// The sender hangs, so the first signal does not end the demo. The second one once left its files.
  @Test func `a second signal ends the demo at once, and its files are removed`() throws {
    let result = try shell(
      """
      set -m; mkdir tmp
      TMPDIR=$PWD/tmp $F demo > out 2> result & pid=$!
      until ls -A tmp/*/received | grep -q .; do sleep 0.01; done 2> none
      read child < <(cat /proc/$pid/task/*/children); kill -STOP $child
      until grep -q '^State:.T' /proc/$child/status; do sleep 0.01; done
      while kill -TERM $pid; do sleep 0.01; done 2> none
      wait $pid; echo $?; ls -A tmp
      while grep -q '^State:.[^ZX]' /proc/$child/status; do sleep 0.01; done 2> none; echo gone
      """)
    #expect(result.output == "143\ngone\n", "\(result.stderr)")
  }
}
