import FormStreamTestSupport
import Testing

/// Signals during a request. `set -m`: otherwise the shell's background jobs ignore SIGINT.
@Suite struct PostSignalTests {
  @Test(arguments: [("INT", "130"), ("TERM", "143")])
  func `a signal cancels the request, and the record says so`(
    _ signal: String, _ exit: String
  ) throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let result = try shell(
      """
      set -m
      $F post -v --json -o answer -d a \(server.url) 2> result > out & pid=$!
      until grep -q '^> POST' result; do sleep 0.01; done
      kill -\(signal) $pid
      wait $pid; echo $?
      cat out; grep '^formstream: ' result; ls -A
      """)
    let lines = result.output.split(separator: "\n")
    #expect(lines.first == exit[...], "\(result.output)")
    #expect(
      lines.dropFirst().first?.contains(#""outcome":"cancelled""#) == true, "\(result.output)")
    #expect(lines.dropFirst(2).first?.hasPrefix("formstream: ") == true)
    #expect(
      lines.dropFirst(3) == ["out", "result"], "a half-written file is left: \(result.output)")
  }

  /// The response is not read, and a blocked write can't be cancelled.
  @Test func `a second signal ends the command at once`() throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 4_000_000)) }
    let result = try shell(
      """
      set -m
      mkfifo out; exec 3<> out
      $F post -v -d a \(server.url) 2> result >&3 & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      while kill -INT $pid 2> kills; do sleep 0.01; done
      wait $pid; echo $?
      """)
    #expect(result.output == "130\n", "\(result.output) \(result.stderr)")
  }

  @Test func `ignored signals stay ignored`() throws {
    let (reached, signalled) = (try Gate(), try Gate())
    let server = try ScriptedServer { request in
      request.target == "/signalled"
        ? [.readBody, .open(signalled), .respond(200)]
        : [.readBody, .open(reached), .waitFor(signalled), .respond(200, body: "in")]
    }
    let result = try shell(
      """
      trap '' INT TERM
      $F post -v -d a \(server.url)/ 2> result & pid=$!
      until grep -q '^> POST' result; do sleep 0.01; done
      kill -INT $pid; kill -TERM $pid
      $F post -d a \(server.url)/signalled; wait $pid; echo $?
      """)
    #expect(result.output == "in0\n")
  }
}
