import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// What `send` says about the next command, and what that command does.
@Suite struct SendNextCommandTests {
  /// A server that refuses the files `no` and `also no`, until it is repaired.
  private let isRepaired = Guarded(false)
  private let server: ScriptedServer

  init() throws {
    server = try ScriptedServer { [isRepaired] _ in
      [
        .readBody,
        .decide { request in
          let name = SentFile(lastPartOf: request).map { String(decoding: $0.name, as: UTF8.self) } ?? ""
          return [.respond(!isRepaired.withLock { $0 } && name.hasSuffix("no") ? 422 : 200)]
        },
      ]
    }
  }

  private func names() -> [String] { server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }.sorted() }

  /// The whole command, as it can be pasted.
  @Test func `the next command is the one that was typed, with the list in place of the files`() throws {
    let place = try TemporaryDirectory()
    let first = try shell(
      """
      mkdir t; for name in yes no 'also no'; do echo > "t/$name"; done
      $F send --retry 0 -j2 --as photo --hidden --journal 'my journal' --failed 'the rest' \(server.url) t 2>&1 | grep '^Next: '
      """, in: place)
    let next = "formstream send --manifest 'the rest' --retry 0 --jobs 2 --as photo --journal 'my journal' \(server.url)/"
    #expect(first.output == "Next: \(next)\n", "\(first.output)")
    isRepaired.withLock { $0 = true }
    let second = try shell("formstream() { $F \"$@\"; }; \(next) 2>&1; $F report 'my journal'", in: place)
    #expect(second.output.contains("2 files: 2 ok.") && second.output.contains("3 files: 3 ok."), "\(second.output)")
    #expect(names() == ["also no", "also no", "no", "no", "yes"])
  }

  @Test func `a secret is not in it`() throws {
    let run = try shell(
      """
      echo > no; $F send --retry 0 -H 'X-Token: canary' -u me:canary --failed rest '\(server.url)/?token=canary' no 2>&1
      """)
    #expect(run.output.contains("Next: formstream send --manifest rest --retry 0 --header … --user …"), "\(run.output)")
    #expect(!run.output.contains("canary") && run.output.contains("What may be a secret is left out."), "\(run.output)")
  }

  /// A masked URL is no URL, and one that is guessed would be another one.
  @Test(arguments: ["/{name}?token=canary", "/{name}?page=1", "/canary@home/{name}"])
  func `a URL of --put that may have a secret is left out`(_ end: String) throws {
    let server = try ScriptedServer { _ in .good(422) }
    let run = try shell("echo > no; $F send --retry 0 --put --failed rest '\(server.url)\(end)' no 2>&1 | grep '^Next: '")
    let url = "…  (What may be a secret is left out.)"
    #expect(run.output == "Next: formstream send --manifest rest --retry 0 --put \(url)\n", "\(run.output)")
  }

  /// Regression: the command read `at-least`, `checksum` or `all` from the file, and ended with 64.
  @Test(arguments: ["at-least 1", "checksum", "all", "hidden", "--include=*", "keep-going"])
  func `a configuration file that has flags about the files is spelled out`(_ line: String) throws {
    let place = try TemporaryDirectory()
    try place.write("flags", "retry 0\n\(line)\n# as they call it\n--as my photo\n")
    let first = try shell(
      """
      mkdir t; echo > t/no; echo > t/yes; echo 'user-agent night' > more
      $F send --journal j --failed rest -K flags --config more \(server.url) t 2>&1 | grep '^Next: '
      """, in: place)
    // The digests are recorded, so that the next nights can compare the contents of these files, too.
    let digests = line == "checksum" ? " --sha256" : ""
    let next = "formstream send --manifest rest --retry 0\(digests) --as 'my photo' --journal j --config more \(server.url)/"
    #expect(first.output == "Next: \(next)\n", "\(first.output)")
    isRepaired.withLock { $0 = true }
    let second = try shell("formstream() { $F \"$@\"; }; \(next)", in: place)
    #expect(second.exit == 0 && names() == ["no", "no", "yes"], "\(second.stderr)")
  }

  @Test func `flags from standard input are spelled out, without secrets`() throws {
    let run = try shell(
      """
      echo > no; printf 'retry 0\\n--header X-Token: canary\\n' | $F send -K - --failed rest \(server.url) no 2>&1 | grep '^Next: '
      """)
    let next = "formstream send --manifest rest --retry 0 --header … \(server.url)/  (What may be a secret is left out.)"
    #expect(run.output == "Next: \(next)\n", "\(run.output)")
  }

  /// Regression: the second night ended with 74, and sent nothing.
  @Test func `a list replaces the list of the night before`() throws {
    let run = try shell(
      """
      mkdir t; echo > t/no; echo > t/yes
      for night in 1 2; do $F send -q --retry 0 --journal j --failed rest \(server.url) t 2> /dev/null; echo $?; head -n 1 rest | cut -c 1-80; echo > "t/also no"; done
      tail -n +2 rest | wc -l
      """)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 5 && lines[0] == "1" && lines[2] == "1" && lines[4] == "2", "\(run.output) \(run.stderr)")
    #expect(lines.count == 5 && lines[1] != lines[3], "\(run.output)")
  }

  /// Regression: without `--journal`, the next night sent the files of the list again.
  @Test func `a list knows its journal, even after the next list has replaced it`() throws {
    let place = try TemporaryDirectory()
    let night = "$F send --retry 0 --journal j --failed rest \(server.url) t"
    let first = try shell("mkdir t; echo > t/no; echo > t/yes; \(night)", in: place)
    #expect(first.exit == 1)
    isRepaired.withLock { $0 = true }
    let second = try shell("mkdir d; cd d; $F send --manifest ../rest \(server.url)", in: place)
    #expect(second.exit == 0 && second.stderr.contains("goes on: the list is of files"), "\(second.stderr)")
    isRepaired.withLock { $0 = false }
    // The third night sends what is new, and replaces the list.
    let third = try shell("echo > 't/also no'; \(night); echo $?; \(night); echo $?; $F report j | head -n 1", in: place)
    #expect(third.output == "1\n1\n3 files: 2 ok, 1 failed. 2 B accepted.\n", "\(third.output) \(third.stderr)")
    #expect(names() == ["also no", "also no", "no", "no", "yes"])
  }

  @Test func `a list that is sent to another server keeps no journal`() throws {
    let other = try ScriptedServer { _ in .good() }
    let run = try shell(
      """
      mkdir t; echo > t/no; $F send -q --retry 0 --journal j --failed rest \(server.url) t 2> /dev/null; ls j | wc -l
      $F send --manifest rest \(other.url); ls j | wc -l
      mv j elsewhere; $F send --manifest rest \(server.url) 2> /dev/null; ls
      """)
    #expect(run.output == "2\n2\nelsewhere\nrest\nt\n" && other.requests.count == 1, "\(run.output) \(run.stderr)")
  }
}
