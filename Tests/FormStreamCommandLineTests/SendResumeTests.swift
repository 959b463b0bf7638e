import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --journal`: what a second run may conclude from the directory of the first one, and what it may not.
@Suite struct SendResumeTests {
  private let place: TemporaryDirectory

  /// Makes the files `in/f01` to `in/f10`.
  init() throws {
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 0{1..9} 10; do echo $n > in/f$n; done", in: place)
  }

  private func records(_ output: String, with text: String = "") -> Int {
    output.split(separator: "\n").count {
      $0.contains("formstream.record/2") && $0.contains(text)
    }
  }

  private func requests(_ server: ScriptedServer, with text: String) -> Int {
    server.requests.count { String(decoding: $0.body, as: UTF8.self).contains(text) }
  }

  /// Regression: three attempts were made, although the help of `--resumable` says five.
  @Test(arguments: [("--resumable=http", 5), ("--resumable=http --retry 1", 2), ("", 3)])
  func `a resumable upload has five attempts, if --retry says nothing else`(_ flags: String, _ attempts: Int) throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(503, headers: [("Retry-After", "0")])] }
    let result = try shell("$F send -q \(flags) \(server.url) in/f01; echo $?", in: place)
    #expect(result.output == "75\n", "\(result.stderr)")
    #expect(server.requests.count == attempts)
  }

  /// Shards of an array run on several machines at the same time, and each sees the journals of the others, without ends.
  @Test func `a run of another shard on another machine makes no file of this one doubtful`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      $F plan --sort -o m in 2> /dev/null; mkdir j
      id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
      echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":"1/2","url":"\(server.url)/","boot":"x"}' > j/journal-1.jsonl
      echo '{"schema":"formstream.started/1","offset":100}' >> j/journal-1.jsonl
      $F send --json --manifest m --journal j --shard 2/2 \(server.url)
      """, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    let sent = records(result.output)
    #expect((3...7).contains(sent))
    #expect(records(result.output, with: "\"maybe_duplicate\":false") == sent)
    let other = try shell(
      "$F send --json --manifest m --journal j --shard 1/2 \(server.url)", in: place)
    #expect(records(other.output, with: "\"maybe_duplicate\":true") == 10 - sent)
  }

  /// The server does not know the key of a request that had none.
  @Test func `with an idempotency key, a file of a run without one is still a possible duplicate`()
    throws
  {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .reset] : .good()
    }
    let line = "$F send --json --retry 0 -j 1 --journal j \(server.url) in"
    let first = try shell(line, in: place)
    #expect(first.exit == 3, "\(first.stderr)")
    let second = try shell("\(line) --idempotency-key auto", in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(records(second.output) == 1)
    #expect(records(second.output, with: "\"maybe_duplicate\":true") == 1)
  }

  @Test(arguments: ["other", "in other", "in --hidden", "in --exclude 'f*'", "--files-from list"])
  func `the journals of other files are not taken for those of this run`(_ sources: String) throws {
    let server = try ScriptedServer { _ in .good() }
    _ = try shell("mkdir other; echo x > other/x; echo in/f01 > list", in: place)
    let first = try shell("$F send --journal j \(server.url) in", in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    let second = try shell("$F send --journal j \(server.url) \(sources)", in: place)
    #expect(second.exit == 64, "\(second.stderr)")
    #expect(second.stderr.contains("the journals of another listing"), "\(second.stderr)")
    // What the message says to do.
    let again = try shell(
      "$F send --journal j --manifest j/manifest.jsonl \(server.url)", in: place)
    #expect(again.exit == 0, "\(again.stderr)")
    #expect(server.requests.count == 10)
  }

  @Test(arguments: ["", "{\"schema\":\"formstream.mani"])
  func `a run that was killed before the manifest had its first line can be continued`(
    _ begun: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    _ = try shell("mkdir j; printf '%s' '\(begun)' > j/manifest.partial.jsonl", in: place)
    let result = try shell("$F send --journal j \(server.url) in", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.count == 10)
  }

  /// The system ended, and took lines of the manifest with it that the journal already mentions. Then other files are
  /// listed, whose lines would be at the same places.
  @Test func `a file is not taken for accepted because one was whose line the system has lost`()
    throws
  {
    let server = try ScriptedServer { _ in .good() }
    let first = try shell("$F send --journal j \(server.url) in", in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    let second = try shell(
      """
      head -n 4 j/manifest.jsonl > j/manifest.partial.jsonl; rm j/manifest.jsonl
      sed -i -e 's/"boot":"[^"]*"/"boot":"x"/' -e '/closed/d' j/journal-*
      for n in 0{1..9} 10; do mv in/f$n in/g$n; done
      $F send --json --journal j \(server.url) in
      """, in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(records(second.output, with: "/g") == 10)
    #expect(records(second.output, with: "\"maybe_duplicate\":true") == 10)
    #expect(requests(server, with: "filename=\"g") == 10)
    let report = try shell("$F report --json j", in: place)
    #expect(report.output.contains("\"files\":13,\"ok\":13,"), "\(report.output)")
  }

  @Test func `a file has the same values in each run`() throws {
    let isRepaired = Guarded(false)
    let server = try ScriptedServer { _ in
      [.readBody, .decide { _ in [.respond(isRepaired.withLock { $0 } ? 200 : 400)] }]
    }
    let line = "$F send --journal j --filename '{path} {relative} {index}' \(server.url) in"
    #expect(try shell(line, in: place).exit == 1)
    isRepaired.withLock { $0 = true }
    #expect(try shell(line, in: place).exit == 0)
    let names = server.sentFiles.map { String(decoding: $0.name, as: UTF8.self) }
    #expect(names.count == 20)
    #expect(Set(names.prefix(10)) == Set(names.suffix(10)), "\(names)")
  }

  @Test func `two runs don't list files into one manifest at the same time`() throws {
    let sent = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .open(sent), .respond(200)] }
    _ = try shell("mkfifo list", in: place)
    let first = try RunningProgram(
      program: "/bin/bash",
      rawArguments: [
        Array("-c".utf8),
        Array(
          """
          \(builtBinary("formstream")) send -q --journal j \(server.url) --files-from list & pid=$!
          exec 3> list; echo in/f01 >&3; until [ -e over ]; do sleep 0.1; done
          echo in/f02 >&3; exec 3>&-; wait $pid
          """.utf8),
      ], in: place)
    #expect(sent.wait())
    let second = try shell(
      "$F send --journal j \(server.url) --files-from list; code=$?; touch over; exit $code",
      in: place)
    #expect(second.exit == 75, "\(second.stderr)")
    #expect(second.stderr.contains("Another run writes the manifest"), "\(second.stderr)")
    #expect(try first.wait().exit == 0)
    #expect(server.requests.count == 2)
    #expect(try shell("wc -l < j/manifest.jsonl", in: place).output == "3\n")
  }

  @Test func `the journals are not sent with the directory that they are in`() throws {
    let server = try ScriptedServer { _ in .good() }
    for _ in 0..<2 {
      let result = try shell("cd in; $F send --journal journals \(server.url) .", in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.requests.count == 10)
    }
    let same = try shell("cd in; $F send --journal . \(server.url) .", in: place)
    #expect(same.exit == 64)
    #expect(same.stderr.contains("is that of the journals"), "\(same.stderr)")
    #expect(server.requests.count == 10)
  }

  @Test func `a file that was missing when it was listed is sent as soon as it is there`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      printf 'in/f01\\nlate\\nlink\\n' > list; ln -s in/f02 link
      $F send -q --journal j \(server.url) --files-from list > /dev/null 2>&1; echo $?
      echo late > late
      $F send -q --journal j \(server.url) --files-from list > /dev/null 2>&1; echo $?
      printf 'later\\n' | $F plan --files-from - -o m 2> /dev/null; mkdir k; echo later > later
      $F report --manifest m --failed rest k > /dev/null; $F send -q --manifest rest \(server.url); echo $?
      """, in: place)
    // The link is one that is not followed, and stays so.
    #expect(result.output == "66\n66\n0\n", "\(result.stderr)")
    #expect(
      server.sentFiles
        == [SentFile("f01", "01\n"), SentFile("late", "late\n"), SentFile("later", "later\n")])
  }

  @Test func `a manifest that was changed after a run is refused`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      $F plan --sort -o m in 2> /dev/null
      $F send -q --manifest m --journal j \(server.url) && sed -i 2d m
      $F send --manifest m --journal j \(server.url); echo $?; $F report --manifest m j; echo $?
      """, in: place)
    #expect(result.output == "66\n66\n")
    #expect(result.stderr.contains("must never change"), "\(result.stderr)")
    #expect(server.requests.count == 10)
  }

  @Test func `a manifest that is not complete is not sent as one that is`() throws {
    let result = try shell(
      """
      $F plan -o manifest.partial.jsonl in
      $F send --manifest manifest.partial.jsonl --journal j http://127.0.0.1:1/
      """, in: place)
    #expect(result.exit == 66)
    #expect(result.stderr.contains("is not complete"), "\(result.stderr)")
  }

  @Test(arguments: ["--include 'f01'", "--exclude 'f01'", "--hidden", "--keep-going"])
  func `a flag about listing is not ignored if a manifest names the files`(_ flag: String) throws {
    let result = try shell(
      "$F plan -o m in; $F send --manifest m \(flag) http://127.0.0.1:1/", in: place)
    #expect(result.exit == 64)
    #expect(result.stderr.contains("give them to plan"), "\(result.stderr)")
  }

  /// Whoever can write to the directory can give his own file the size and time of another one.
  @Test func `an absolute path that has become a link is not followed`() throws {
    let server = try ScriptedServer { _ in .good() }
    let prepare = """
      echo secret > secret; echo public > x; touch -d @1 secret x
      echo "$PWD/x" | $F plan --files-from - -o m; rm x; ln -s secret x

      """
    let result = try shell(prepare + "$F send --json --manifest m \(server.url)", in: place)
    #expect(result.exit == 74, "\(result.output)")
    #expect(result.output.contains("\"outcome\":\"source-changed\""), "\(result.output)")
    #expect(result.output.contains("it is a link, and links are not followed"))
    #expect(server.requests.isEmpty)
    let followed = try shell("$F send --follow-symlinks --manifest m \(server.url)", in: place)
    #expect(followed.exit == 0, "\(followed.stderr)")
    #expect(server.sentFiles == [SentFile("x", "secret\n")])
  }

  @Test func `the last line of a journal is written when all others are on the disk`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      """
      strace -f -qq -o trace -s 40 -e trace=write,fsync,connect $F send -q -j 1 --journal j \(server.url) in
      grep -o 'fsync\\|connect(.*AF_INET\\|formstream.[a-z]*/[0-9]*' trace | sed 's/(.*//' | uniq
      """, in: place)
    let lines = result.output.split(separator: "\n")
    // Of the manifest and of the directory; then of the journal.
    #expect(
      lines.prefix(4) == [
        "formstream.manifest/1", "fsync", "formstream.journal/1", "fsync",
      ], "\(result.output)")
    #expect(lines.suffix(4) == ["formstream.record/2", "fsync", "formstream.closed/1", "fsync"])
  }
}
