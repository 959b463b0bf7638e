import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `send --log`: a line for the result of each file.
@Suite struct SendLogTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory
  /// The responses to files, by name.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    server = try ScriptedServer(byName: statuses)
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` sends the files one after another.
  private func script(_ text: String) throws -> Invocation {
    try shell("S() { $F send -j 1 --retry 0 \"$@\" \(server.url) in; }; \(text)", in: place)
  }

  /// The lines of a log without their times.
  private static func results(_ log: String) throws -> [String] {
    try log.split(separator: "\n").map { line in
      let time = try #require(line.firstIndex(of: "\t"))
      #expect(line[..<time].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d/) != nil)
      return String(line[line.index(after: time)...])
    }.sorted()
  }

  @Test(arguments: ["", "-q", "--json", "--journal j"])
  func `each run adds a line for each file`(_ flags: String) throws {
    statuses.withLock { $0 = ["f1": 400, "f2": 503] }
    let first = try script("S \(flags) --log log > /dev/null; echo $?")
    #expect(first.output == "1\n", "\(first.stderr)")
    statuses.withLock { $0 = [:] }
    let second = try script("S \(flags) --log log > /dev/null; echo $?; cat log >&2")
    #expect(second.output == "0\n", "\(second.stderr)")
    // With a journal, paths begin at the root.
    let log = try shell("sed \"s|$PWD/||\" log", in: place).output
    #expect(
      try Self.results(log) == [
        "failed\t7\tin/f1\tstatus-refused", "ok\t7\tin/f1", "ok\t7\tin/f2",
        "retryable\t7\tin/f2\tstatus-refused",
      ])
  }

  @Test func `the time has the difference from UTC`() throws {
    let result = try script("TZ=UTC-5:45 S -q --log east; TZ=UTC+3:30 S -q --log west; cut -c20-25 east west")
    #expect(result.output == "+05:45\n+05:45\n-03:30\n-03:30\n", "\(result.stderr)")
  }

  @Test func `a name is on one line, and is exact`() throws {
    _ = try shell("rm in/*", in: place)
    for name in [Array("a\nb\tc".utf8), [0xFF, 0x41], Array("ü\\u{A}".utf8)] {
      try writeFile(LocalPath(bytes: Array("\(place.path)/in/".utf8) + name), Array("12345".utf8))
    }
    statuses.withLock { $0 = ["*": 200, "a%0Ab\tc": 400] }
    let result = try script("S -q --log log; cat log")
    #expect(
      try Self.results(result.output) == [
        "failed\t5\tin/a\\u{A}b\\u{9}c\tstatus-refused\taW4vYQpiCWM=",
        // Nothing in the name is spelled out, so it needs no other column.
        "ok\t5\tin/ü\\u{A}", "ok\t5\tin/\u{FFFD}A\t\taW4v/0E=",
      ], "\(result.output)")
  }

  /// logrotate renames a log, or removes it.
  @Test(arguments: ["mv log log.1", "rm log", "cp log log.1; : > log"])
  func `after the log was rotated, the next line begins a new one`(_ rotation: String) throws {
    let place = place
    let server = try ScriptedServer { request in
      request.number == 1
        ? [.readBody, .call { _ = try? shell(rotation, in: place) }, .respond(200)] : .good()
    }
    let result = try shell(
      "echo word > in/f3; $F send -q -j 1 --log log \(server.url) in; echo $?; wc -l < log; cat log.* | wc -l",
      in: place)
    #expect(result.output == "0\n2\n\(rotation == "rm log" ? 0 : 1)\n", "\(result.stderr)")
  }

  @Test func `a line that was cut by a full disk is not continued`() throws {
    let result = try script("printf cut > log; S -q --log log; S -q --log log; grep -c '^cut$' log; wc -l < log")
    #expect(result.output == "1\n5\n", "\(result.stderr)")
  }

  /// Regression: the next run ended the line, which then looked complete.
  @Test(.limitsFileSize) func `a line for which the disk has too little room leaves nothing behind`() throws {
    let result = try script(
      """
      head -c 999 /dev/zero | tr '\\0' - > log; echo >> log; (ulimit -f 1; S -q --log log); echo $?
      wc -c < log; S -q --log log; grep -vc '^-' log
      """)
    #expect(result.output == "74\n1000\n2\n", "\(result.output) \(result.stderr)")
  }

  @Test(arguments: ["--log", "--map-value id --map"])
  func `a file that can't be opened ends the command before anything is sent`(_ flag: String) throws {
    for (file, says) in [
      ("in", "is a directory"), ("none/log", "its directory does not exist"), ("dead", "is a link"),
    ] {
      let result = try script("ln -sf none dead; S \(flag) \(file)")
      #expect(result.exit == 74 && result.stderr.contains(says), "\(result.stderr)")
    }
    for (file, says) in [("-", "- is standard output"), ("''", "needs the name of a file")] {
      let result = try script("S \(flag) \(file)")
      #expect(result.exit == 64 && result.stderr.contains(says), "\(result.stderr)")
    }
    #expect(server.requests.isEmpty)
  }

  @Test func `a full disk ends the run`() throws {
    let result = try script("S --json --log /dev/full --journal j; echo $?; S -q --journal j; echo $?")
    // The record is printed all the same, and the journal has it.
    #expect(result.output.contains(#"/in/f"#) && result.output.hasSuffix("\n74\n0\n"), "\(result.output)")
    #expect(
      result.stderr.contains(
        "The file \"/dev/full\" of --log can't be written: No space left on device."), "\(result.stderr)")
    #expect(server.requests.count == 2)
  }

  @Test func `the file is made as the umask says, and links are followed`() throws {
    let result = try script(
      "umask 027; S -q --log log; stat -c %a log; ln -s log link; S -q --log link; stat -c %F link; wc -l < log")
    #expect(result.output == "640\nsymbolic link\n4\n", "\(result.stderr)")
  }
}
