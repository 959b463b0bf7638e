import FormStreamTestSupport
import Testing

/// `send --journal` after hundreds of rounds.
@Suite struct SendManyRoundsTests {
  /// Makes the rounds up to `$1`, each as if a run had sent one more file: g2, g3 and so on.
  private static let makeRounds = """
    rounds() {
      manifest=$(head -n 1 j/manifest.jsonl) journal=$(head -qn 1 j/journal-*)
      first=$(grep -om 1 '"id":"[^"]*"' <<< "$manifest" | cut -d '"' -f 4)
      run=$(grep -o '"run":"[^"]*"' <<< "$journal" | cut -d '"' -f 4) last=$run
      for n in $(seq 2 "$1"); do
        printf -v id '00000000-0000-4000-8000-%012d' $n
        head="${manifest/$first/$id}"
        head="${head%?},\\"round\\":{\\"number\\":$n},\\"journals\\":[\\"$last\\"]}"
        printf '%s\\n{"path":"g%s","path_b64":null,"size":1,"mtime_ns":5}\\n' "$head" $n > j/manifest-$n.jsonl
        journal_head="${journal/$first/$id}"
        printf '%s\\n{"schema":"formstream.record/2","offset":%s,"size":1,"mtime_ns":5,"outcome":"ok"}\\n%s\\n' \\
          "${journal_head/"$run"/$id}" $((${#head} + 1)) '{"schema":"formstream.closed/1","complete":true}' \\
          > j/journal-all-$id.jsonl
        last=$id
      done
    }
    S() { $F send --retry 0 --journal j "$@" $U in; }

    """

  /// Regression: each manifest was kept open, so a directory of journals stopped working at as many rounds as a process may have
  /// files open.
  @Test func `hundreds of rounds need no more open files than one`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      Self.makeRounds + """
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; rounds 300; ulimit -n 64
        S; echo other > in/new; S; $F report j; $F plan -q --against j -o m in; wc -l < m
        """, in: place)
    #expect(
      run.output == """
        301 files: 301 ok. 310 B accepted.
        302 manifests, 302 journals.
        1

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Round 301: 0 new, 0 changed, 0 again; 1 unchanged, 299 gone."), "\(run.stderr)")
    #expect(run.stderr.contains("Round 302: 1 new, 0 changed, 0 again; 1 unchanged, 0 gone."), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }
}
