import FormStreamTestSupport
import Glibc
import Testing

/// `send --put`: signals while URLs are compared, before anything is sent.
@Suite struct SendStoppedTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; echo 1 > in/f1; echo 2 > in/f2; mkfifo list", in: place)
  }

  /// Sends a signal while the rest of a list is missing.
  private func stopped(by signal: String, _ flags: String, until isReady: String) throws
    -> Invocation
  {
    try shell(
      """
      env --default-signal=INT "$F" send \(flags) --put '\(server.url)/{name}' --files-from list & pid=$!
      exec 3> list; echo in/f1 >&3
      until \(isReady); do sleep 0.01; done 2> /dev/null
      kill -\(signal) $pid; wait $pid; echo $?; exec 3>&-
      """, in: place)
  }

  /// Regression: it ended with 143, like a run that can't go on.
  @Test(arguments: [("TERM", "75"), ("INT", "130")])
  func `a run with a journal that is stopped while it compares URLs can go on`(
    _ signal: String, _ code: String
  ) throws {
    let run = try stopped(
      by: signal, "--journal j", until: "[ $(wc -l < j/manifest.partial.jsonl) -ge 2 ]")
    #expect(run.output == "\(code)\n", "\(run.stderr)")
    #expect(
      run.stderr.contains("Nothing was sent")
        && run.stderr.contains("The journal is in \"j\": the same command goes on from there."),
      "\(run.stderr)")
    #expect(server.requests.isEmpty)
    let next = try shell(
      """
      printf 'in/f1\\nin/f2\\n' > list2; rm list; mv list2 list
      "$F" send -q --journal j --put '\(server.url)/{name}' --files-from list
      """, in: place)
    #expect(next.exit == 0, "\(next.stderr)")
    #expect(server.requests.map(\.target).sorted() == ["/f1", "/f2"])
  }

  @Test(arguments: [("TERM", "143"), ("INT", "130")])
  func `without a journal it ends by the signal, and says that nothing was sent`(
    _ signal: String, _ code: String
  ) throws {
    // The list has a reader since `echo` has returned.
    let run = try stopped(by: signal, "", until: "true")
    #expect(run.output == "\(code)\n", "\(run.stderr)")
    #expect(run.stderr.contains("Nothing was sent"), "\(run.stderr)")
    #expect(server.requests.isEmpty)
  }

  /// As before: the other end of a FIFO may never come.
  @Test func `a list that nobody opens is not waited for after a signal`() throws {
    let run = try shell(
      """
      env --default-signal=INT "$F" send --journal j '\(server.url)' --files-from list & pid=$!
      until [ -e j ] && [ $(ls /proc/$pid/task | wc -l) -ge 2 ]; do sleep 0.01; done
      kill -TERM $pid; wait $pid; echo $?
      """, in: place)
    #expect(run.output == "75\n", "\(run.stderr)")
  }
}
