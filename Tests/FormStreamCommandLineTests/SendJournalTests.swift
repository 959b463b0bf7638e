import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// `send --journal`: what a second run does after any end of the first.
@Suite struct SendJournalTests {
  private static func makeFiles(_ count: Int) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in", in: place)
    for number in 1...count { try place.write("in/f\(number)", "contents \(number)") }
    return place
  }

  private static func arguments(_ server: ScriptedServer, _ more: String...) -> [String] {
    ["send", "--json", "--retry", "0", "-j", "4", "--journal", "journal"] + more + [
      server.url, "in",
    ]
  }

  /// The file names of records with a text in them. A run that goes on finds the files by their absolute paths.
  private static func names(_ output: String, with text: String) -> [String] {
    output.split(separator: "\n").filter { $0.contains("formstream.record/2") && $0.contains(text) }
      .compactMap { $0.firstMatch(of: /"path":"[^"]*in\/(?<name>[^"]+)"/).map { String($0.name) } }
  }

  @Test func `a run that has nothing left to do sends nothing and says so`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(20)
    let first = try run("formstream", Self.arguments(server), in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    #expect(server.requests.count == 20)
    let second = try formstream(
      "send", "--journal", "journal", server.url, "in", in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(second.stderr.contains("Nothing is new: 20 files are as earlier runs sent them."))
    let resumed = try formstream(
      "send", "--resume-only", "--journal", "journal", server.url, "in", in: place)
    #expect(resumed.exit == 0, "\(resumed.stderr)")
    #expect(resumed.stderr.contains("Nothing is left to do: earlier runs sent all 20 files."))
    #expect(server.requests.count == 20)
  }

  @Test func `a journal is that of one URL`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(1)
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 0)
    let other = try formstream(
      "send", "--journal", "journal", "\(server.url)/other", "in", in: place)
    #expect(other.exit == 64)
    #expect(other.stderr.contains("name another directory"))
  }

  /// Only the origin of a secret URL is shown, and it stands in journals.
  @Test func `a journal is that of one secret URL`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(1)
    for (name, exit) in [("a", 0), ("b", 64), ("a?signature=2", 0)] {
      try place.write("url", "\(server.url)/\(name)\n")
      let sent = try shell("chmod 600 url; $F send --url-file url in --journal journal", in: place)
      #expect(sent.exit == Int32(exit), "\(name): \(sent.stderr)")
    }
    #expect(server.requests.count == 1)
    let journal = try shell("cat journal/*", in: place).output
    #expect(!journal.contains("/a"), "\(journal)")
  }

  @Test func `a file that is no manifest is left as it is`() throws {
    let server = try ScriptedServer { _ in .good() }
    for contents in [#"{"precious":"notes"}"#, "precious\nno end", "x", "{\"schema\":\"other"] {
      let place = try Self.makeFiles(1)
      _ = try shell("mkdir journal", in: place)
      try place.write("journal/manifest.partial.jsonl", contents)
      let sent = try run("formstream", Self.arguments(server), in: place)
      #expect(sent.exit == 66, "\(sent.stderr)")
      #expect(try shell("cat journal/manifest.partial.jsonl", in: place).output == contents)
    }
    #expect(server.requests.isEmpty)
  }

  /// The machine stops after a run that was interrupted while it listed: the journal is on the disk, and a part of the
  /// manifest is not.
  @Test func `files that may be those that a manifest has lost are possible duplicates`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(4)
    let first = try shell(
      """
      $F send -q --journal journal \(server.url) in; cd journal
      mv manifest.jsonl manifest.partial.jsonl; sed -i '3,$d' manifest.partial.jsonl
      """, in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    // The next run is stopped after it has listed one of the lost files.
    let second = try shell(
      """
      cp -r in more; rm in/f[12]; $F send -q --journal journal \(server.url) in; cd journal
      mv manifest.jsonl manifest.partial.jsonl; mv ../more/f* ../in
      """, in: place)
    #expect(second.stderr.isEmpty, "\(second.stderr)")
    let third = try run("formstream", Self.arguments(server), in: place)
    #expect(third.exit == 0, "\(third.stderr)")
    let sent = server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }
    let twice = Set(sent.filter { name in sent.count { $0 == name } > 1 })
    #expect(twice.count == 3, "\(sent)")
    let records = try shell("cat journal/journal-*", in: place).output
    #expect(twice == Set(Self.names(records, with: #""maybe_duplicate":true"#)), "\(records)")
    #expect(try formstream("report", "journal", in: place).exit == 3)
  }

  @Test func `a second run sends what failed, and what was lost as a possible duplicate`() throws {
    let isRepaired = Guarded(false)
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .decide { request in
          let name = SentFile(lastPartOf: request).map { String(decoding: $0.name, as: UTF8.self) }
          if isRepaired.withLock({ $0 }) { return [.respond(200)] }
          return switch name {
          case "f3": [.respond(400)]
          case "f7": [.reset]
          default: [.respond(200)]
          }
        },
      ]
    }
    let place = try Self.makeFiles(10)
    let first = try run("formstream", Self.arguments(server), in: place)
    #expect(first.exit == 3, "\(first.stderr)")
    isRepaired.withLock { $0 = true }
    let skipping = try run("formstream", Self.arguments(server, "--skip-unknown"), in: place)
    // Nobody knows yet whether the server has f7.
    #expect(skipping.exit == 3, "\(skipping.output)")
    #expect(Self.names(skipping.output, with: #""outcome":"ok""#) == ["f3"])
    #expect(Self.names(skipping.output, with: #""outcome":"skipped""#) == ["f7"])
    let again = try run(
      "formstream", ["send", "--skip-unknown", "--journal", "journal", server.url, "in"], in: place)
    #expect(again.exit == 3)
    #expect(again.stderr.contains("1 file: 1 skipped."), "\(again.stderr)")
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0, "\(second.output)")
    #expect(Self.names(second.output, with: #""outcome":"ok""#) == ["f7"])
    #expect(Self.names(second.output, with: #""maybe_duplicate":true"#) == ["f7"])
    #expect(server.requests.count == 12)
  }

  /// The process is killed while a request is complete and has no response: the nastiest moment.
  @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34, 39, 40])
  func `after a kill at any request, all files arrive, and duplicates are marked`(
    _ killedAt: Int
  ) throws {
    let pid = Guarded<Int32>(0)
    let server = try ScriptedServer { request in
      guard request.number == killedAt - 1 else { return .good() }
      return .killing(pid)
    }
    let place = try Self.makeFiles(40)
    let first = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server).map { Array($0.utf8) }, in: place)
    pid.withLock { $0 = first.pid }
    let killed = try first.wait()
    #expect(killed.signal == SIGKILL)
    #expect(server.waitForEnds())
    let before = server.requests.filter(\.hasCompleteBody)
    let proven = Set(Self.names(killed.output, with: #""outcome":"ok""#))
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    let all = server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }
    #expect(Set(all).count == 40)
    // Nothing that the first run had proven is sent again.
    let again = all.dropFirst(before.count)
    #expect(proven.isDisjoint(with: again))
    // What arrived twice is marked.
    let twice = Set(all.filter { name in all.count { $0 == name } > 1 })
    #expect(twice.isSubset(of: Self.names(second.output, with: #""maybe_duplicate":true"#)))
    #expect(all.count <= 44, "at most the four on their way are sent again")
  }

  /// A kill after any `write` leaves a prefix of the journal's lines. With one request at a time, the server has every
  /// file of which the journal has a record, and perhaps the one that was begun.
  @Test func `after a kill at any line of the journal, only what is not proven is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let count = 30
    let place = try Self.makeFiles(count)
    let complete = try formstream(
      "send", "--json", "-j", "1", "--journal", "journal", server.url, "in", in: place)
    #expect(complete.exit == 0, "\(complete.stderr)")
    let name = try #require(
      try shell("ls journal | grep ^journal-", in: place).output.split(separator: "\n").first)
    let path = place.path("journal/\(name)")
    let lines = try String(contentsOfFile: path, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: true)
    #expect(lines.count == 2 * count + 2)
    for kept in 1...lines.count {
      _ = try shell("rm journal/journal-*", in: place)
      try place.write("journal/\(name)", lines[..<kept].map { "\($0)\n" }.joined())
      let before = server.requests.count
      let resumed = try formstream(
        "send", "--json", "-j", "4", "--journal", "journal", server.url, "in", in: place)
      #expect(resumed.exit == 0, "\(resumed.stderr)")
      let proven = lines[..<kept].count { $0.contains("formstream.record/2") }
      let begun = lines[..<kept].count { $0.contains("formstream.started/1") } - proven
      #expect(server.requests.count - before == count - proven, "\(kept)")
      #expect(
        Self.names(resumed.output, with: #""maybe_duplicate":true"#).count == begun, "\(kept)")
    }
  }

  @Test func `files that appear after the listing was cut off are added, and others are not lost`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.makeFiles(10)
    #expect(try run("formstream", Self.arguments(server), in: place).exit == 0)
    // As a kill during the listing leaves it: the manifest has its other name, six files and a torn line.
    _ = try shell(
      """
      cd journal; rm journal-*
      head -7 manifest.jsonl > manifest.partial.jsonl; head -8 manifest.jsonl | tail -1 | head -c 20 >> manifest.partial.jsonl
      rm manifest.jsonl; echo new > ../in/new
      """, in: place)
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(Set(Self.names(second.output, with: #""outcome":"ok""#)).count == 11)
    #expect(server.requests.count == 21)
    #expect(
      try shell("ls journal/manifest*; wc -l < journal/manifest.jsonl", in: place).output
        == "journal/manifest.jsonl\n12\n")
  }

  @Test func `SIGTERM lets requests on their way end, and the run with a journal ends with 75`()
    throws
  {
    let reached = try Gate()
    let go = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .waitFor(go), .respond(200)]
    }
    let place = try Self.makeFiles(20)
    let program = try RunningProgram(
      program: builtBinary("formstream"),
      rawArguments: Self.arguments(server).map { Array($0.utf8) }, in: place)
    #expect(reached.wait())
    // No request begins after this, so the others stay where they are until the gate opens.
    program.signal(SIGTERM)
    go.open()
    let end = try program.wait()
    #expect(end.exit == 75, "\(end.stderr)")
    #expect(end.output.contains("formstream.summary/1"))
    #expect(Self.names(end.output, with: #""outcome":"ok""#).count == server.requests.count)
    #expect(
      try shell("tail -qn 1 journal/journal-*", in: place).output
        == "{\"schema\":\"formstream.closed/1\"}\n")
    let second = try run("formstream", Self.arguments(server), in: place)
    #expect(second.exit == 0)
    #expect(server.requests.count == 20)
  }
}
