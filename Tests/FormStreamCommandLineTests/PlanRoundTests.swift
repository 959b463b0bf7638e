import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `plan --against`: the manifest of a round for shards.
@Suite struct PlanRoundTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    // The third file is refused once.
    let isRefused = Guarded(false)
    server = try ScriptedServer { _ in
      [
        .readBody,
        .decide { request in
          guard SentFile(lastPartOf: request)?.name == Array("f3".utf8) else { return [.respond(200)] }
          return isRefused.withLock { isRefused in
            defer { isRefused = true }
            return [.respond(isRefused ? 200 : 400)]
          }
        },
      ]
    }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2 3 4; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `shards N` sends manifest N in two shards, and `plan N` makes it.
  private func night(_ script: String) throws -> Invocation {
    try shell(
      """
      shards() { for k in 1 2; do
        $F send -j 1 --retry 0 --manifest m$1 --shard $k/2 --journal j \(server.url) || true; done; }
      plan() { $F plan --against j -o m$1 "${@:2}" in; }
      \(script)
      """, in: place)
  }

  @Test func `a manifest has what the journals of shards don't prove sent`() throws {
    let run = try night(
      """
      $F plan -q --sort -o m1 in; shards 1 2> /dev/null; echo new > in/f5; echo changed > in/f1; rm in/f4
      plan 2; shards 2 2> /dev/null; plan 3; cat m2
      """)
    let lines = run.output.split(separator: "\n")
    try #require(lines.count == 5, "\(run.output) \(run.stderr)")
    #expect(
      lines[0].hasSuffix(
        #""round":{"number":2,"new":1,"changed":1,"again":1,"unchanged":1,"gone":1}}"#), "\(lines[0])")
    #expect(lines[1].contains(#""path":"f1""#))
    // What was refused keeps the key of its first record.
    #expect(lines[2].contains("\"key_record\":{\"manifest\":"))
    #expect(lines[3] == #"{"path":"f4","path_b64":null,"gone":true}"#)
    #expect(lines[4].contains(#""path":"f5""#))
    #expect(server.requests.count == 7)
    #expect(
      run.stderr.contains("Round 3: 0 new, 0 changed, 0 again; 4 unchanged, 0 gone.\nformstream: 0 files, 0 B."),
      "\(run.stderr)")
  }

  @Test func `a manifest that was moved can be named`() throws {
    let moved = try night(
      "$F plan -q -o m1 in; shards 1 2> /dev/null; mv m1 moved; plan 2; echo $?; plan 2 --against moved; echo $?")
    #expect(moved.output == "66\n0\n", "\(moved.stderr)")
    #expect(moved.stderr.contains("is not at \"\(place.path)/m1\" any more"), "\(moved.stderr)")
    #expect(moved.stderr.contains("Round 2: 0 new, 0 changed, 1 again; 3 unchanged, 0 gone."))
  }

  @Test func `details are those of the files in the round, and contents are compared`() throws {
    let run = try night(
      """
      $F plan -q --sort --with-sha256 -o m1 in; shards 1 2> /dev/null
      touch in/f*; cp -p in/f2 kept; echo WORD 2 > in/f2; touch -r kept in/f2
      plan 2 --checksum --with-type; tail -n +2 m2 | grep -c text/plain; $F plan --checksum in
      """)
    // What has changed, and what was refused.
    #expect(run.output == "2\n", "\(run.stderr)")
    #expect(run.stderr.contains("0 new, 1 changed, 1 again; 2 unchanged, 0 gone."), "\(run.stderr)")
    #expect(run.stderr.contains("--checksum compares with what journals say: add --against DIR."))
  }
}
