import FormStreamTestSupport
import Testing

/// `send` with too few descriptors: that is no fault of a file. strace lets the calls fail that open files below a directory:
/// with a limit, libdispatch would end the process.
@Suite struct SendDescriptorTests {
  private let place: TemporaryDirectory
  private let server: ScriptedServer

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in {10..39}; do echo $n > in/f$n; done", in: place)
  }

  /// Runs `send`. In each of its threads, those of the calls fail.
  private func send(failing calls: String, as error: String = "EMFILE", _ words: String) throws
    -> Invocation
  {
    try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      strace -f -o trace -e trace=openat2 -e inject=openat2:error=\(error):when=\(calls) "$F" send --json \(words)
      """, in: place)
  }

  private func outcomes(_ output: String) -> Set<String> {
    let named = #/"outcome":"([a-z-]*)"/#
    return Set(
      output.split(separator: "\n").compactMap { line in
        line.contains("formstream.record/2")
          ? line.firstMatch(of: named).map { String($0.output.1) } : nil
      })
  }

  /// Regression: they were failed.
  @Test(arguments: ["EMFILE", "ENFILE"])
  func `files that can't be opened for lack of descriptors can be sent later`(
    _ error: String
  ) throws {
    let line = "-j 1 --retry 0 --journal j \(server.url) in"
    let first = try send(failing: "3+", as: error, line)
    #expect(first.exit == 75, "\(first.stderr)")
    #expect(outcomes(first.output) == ["ok", "retryable"], "\(first.output)")
    #expect(first.output.contains("\"code\":\"too-many-open-files\""), "\(first.output)")
    #expect(first.output.contains("ulimit -n"))
    let second = try shell("$F send --json \(line)", in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(outcomes(second.output) == ["ok"])
    #expect(Set(server.sentFiles).count == 30)
    #expect(server.sentFiles.count == 30)
  }

  @Test func `a run goes on as soon as there are descriptors again`() throws {
    let run = try send(failing: "1..2", "--retry 20 \(server.url) in")
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(outcomes(run.output) == ["ok"])
    #expect(server.sentFiles.count == 30)
    #expect(try shell("grep -c EMFILE trace", in: place).output != "0\n")
  }

  /// Files of one request are opened to look at them, and again when their turn comes, by another thread.
  @Test func `in a request with several files it is no fault of one, either`() throws {
    _ = try shell("rm in/*; for n in a b c; do echo $n > in/$n; done", in: place)
    let run = try send(failing: "3", "--together --retry 20 \(server.url) in")
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(outcomes(run.output) == ["ok"], "\(run.output)")
    #expect(try shell("grep -c EMFILE trace", in: place).output == "2\n")
    #expect(server.requests.filter(\.hasCompleteBody).count == 1)
  }

  @Test(arguments: ["", "--put"])
  func `a listing without descriptors ends, and the next run goes on with it`(
    _ put: String
  ) throws {
    let url = put.isEmpty ? server.url : "'\(server.url)/{path}'"
    let line = "-j 1 \(put) --journal j --files-from list \(url)"
    _ = try shell("ls in/* > list", in: place)
    // The thread that lists finds the first file, and one that prepares files opens it.
    let first = try send(failing: "2+", line)
    #expect(first.exit == 75, "\(first.stderr)")
    #expect(outcomes(first.output) == ["ok"], "\(first.output)")
    #expect(first.stderr.contains("ulimit -n"), "\(first.stderr)")
    let second = try shell("$F send --json \(line)", in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(server.requests.count == 30)
  }

  /// Regression: the directory was said to be unreadable, and its files were missing in the manifest without a word.
  @Test func `a directory that can't be opened for lack of descriptors is not left out`() throws {
    let run = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      mkdir in/deep; echo deep > in/deep/f
      strace -o trace -e trace=openat "$F" plan -o m in; n=$(grep -n '"deep"' trace | cut -d : -f 1); rm m
      strace -o trace -e trace=openat -e inject=openat:error=EMFILE:when=$n+ "$F" plan -o m in; echo $?; ls
      """, in: place)
    #expect(run.output == "75\nin\ntrace\n", "\(run.stderr)")
    #expect(run.stderr.contains("ulimit -n"), "\(run.stderr)")
  }

  @Test(arguments: [1, 8, 30])
  func `so many descriptors are needed, and are enough`(_ concurrency: Int) throws {
    let needed = 24 + 2 * concurrency
    for (count, exit) in [(needed - 1, Int32(74)), (needed, 0)] {
      let result = try shell(
        """
        for n in {3..250}; do eval "exec $n>&-"; done; ulimit -n \(count)
        "$F" send -j \(concurrency) \(server.url) in
        """, in: place)
      #expect(result.exit == exit, "\(count): \(result.stderr)")
      #expect(
        result.stderr.contains("allow \(needed) or more with ulimit -n") == (exit != 0),
        "\(result.stderr)")
    }
    #expect(Set(server.sentFiles).count == 30)
  }
}
