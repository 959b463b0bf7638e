import FormStreamTestSupport
import Foundation
import Testing

/// The display of `send` on a terminal, which `script` provides, and what a script sees. `make recording` has more.
@Suite struct SendDisplayTests {
  private static let terminal = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Terminal/terminal.py").path

  /// Two files, of which one has a hostile name, and a list of one that is missing.
  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in; echo words > in/one; echo words > $'in/\\e[2J\\u202e'", in: place)
    try place.write("list", "missing\n")
    return place
  }

  /// Starts `send` on a terminal of that width. What appears on it is also in the file `seen`.
  private static func start(
    _ flags: String, to server: ScriptedServer, columns: Int, in place: TemporaryDirectory
  ) throws -> RunningProgram {
    try place.write("seen", "")
    let send = "$F send \(flags) \(server.url) in --files-from list"
    return try RunningProgram(
      program: "/bin/bash",
      rawArguments: ["-c", "script -qefc \"stty cols \(columns) rows 24; \(send)\" seen"]
        .map { Array($0.utf8) },
      in: place, environment: ["F": builtBinary("formstream"), "TERM": "xterm", "NO_COLOR": "1"])
  }

  private static func waitUntilSeen(_ text: String, in place: TemporaryDirectory) throws {
    _ = try shell("until grep -q '\(text)' seen; do sleep 0.01; done", in: place)
  }

  /// The lines that a terminal of that width shows at the end.
  private static func shown(_ output: [UInt8], columns: Int) throws -> [Substring] {
    let run = try run(
      program: "/usr/bin/env", ["python3", terminal, "\(columns)"], standardInput: output)
    #expect(run.exit == 0, "\(run.stderr)")
    return run.output.split(separator: "\n")
  }

  @Test(arguments: [80, 40])
  func `on a terminal, what is sent is shown, and only messages and the summary stay`(
    _ columns: Int
  ) throws {
    let go = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .waitFor(go), .respond(200)] }
    let place = try Self.place()
    let program = try Self.start("--failed rest", to: server, columns: columns, in: place)
    // The line for all files, and one for each request, of which each may be drawn before the others.
    try Self.waitUntilSeen("1 of 3 files  1 with errors", in: place)
    try Self.waitUntilSeen("  in/one ", in: place)
    try Self.waitUntilSeen("2J.*100 %", in: place)
    go.open()
    let end = try program.wait()
    #expect(end.exit == 66, "\(end.output)")
    #expect(end.output.contains("1 of 3 files  1 with errors"), "\(end.output)")
    #expect(end.output.contains("  in/one "), "\(end.output)")
    let lines = try Self.shown(end.stdout, columns: columns)
    #expect(
      lines.first == "formstream: missing: failed: The file \"missing\" does not exist.",
      "\(lines)")
    #expect(lines[1] == "3 files: 2 ok, 1 failed.", "\(lines)")
    #expect(lines.dropLast().last == "The failed list in \"rest\" has 1 file: send it with --manifest.")
    #expect(lines.last?.hasPrefix("Next: formstream send --manifest rest ") == true)
    #expect(!lines.contains { $0.contains("%") || $0.contains(" of ") }, "\(lines)")
  }

  @Test(arguments: ["--progress none", "-q", "--json"])
  func `without progress, or beside records, no status is drawn`(_ flags: String) throws {
    // Longer than it takes until a status is drawn.
    let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    let server = try ScriptedServer { _ in
      [.readBody, .sendSlowly(response, each: .milliseconds(20))]
    }
    let place = try Self.place()
    let end = try Self.start(flags, to: server, columns: 80, in: place).wait()
    #expect(end.exit == 66)
    #expect(!end.output.contains("\u{1B}"), "\(end.output)")
  }

  @Test func `after Ctrl-C nothing is left of the status, and the summary is there`() throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let place = try Self.place()
    let keys = place.path("keys")
    try place.write("seen", "")
    let send = "$F send -j 1 --journal journal \(server.url) in"
    let result = try shell(
      """
      set -m
      mkfifo \(keys); export TERM=xterm
      script -qefc "stty cols 60 rows 24; \(send)" seen < keys > all 2>&1 &
      exec 3> keys
      until grep -q '100 %' seen; do sleep 0.01; done
      printf '\\003' >&3
      until grep -q stopping seen; do sleep 0.01; done
      printf '\\003' >&3; wait $!; echo $? >&2; cat all
      """, in: place)
    #expect(result.stderr.hasSuffix("130\n"), "\(result.stderr)")
    let lines = try Self.shown(result.stdout, columns: 60)
    #expect(lines.contains("2 files: 1 unknown, 1 not begun."), "\(lines)")
    #expect(!lines.contains { $0.contains("%") || $0.contains("stopping") }, "\(lines)")
    #expect(
      lines.last == "To list the files that are left: formstream report --failed FILE \"journal\"")
  }

  /// SIGQUIT leaves no time to erase the status.
  @Test func `after a signal that ends it at once, the cursor is below the status`() throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let place = try Self.place()
    try place.write("seen", "")
    let result = try shell(
      """
      export TERM=xterm
      script -qefc "stty cols 60 rows 24; sh -c 'ulimit -c 0; echo \\$\\$ > pid; exec env --default-signal=QUIT $F send \(server.url) in'; echo after" seen \\
        > all 2>&1 &
      until grep -q '2J.*100 %' seen && grep -q 'one.*100 %' seen; do sleep 0.01; done
      kill -QUIT $(cat pid); wait; cat all
      """, in: place)
    let lines = try Self.shown(result.stdout, columns: 60)
    #expect(lines.first?.hasPrefix("0 of 2 files") == true, "\(lines)")
    #expect(lines.count { $0.contains("100 %") } == 2, "\(lines)")
    #expect(lines.last == "after", "\(lines)")
  }

  @Test func `records say how many files are done, and how many there are once that is known`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    for number in 1...30 { try place.write("f\(number)", "words\n") }
    let result = try formstream("send", "--progress", "json", "-q", server.url, ".", in: place)
    #expect(result.exit == 0)
    let records = result.stderr.split(separator: "\n")
    #expect(records.allSatisfy { $0.hasPrefix(#"{"schema":"formstream.progress/2","phase":""#) })
    let last = try #require(records.last)
    #expect(
      last.contains(
        #""phase":"done","read":180,"handed":180,"acknowledged":180,"total":180,"received":0,"response_total":null,"parts":[],"files_done":30,"files_total":30,"#
      ), "\(last)")
  }

  @Test func `if the server is overloaded, the display says so`() throws {
    let go = try Gate()
    let server = try ScriptedServer { request in
      request.number == 0
        ? [.readBody, .respond(503, headers: [("Retry-After", "1")])]
        : [.readBody, .waitFor(go), .respond(200)]
    }
    let place = try Self.place()
    let program = try Self.start("", to: server, columns: 80, in: place)
    try Self.waitUntilSeen("server overloaded, slowed down", in: place)
    go.open()
    #expect(try program.wait().exit == 66)
  }
}
