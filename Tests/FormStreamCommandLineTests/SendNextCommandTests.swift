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
    try lastLines(after: flags, to: url).words
  }

  /// These words, and the names of what is left out.
  private func lastLines(
    after flags: String, to url: String? = nil, in place: TemporaryDirectory? = nil
  ) throws -> (words: String, leftOut: String) {
    let run = try shell(
      "echo > no; $F send --retry 0 --failed rest \(flags) '\(url ?? server.url)' no 2>&1 | grep -A 2 '^The failed list'",
      in: place)
    #expect(!run.output.contains("canary"), "\(run.output)")
    var lines = run.output.split(separator: "\n").dropFirst()
    let (next, about) = (
      "Next: formstream send --manifest rest --retry 0 ", "The next command leaves out what may be a secret (<|left-out|>): "
    )
    let last = lines.popLast() ?? ""
    #expect(last.hasPrefix(next) && lines.allSatisfy { $0.hasPrefix(about) && $0.hasSuffix(".") }, "\(run.output)")
    return (String(last.dropFirst(next.count)), String(lines.last?.dropFirst(about.count).dropLast() ?? ""))
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
    try expect(flags, areShownAs: shown, without: name)
  }

  /// Regression: only the name before the value was looked at.
  @Test(arguments: [
    ("--field 'params={\"auth\":{\"key\":\"canary\"}}'", "--field …", "--field params"),
    ("-F 'meta={{\"token\" : \"canary\"}}'", "--form …", "--form meta"),
    ("-F 'meta={{\\\"token\\\":\\\"canary\\\"}}'", "--form …", "--form meta"),
    ("--query 'state=a%26token%3Dcanary'", "--query …", "--query state"),
    ("-H 'X-Upstream: Bearer canary'", "--header …", "--header X-Upstream"),
    ("-H 'X-Upstream: basic canary'", "--header …", "--header X-Upstream"),
    ("-H 'X-Config: size=1, token=canary'", "--header …", "--header X-Config"),
    ("-A 'night (token: canary)'", "--user-agent …", "--user-agent"),
  ]) func `a secret inside a value with another name is not in it`(_ flags: String, shown: String, name: String) throws {
    try expect(flags, areShownAs: shown, without: name)
  }

  /// Regression: `-b` without `=` was taken for a file, and what follows the file in `--cert` for a part of its name.
  @Test(arguments: [
    ("-b canary", "--cookie …", "--cookie"), ("-b canary -c jar", "--cookie … --cookie-jar jar", "--cookie"),
    ("--cert client.pem:canary", "--cert …", "--cert"), ("-E client.pem:canary", "--cert …", "--cert"),
  ]) func `a secret where a file's name may be is not in it`(_ flags: String, shown: String, name: String) throws {
    try expect(flags, areShownAs: shown, without: name)
  }

  private func expect(_ flags: String, areShownAs shown: String, without name: String) throws {
    let place = try TemporaryDirectory()
    try place.write("client.pem", "")
    let lines = try lastLines(after: flags, in: place)
    #expect(lines.words == "\(shown.replacing("…", with: "<|left-out|>")) \(server.url)", "\(lines)")
    #expect(lines.leftOut == name, "\(lines)")
  }

  /// Regression: the command could be pasted, and then read `…` as a cookie file, or asked for the password of the user `…`.
  @Test(
    arguments: ["bash", "zsh", "sh"], ["-b a=canary", "--field token=canary -u me:canary", "-H 'X-Token: canary' --journal j"])
  func `no shell runs the command while a secret is missing`(_ name: String, flags: String) throws {
    let place = try TemporaryDirectory()
    let words = try words(after: flags)
    try place.write("line", "touch ran; touch \(words)\n")
    // A file of that name must not be read, and no file written.
    let run = try shell("touch left-out; \(name) line; echo $?; \(name) -c \"$(cat line)\"; echo $?; ls", in: place)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 4 && lines[0] != "0" && lines[1] != "0" && lines[2...] == ["left-out", "line"], "\(run.output)")
  }

  /// Regression: no header and no field was shown, so that hardly any command could be pasted.
  @Test(arguments: [
    ("-H 'X-Tag: 1' -H Expect:", "--header 'X-Tag: 1' --header Expect:"), ("-H @more", "--header @more"),
    ("-F 'album=a summer' --field year=2026", "--form 'album=a summer' --field year=2026"),
    ("--field-template 'size={size}' --query page=1", "--field-template 'size={size}' --query page=1"),
    ("-b kept -A night", "--cookie kept --user-agent night"), ("--idempotency-key auto", "--idempotency-key auto"),
    ("-b jar -c jar", "--cookie jar --cookie-jar jar"), ("--cert more", "--cert more"),
    ("-F 'meta=@more' -F 'text=<more'", "--form meta=@more --form 'text=<more'"),
    ("--field 'meta={\"size\": 1}' -H 'X-At: 12:30'", "--field 'meta={\"size\": 1}' --header 'X-At: 12:30'"),
  ]) func `what is no secret is in it`(_ flags: String, shown: String) throws {
    let place = try TemporaryDirectory()
    try place.write("more", "X-More: 1\n")
    try place.write("kept", "Set-Cookie: a=b\n")
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
    let lines = try lastLines(after: "", to: server.url + end)
    #expect(lines.words == "<|left-out|>" && lines.leftOut == "the URL", "\(lines)")
  }

  @Test(arguments: [("/{name}?token=canary", true), ("/{name}?page=1", false), ("/canary@home/{name}", true)])
  func `a URL of --put that may have a secret is left out`(_ end: String, isHidden: Bool) throws {
    let server = try ScriptedServer { _ in .good(422) }
    let run = try shell("echo > no; $F send --retry 0 --failed rest --put '\(server.url)\(end)' no 2>&1 | grep '^Next: '")
    let shown = isHidden ? "<|left-out|>" : "'\(server.url)\(end)'"
    #expect(run.output == "Next: formstream send --manifest rest --retry 0 --put \(shown)\n", "\(run.output)")
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
    // The other file is spelled out, too: it comes after the first one, and before what was typed.
    let next =
      "formstream send --manifest rest --retry 0\(digests) --as 'my photo' --user-agent night --journal j \(server.url)"
    #expect(first.output == "Next: \(next)\n", "\(first.output)")
    isRepaired.withLock { $0 = true }
    let second = try shell("formstream() { $F \"$@\"; }; \(next)", in: place)
    #expect(second.exit == 0 && names() == ["no", "no", "yes"], "\(second.stderr)")
  }

  /// Regression: the flags of the first file stood after those of the second one, and the last of several flags counts.
  @Test(arguments: ["-K flags -K more", "-K more -K flags"])
  func `the order of configuration files is kept`(_ files: String) throws {
    let place = try TemporaryDirectory()
    try place.write("flags", "hidden\nuser-agent one\n")
    try place.write("more", "user-agent two\n")
    let run = try shell("echo > no; $F send --retry 0 --failed rest \(files) \(server.url) no 2>&1 | grep '^Next: '", in: place)
    let agents = files.hasSuffix("more") ? "--user-agent one --user-agent two" : "--user-agent two --user-agent one"
    #expect(run.output == "Next: formstream send --manifest rest \(agents) --retry 0 \(server.url)\n", "\(run.output)")
  }

  @Test func `flags from standard input are spelled out, without secrets`() throws {
    let run = try shell(
      """
      echo > no; printf 'retry 0\\n--header X-Token: canary\\n' | $F send -K - --failed rest \(server.url) no 2>&1 | grep '^Next: '
      """)
    let next = "formstream send --manifest rest --retry 0 --header <|left-out|> \(server.url)"
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
