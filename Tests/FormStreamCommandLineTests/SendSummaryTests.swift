import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// What `send` says at its end.
@Suite struct SendSummaryTests {
  /// Regression: each run took a second or more, and its rate was another than what it said.
  @Test func `the time is as it was, and nothing has no rate`() throws {
    let server = try ScriptedServer { .good($0.target == "/no" ? 400 : 200) }
    let place = try TemporaryDirectory()
    try place.write("a", "words")
    let time = #"([0-9]{1,3} ms|[0-9]\.[0-9] s|[0-9]{2} s|[0-9]+ min [0-9]{2} s)"#
    for (target, line) in [("/", "5 B in \(time), [0-9]+ B/s\\."), ("/no", "0 B in \(time)\\.")] {
      let run = try formstream("send", "\(server.url)\(target)", "a", in: place)
      let found = try run.stderr.split(separator: "\n").contains {
        try Regex(line).wholeMatch(in: $0) != nil
      }
      #expect(found, "\(run.stderr)")
    }
  }

  @Test(arguments: ["", "--failed rest"])
  func `what is said about files that have changed is what helps`(_ flags: String) throws {
    let isRepaired = Guarded(false)
    let server = try ScriptedServer { _ in
      [.readBody, .decide { _ in [.respond(isRepaired.withLock { $0 } ? 200 : 429)] }]
    }
    let place = try TemporaryDirectory()
    let line = "$F send --retry 0 --journal j \(server.url) in"
    let first = try shell(
      "mkdir in; echo a > in/a; echo b > in/b; echo c > in/c; \(line)", in: place)
    #expect(first.exit == 75)
    #expect(
      first.stderr.contains(
        "The journal is in \"j\": the same command lists the files again, and sends those that are left."),
      "\(first.stderr)")
    let lineOfManifest = "$F send --retry 0 --journal j \(server.url) --manifest j/manifest.jsonl"
    let some = try shell(
      "echo changed > in/a; \(lineOfManifest) \(flags); code=$?; rm -f rest; exit $code", in: place)
    #expect(some.exit == 74)
    #expect(
      some.stderr.contains(
        "The same command goes on from there, but it can't send 1 file that has changed since it was listed."
      ),
      "\(some.stderr)")
    isRepaired.withLock { $0 = true }
    let only = try shell("\(lineOfManifest) \(flags)", in: place)
    #expect(only.exit == 74)
    #expect(!only.stderr.contains("goes on from there"), "\(only.stderr)")
    #expect(
      only.stderr.contains(
        "The same command can't send 1 file that has changed since it was listed."),
      "\(only.stderr)")
    #expect(only.stderr.contains("send it with --manifest"), "\(only.stderr)")
    // As it says.
    let rest = try shell(
      "\(flags.isEmpty ? "$F report --failed rest j; " : "")$F send --manifest rest --journal j \(server.url)",
      in: place)
    #expect(rest.exit == 0, "\(rest.stderr)")
    #expect(Set(server.sentFiles).contains(SentFile("a", "changed\n")))
  }

  /// The size of such a file is that of a page, whatever it holds.
  @Test(arguments: [
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_seqnum",
    "/sys/kernel/profiling",
  ])
  func `a file that the kernel generates is not said to have changed`(_ path: String) throws {
    let server = try ScriptedServer { _ in .good() }
    guard try shell("[ -s \(path) ] && cat \(path)").exit == 0 else { return }
    for line in [
      "$F post --retry 0 -F a=@\(path) \(server.url)", "$F put --retry 0 \(path) \(server.url)",
      "$F send \(server.url) \(path)", "$F encode -F a=@\(path)",
    ] {
      let run = try shell(line)
      #expect(run.exit == 74, "\(line): \(run.stderr)")
      #expect(
        run.stderr.contains("like files that the kernel generates: send it through a pipe."),
        "\(run.stderr)")
      #expect(!run.stderr.contains("has changed"), "\(run.stderr)")
    }
  }
}
