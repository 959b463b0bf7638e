import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `send --failed`: the manifest of what was not accepted.
@Suite struct SendFailedTests {
  /// Accepts files if the gate is open, or else as their names say.
  private static func server(repairedBy isRepaired: Guarded<Bool>) throws -> ScriptedServer {
    try ScriptedServer { _ in
      [
        .readBody,
        .decide { request in
          let name = SentFile(lastPartOf: request).map { String(decoding: $0.name, as: UTF8.self) }
          if isRepaired.withLock({ $0 }) { return [.respond(200)] }
          return switch name {
          case "refused": [.respond(400)]
          case "lost": [.reset]
          case "busy": [.respond(503, headers: [("Retry-After", "0")])]
          default: [.respond(200)]
          }
        },
      ]
    }
  }

  private static func place(_ names: String...) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in", in: place)
    for name in names { try place.write("in/\(name)", name) }
    return place
  }

  private static func names(_ server: ScriptedServer) -> [String] {
    server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }
  }

  @Test func `the failed list can be sent, and has what was not accepted`() throws {
    let isRepaired = Guarded(false)
    let server = try Self.server(repairedBy: isRepaired)
    let place = try Self.place("ok", "refused", "lost", "busy")
    let first = try formstream(
      "send", "--retry", "0", "--failed", "rest", server.url, "in", in: place)
    #expect(first.exit == 3, "\(first.stderr)")
    #expect(
      first.stderr.hasSuffix(
        "The failed list in \"rest\" has 3 files: send it with --manifest.\n"
          + "Next: formstream send --manifest rest --retry 0 \(server.url)\n"), "\(first.stderr)")
    let list = try shell(
      "head -n 1 rest | grep -c manifest/1; tail -n +2 rest | sed 's/,\"mtime_ns\":[0-9]*,\"index\":[0-3]//' | sort",
      in: place)
    #expect(
      list.output == """
        1
        {"path":"busy","path_b64":null,"size":4}
        {"path":"lost","path_b64":null,"size":4,"maybe_duplicate":true}
        {"path":"refused","path_b64":null,"size":7}

        """)
    isRepaired.withLock { $0 = true }
    // From another directory, too.
    let second = try shell(
      """
      mkdir other; cd other
      $F send --json --failed none --manifest ../rest \(server.url); echo $?; ls
      """, in: place)
    #expect(second.output.hasSuffix("\n0\n"), "there is no empty list: \(second.output)")
    #expect(second.output.count(of: #""outcome":"ok""#) == 3)
    #expect(second.output.count(of: #""maybe_duplicate":true"#) == 1)
    #expect(
      Self.names(server).sorted()
        == ["busy", "busy", "lost", "lost", "ok", "refused", "refused"])
  }

  @Test func `a file that is no such list is not replaced, and nothing is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.place("a")
    try place.write("rest", "mine")
    let result = try formstream(
      "send", "--journal", "journal", "--failed", "rest", server.url, "in", in: place)
    #expect(result.exit == 74)
    #expect(result.stderr.contains("\"rest\" exists already"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
    #expect(try shell("cat rest; ls", in: place).output == "minein\nrest\n")
  }

  @Test func `files that change are in it as they are now`() throws {
    let place = try Self.place("a")
    let first = try shell(
      """
      $F plan -o m in 2> /dev/null; echo longer > in/a
      $F send -q --manifest m --failed rest http://127.0.0.1:1/ 2> /dev/null; echo $?
      tail -n +2 rest | grep -c '"size":7'
      """, in: place)
    #expect(first.output == "74\n1\n", "\(first.stderr)")
  }

  @Test func `files that may have been accepted are left out and listed`() throws {
    let server = try Self.server(repairedBy: Guarded(false))
    let place = try Self.place("lost", "ok")
    let arguments = ["--retry", "0", "--journal", "journal", server.url, "in"]
    #expect(try run("formstream", ["send"] + arguments, in: place).exit == 3)
    let second = try run(
      "formstream", ["send", "--skip-unknown", "--failed", "rest"] + arguments, in: place)
    #expect(second.exit == 3, "\(second.stderr)")
    let list = try shell("tail -n +2 rest", in: place).output
    #expect(list.hasPrefix(#"{"path":"lost","#), "\(list)")
    #expect(list.hasSuffix("\"maybe_duplicate\":true}\n"), "\(list)")
    #expect(list.count(of: "\n") == 1)
  }

  /// One request is on its way, and the others wait: they are listed and not begun.
  @Test func `after a signal, files that were listed and not begun are in it`() throws {
    let reached = try Gate()
    let go = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(go), .respond(200)]
    }
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in $(seq 500); do echo $n > in/$n; done", in: place)
    let program = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: ["send", "-j", "1", "--failed", "rest", server.url, "in"]
        .map { Array($0.utf8) }, in: place)
    #expect(reached.wait())
    // Two others are open already, and wait.
    _ = try shell(
      "until [ $(ls -l /proc/\(program.pid)/fd | grep -c /in/) -ge 3 ]; do sleep 0.01; done")
    program.signal(SIGINT)
    go.open()
    let end = try program.wait()
    #expect(end.signal == SIGINT)
    let listed = try shell(
      "tail -n +2 rest | grep -o '\"path\":\"[0-9]*\"' | sort -u | wc -l", in: place)
    let count = try #require(Int(listed.output.split(separator: "\n")[0]))
    #expect(count >= 2)
    #expect(
      end.stderr.contains(
        "The failed list in \"rest\" has \(count) files: send it with --manifest. Files that were not listed yet are not "
          + "in it."), "\(end.stderr)")
    #expect(end.stderr.contains("\(count) not begun."), "\(end.stderr)")
    // Until the signal is noticed, other requests may have begun.
    let sent = Set(Self.names(server)).count
    let rest = try formstream("send", "--json", "--manifest", "rest", server.url, in: place)
    #expect(rest.exit == 0)
    #expect(Set(Self.names(server)).count == sent + count)
  }

  @Test func `a list that can't be written ends the run`() throws {
    let server = try ScriptedServer { _ in .good(400) }
    let place = try Self.place("a", "b")
    let full = try shell(
      "$F send --retry 0 --failed /dev/full \(server.url) in; echo $?", in: place)
    #expect(full.stderr.contains("could not be written: No space left"), "\(full.stderr)")
    #expect(!full.stderr.contains("The failed list"), "\(full.stderr)")
    #expect(full.output == "1\n", "the files' own code comes first")
  }

  @Test func `the list and records don't share standard output`() throws {
    let server = try ScriptedServer { _ in .good(400) }
    let place = try Self.place("a")
    let both = try formstream("send", "--json", "--failed", "-", server.url, "in", in: place)
    #expect(both.exit == 64)
    #expect(both.stderr.contains("both go to standard output"))
    let list = try formstream("send", "--failed", "-", server.url, "in", in: place)
    #expect(list.exit == 1)
    #expect(list.output.hasPrefix(#"{"schema":"formstream.manifest/1","#), "\(list.output)")
    #expect(list.output.count(of: "\n") == 2)
  }
}

extension String {
  fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
