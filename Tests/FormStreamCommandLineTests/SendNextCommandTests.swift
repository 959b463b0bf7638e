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
    let next = "formstream send --manifest 'the rest' --retry 0 --jobs 2 --as photo --journal 'my journal' \(server.url)"
    #expect(first.output == "Next: \(next)\n", "\(first.output)")
    isRepaired.withLock { $0 = true }
    let second = try shell("formstream() { $F \"$@\"; }; \(next) 2>&1; $F report 'my journal'", in: place)
    #expect(second.output.contains("2 files: 2 ok.") && second.output.contains("3 files: 3 ok."), "\(second.output)")
    #expect(names() == ["also no", "also no", "no", "no", "yes"])
  }

  /// What the next command has after its list, for flags that were typed.
  private func words(after flags: String, to url: String? = nil) throws -> String {
    let run = try shell(
      "echo > no; $F send --retry 0 --failed rest \(flags) '\(url ?? server.url)' no 2>&1 | grep '^Next: '")
    #expect(run.output.hasPrefix("Next: formstream send --manifest rest --retry 0 "), "\(run.output)")
    return String(run.output.dropFirst("Next: formstream send --manifest rest --retry 0 ".count).dropLast())
  }

  @Test(arguments: [
    ("-H 'X-Token: canary'", "--header …", "--header X-Token"),
    ("-H 'Authorization: Bearer canary'", "--header …", "--header Authorization"),
    ("-H 'Cookie: a=canary'", "--header …", "--header Cookie"), ("-H 'X-Api-Key;'", "--header …", "--header X-Api-Key"),
    ("-H 'X-From: http://me:canary@host/'", "--header …", "--header X-From"), ("-u me:canary", "--user …", "--user"),
    ("-b session=canary", "--cookie …", "--cookie"), ("--oauth2-bearer canary", "--oauth2-bearer …", "--oauth2-bearer"),
    ("-F password=canary", "--form …", "--form password"), ("--field token=canary", "--field …", "--field token"),
    ("-F 'a=b;headers=\"X-A: canary\"'", "--form …", "--form a"), ("--query sig=canary", "--query …", "--query sig"),
    ("-x http://me:canary@127.0.0.1:1", "--proxy …", "--proxy"),
    ("-H 'X-Token: canary' -H 'X-Token: canary2'", "--header … --header …", "--header X-Token"),
  ]) func `a secret is not in it`(_ flags: String, shown: String, name: String) throws {
    let words = try words(after: flags)
    #expect(words == "\(shown) \(server.url)  # What may be a secret is left out (…): \(name).", "\(words)")
  }

  /// Regression: no header and no field was shown, so that hardly any command could be pasted.
  @Test(arguments: [
    ("-H 'X-Tag: 1' -H Expect:", "--header 'X-Tag: 1' --header Expect:"), ("-H @more", "--header @more"),
    ("-F 'album=a summer' --field year=2026", "--form 'album=a summer' --field year=2026"),
    ("--field-template 'size={size}' --query page=1", "--field-template 'size={size}' --query page=1"),
    ("-b jar -A night", "--cookie jar --user-agent night"), ("--idempotency-key auto", "--idempotency-key auto"),
  ]) func `what is no secret is in it`(_ flags: String, shown: String) throws {
    let place = try TemporaryDirectory()
    try place.write("more", "X-More: 1\n")
    let run = try shell(
      "echo > no; $F send --retry 0 --failed rest \(flags) \(server.url) no 2>&1 | grep '^Next: '", in: place)
    #expect(run.output == "Next: formstream send --manifest rest --retry 0 \(shown) \(server.url)\n", "\(run.output)")
  }

  /// Regression: `--sha256` stood there twice, and `--no-hidden` beside a list.
  @Test(arguments: [
    ("--checksum --sha256 --journal j", "--sha256 --journal j"), ("--sha256 --checksum --journal j", "--sha256 --journal j"),
    ("--checksum --no-checksum --journal j", "--journal j"), ("--hidden --no-hidden", ""),
    ("--sha256 --no-sha256", "--no-sha256"),
    ("--checksum --no-sha256 --journal j", "--sha256 --journal j"),
  ]) func `a flag stands there once, and what was turned off is off`(_ flags: String, shown: String) throws {
    let words = try words(after: flags)
    #expect(words == (shown.isEmpty ? "\(server.url)" : "\(shown) \(server.url)"), "\(words)")
  }

  /// A masked URL is no URL, and would be sent as it is.
  @Test(arguments: ["/?token=canary", "/canary@home"]) func `a URL that may have a secret is left out`(_ end: String) throws {
    let words = try words(after: "", to: server.url + end)
    #expect(words == "…  # What may be a secret is left out (…): the URL.", "\(words)")
  }

  @Test(arguments: [("/{name}?token=canary", true), ("/{name}?page=1", false), ("/canary@home/{name}", true)])
  func `a URL of --put that may have a secret is left out`(_ end: String, isHidden: Bool) throws {
    let server = try ScriptedServer { _ in .good(422) }
    let words = try words(after: "--put", to: server.url + end)
    let shown = isHidden ? "…  # What may be a secret is left out (…): the URL." : "'\(server.url)\(end)'"
    #expect(words == "--put \(shown)", "\(words)")
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
    let next = "formstream send --manifest rest --retry 0\(digests) --as 'my photo' --journal j --config more \(server.url)"
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
    let next =
      "formstream send --manifest rest --retry 0 --header … \(server.url)  # What may be a secret is left out (…): --header X-Token."
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
