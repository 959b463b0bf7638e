import FormStreamTestSupport
import Testing

/// `Samples/demo`, which `make demo` runs, with the built program and a smaller file.
@Suite struct DemoTests {
  private static let script =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/") + "/Samples/demo"

  /// Runs lines of a shell in which `demo` is the script, and `tmp` the directory of its temporary files.
  private func shell(_ lines: String) throws -> Invocation {
    try FormStreamCommandLineTests.shell(
      """
      set -m; mkdir tmp; export TMPDIR=$PWD/tmp
      demo() { exec '\(Self.script)' "$@"; }
      \(lines)
      """)
  }

  @Test func `the demo's files arrive, and its temporary files and processes are removed`() throws {
    let demo = try shell(
      """
      (demo $F 2) 2> errors; echo $?; cat errors >&2
      ls -A tmp; ls -l /proc/[0-9]*/cwd 2> none | grep -c "$TMPDIR"
      """)
    let lines = demo.output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("  equal ") } == 6, "\(demo.stderr)")
    #expect(demo.output.contains("image/png") && demo.output.contains("text/markdown"))
    #expect(demo.stderr.contains("100 files: 100 ok."))
    #expect(
      lines.suffix(3) == ["The received files are equal to the files that were sent.", "0", "0"])
  }

  /// A receiver that changes what it stores.
  @Test func `a file that arrives with other contents is named, and the demo fails`() throws {
    let demo = try shell(
      """
      printf '%s\\n' '#!/bin/bash' '[ $1 = send ] || exec "$F" "$@"' '"$F" "$@"; code=$?' 'echo more >> received/page-7.txt' \
        'exit $code' > changing; chmod +x changing; export F
      (demo ./changing 1) > out; echo $?; ls -A tmp
      """)
    #expect(demo.output == "1\n", "\(demo.stderr)")
    #expect(demo.stderr.contains("1 of the received files differ"), "\(demo.stderr)")
  }

  @Test func `if the directory does not exist, or the command, the message names it`() throws {
    let demo = try shell(
      "(TMPDIR=/no/such demo $F 1); echo $?; (demo no-such-command); echo $?; ls -A tmp")
    #expect(demo.output == "74\n66\n")
    #expect(demo.stderr.contains("in /no/such: set TMPDIR to a directory with"))
    #expect(demo.stderr.contains("no-such-command is not there"))
  }

  /// 64 MiB do not fit.
  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `a full disk is reported`() throws {
    try SmallDisk.mounted(size: "16m", files: 200) { disk in
      let demo = try shell("(TMPDIR=\(disk) demo $F 64); echo $?; ls -A \(disk)")
      #expect(demo.output == "74\n")
      #expect(demo.stderr.contains("No space left on device"), "\(demo.stderr)")
      #expect(demo.stderr.contains("set TMPDIR to a directory with"), "\(demo.stderr)")
    }
  }

  /// While the files are made, and while they are sent.
  @Test(arguments: [("INT", "130"), ("TERM", "143")])
  func `a signal ends the demo at any moment, and its files are removed`(
    _ signal: String, _ exit: String
  ) throws {
    for moment in ["ls -A tmp/*/form | grep -q film.bin", "ls -A tmp/*/received | grep -q ."] {
      let result = try shell(
        """
        (demo $F 256) > out 2> errors & pid=$!
        until \(moment) || ! kill -0 $pid; do sleep 0.01; done 2> none
        kill -\(signal) $pid
        wait $pid; echo $?; cat errors >&2
        ls -A tmp; ls -l /proc/[0-9]*/cwd 2> none | grep -c "$TMPDIR"
        """)
      #expect(result.output == "\(exit)\n0\n", "\(result.stderr)")
    }
  }
}
