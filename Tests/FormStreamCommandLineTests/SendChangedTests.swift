import FormStreamTestSupport
import Testing

/// `send`: files that change between the listing and the request.
@Suite struct SendChangedTests {
  /// What happens to the file `d/x` after it was listed, and its outcome then.
  private static let changes = [
    ("echo other > d/x", "source-changed", 74), ("echo longer words > d/x", "source-changed", 74),
    ("touch -d @1 d/x", "source-changed", 74), ("rm d/x", "failed", 66),
    ("mv d/x d/y; cp d/y d/x", "source-changed", 74),
    ("rm d/x; ln -s ../../secret d/x", "source-changed", 74),
    ("rm d/x; mkfifo d/x", "source-changed", 74), ("rm d/x; mkdir d/x", "source-changed", 74),
    ("mv d e; ln -s ../outside d", "source-changed", 74), ("rm -r d", "failed", 66),
  ]

  @Test(arguments: changes)
  func `a file that is not the one that was listed is not sent`(
    _ change: String, _ outcome: String, _ exit: Int
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      mkdir in outside; echo secret > secret; echo secret > outside/x; touch -d @1000 secret outside/x
      cd in; mkdir d; echo words > d/x; echo same > same; touch -d @1000 d/x
      find . -type f | $F plan --files-from - -o ../manifest
      \(change)
      $F send --json \(server.url) --manifest ../manifest
      """, in: place)
    #expect(result.exit == Int32(exit), "\(result.output) \(result.stderr)")
    #expect(
      result.output.split(separator: "\n").contains {
        $0.contains("/d/x\"") && $0.contains("\"outcome\":\"\(outcome)\"")
      }, "\(result.output)")
    #expect(server.sentFiles == [SentFile("same", "same\n")])
    #expect(server.faults.isEmpty)
  }

  @Test func `while a file becomes a link and a file again, nothing from outside is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      mkdir -p in/d outside; echo secret > outside/x; cd in
      for n in {1..300}; do echo words > d/x$n; echo d/x$n; ln ../outside/x ../outside/x$n; done > list
      $F send -q -j 8 --filename x \(server.url) --files-from list & pid=$!
      while kill -0 $pid 2> /dev/null; do
        x=d/x$((RANDOM % 300 + 1)); ln -s ../../outside/x t && mv -T t $x; echo words > t && mv -T t $x
        mv -T d e && ln -s ../outside d; rm d; mv -T e d
      done
      wait $pid
      """, in: place)
    #expect(result.signal == nil)
    for file in server.sentFiles { #expect(file == SentFile("x", "words\n")) }
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
