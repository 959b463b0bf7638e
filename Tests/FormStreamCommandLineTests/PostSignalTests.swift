import FormStreamTestSupport
import Glibc
import Testing

/// Signals during a request. `set -m`: otherwise the shell's background jobs ignore SIGINT.
@Suite struct PostSignalTests {
  /// The request was sent completely, so the server may act on it.
  @Test(arguments: [("INT", "130"), ("TERM", "143")])
  func `a signal cancels the request, and the record says what is known`(
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
      lines.dropFirst().first?.contains(#""outcome":"unknown""#) == true, "\(result.output)")
    #expect(lines.dropFirst().first?.contains(#""code":"cancelled""#) == true, "\(result.output)")
    #expect(lines.dropFirst(2).first?.hasPrefix("formstream: ") == true)
    #expect(
      lines.dropFirst(3) == ["out", "result"], "a half-written file is left: \(result.output)")
  }

  /// Regression: after an exit code of 130, a shell goes on with its loop.
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal ends the command by that signal`(_ signal: Int32) throws {
    let reached = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .stall] }
    let program = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: ["post", "-d", "a", server.url].map { Array($0.utf8) })
    #expect(reached.wait())
    program.signal(signal)
    let end = try program.wait()
    #expect((end.exit, end.signal) == (nil, signal), "\(end.stderr)")
  }

  @Test(arguments: [
    ("post -v -d a URL", "grep -q '^> POST' result"),
    ("encode -o body -F f=@pipe", hasBegunFile),
    ("receive --listen 0", "grep -q Listening result"),
    ("receive --listen 0 --once", "grep -q Listening result"),
  ])
  func `a loop of the shell ends at the first Ctrl-C`(_ arguments: String, _ runs: String) throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let arguments = arguments.replacing("URL", with: server.url)
    let place = try TemporaryDirectory()
    let loop = try RunningProgram(
      program: "/bin/bash",
      rawArguments: [
        "-c",
        """
        mkfifo pipe; exec 3<> pipe; echo x >&3
        for turn in 1 2 3; do echo $turn; $F \(arguments) 2> result > output; done; echo end
        """,
      ].map { Array($0.utf8) }, in: place, environment: ["F": builtBinary("formstream")])
    #expect(try loop.line() == "1")
    _ = try shell("until \(runs); do sleep 0.01; done 2> none", in: place)
    #expect(kill(-loop.pid, SIGINT) == 0)
    let end = try loop.wait()
    #expect((end.output, end.signal) == ("", SIGINT), "\(end.output) \(end.stderr)")
  }

  /// The signal comes too late to cancel anything. A script that goes on would send the next request.
  @Test func `a signal ends the command also if the server has accepted the request`() throws {
    let server = try ScriptedServer { request in
      [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nte"), .stall]
    }
    let result = try shell(
      """
      set -m
      $F post --json -v -d a \(server.url) 2> result > out & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      kill -INT $pid; wait $pid; echo $?; cat out; tail -1 result
      """)
    #expect(result.output.hasPrefix("130\n{\"schema\":"), "\(result.output)")
  }

  /// The response is not read, and a blocked write can't be interrupted. The command said nothing, and ended ten seconds
  /// later, when the grace period was over.
  @Test func `a signal ends the command although nobody reads its output`() throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 4_000_000)) }
    let result = try shell(
      """
      set -m
      mkfifo out; exec 3<> out
      $F post -v -d a \(server.url) 2> result >&3 & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      kill -INT $pid; wait $pid; echo $?
      grep -c '^formstream: ' result
      """)
    #expect(result.output == "130\n1\n", "\(result.output) \(result.stderr)")
  }

  /// As above, with a record.
  @Test func `a signal ends the command although nobody reads its record`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      set -m
      mkfifo out; exec 3<> out
      head -c 65536 /dev/zero >&3
      $F post -v --json -d a \(server.url) 2> result >&3 & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      kill -INT $pid; wait $pid; echo $?
      grep -c '^formstream: .*Nobody reads standard output' result
      """)
    #expect(result.output == "130\n1\n", "\(result.output) \(result.stderr)")
  }

  /// The command never ended.
  @Test func `a time limit ends the command although nobody reads its output`() throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 4_000_000)) }
    let result = try shell(
      """
      mkfifo out; exec 3<> out
      $F post --max-time 3 -d a \(server.url) 2> result >&3; echo $?
      grep -c 'took longer than 3 s' result
      """)
    #expect(result.output == "74\n1\n", "\(result.output) \(result.stderr)")
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
