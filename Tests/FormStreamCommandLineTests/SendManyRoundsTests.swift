import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --journal` after hundreds of rounds.
@Suite struct SendManyRoundsTests {
  /// Makes the rounds from `$3` (2 if it is not given) up to `$1`, each as if a run had sent one more file: g2, g3 and so on. In the rounds that `$2` names, the
  /// file is b, and the server has refused it.
  private static let makeRounds = """
    rounds() {
      [ -n "$manifest" ] || manifest=$(head -n 1 j/manifest.jsonl) journal=$(head -qn 1 j/journal-*)
      first=$(grep -om 1 '"id":"[^"]*"' <<< "$manifest" | cut -d '"' -f 4)
      run=$(grep -o '"run":"[^"]*"' <<< "$journal" | cut -d '"' -f 4) last=${last:-$run}
      for n in $(seq "${3:-2}" "$1"); do
        printf -v id '00000000-0000-4000-8000-%012d' $n
        file=g$n size=1 time=5 outcome=ok
        case " $2 " in *" $n "*) file=b size=5 time=7000000000 outcome=failed;; esac
        head="${manifest/$first/$id}"
        head="${head%?},\\"round\\":{\\"number\\":$n},\\"journals\\":[\\"$last\\"]}"
        printf '%s\\n{"path":"%s","path_b64":null,"size":%s,"mtime_ns":%s}\\n' "$head" $file $size $time > j/manifest-$n.jsonl
        journal_head="${journal/$first/$id}"
        printf '%s\\n{"schema":"formstream.record/2","offset":%s,"size":%s,"mtime_ns":%s,"outcome":"%s"}\\n%s\\n' \\
          "${journal_head/"$run"/$id}" $((${#head} + 1)) $size $time $outcome '{"schema":"formstream.closed/1","complete":true}' \\
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
        state.jsonl sums up rounds 1 to 269: --deletable lists their files.
        1

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Round 301: 0 new, 0 changed, 0 again; 1 unchanged, 299 gone."), "\(run.stderr)")
    #expect(run.stderr.contains("Round 302: 1 new, 0 changed, 0 again; 1 unchanged, 0 gone."), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }

  @Test func `what a state sums up may be deleted, and is missed without the state`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      Self.makeRounds
        + """
        D() { $F report --deletable "$@"; }
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; rounds 70; D j 2>&1 | tail -n 1; S -q; $F report j > before
        D j 2> said | wc -l; cmp said before; D -0 j 2>&1 > list | grep -c needed; D -0 ./j ../$(basename "$PWD")/j 2> /dev/null | xargs -0 rm --
        $F report j | cmp - before; echo $?; ls j/manifest* | wc -l; D j 2> /dev/null | wc -l
        S; echo $?; echo other > in/g5; S -q; echo $?; $F report j; mv j/state.jsonl kept
        S -q; echo $?; $F report j; echo $?; $F plan --against j in; echo $?; D j; echo $?; mv kept j/state.jsonl
        cp j/state.jsonl kept; head -c -1 kept > j/state.jsonl; S -q; echo $?; mv kept j/state.jsonl
        $F report --manifest j/manifest-3.jsonl j; echo $?; $F plan -q --against j --against j -o m in; wc -l < m
        """, in: place)
    #expect(
      run.output == """
        Nothing may be deleted: there is no state.jsonl yet. A run that begins a round writes it after many rounds.
        78
        0
        0
        32
        0
        0
        0
        70 files: 70 ok. 79 B accepted.
        72 manifests, 72 journals.
        state.jsonl sums up rounds 1 to 39: --deletable lists their files.
        66
        66
        66
        66
        66
        66
        1

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Nothing is new: 1 file"), "\(run.stderr)")
    #expect(run.stderr.contains("put this file back"), "\(run.stderr)")
    #expect(run.stderr.contains("can't be used: it is damaged"), "\(run.stderr)")
    #expect(run.stderr.contains("only the report about all rounds has its files"), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }

  /// Only the lock of a journal without a last line says that its run is over.
  @Test func `without locks, nothing may be deleted while a run may go on`() throws {
    let server = try ScriptedServer { _ in .good() }
    let run = try shell(
      Self.makeRounds
        + """
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; rounds 70; S -q; other=11111111-1111-4111-8111-111111111111
        sed "s/$run/$other/; q" j/journal-*$run* > j/journal-all-$other.jsonl; $F report --deletable j 2> /dev/null | wc -l
        strace -f -qq -o /dev/null -e trace=flock -e inject=flock:error=EOPNOTSUPP $F report --deletable j 2>&1 | tail -n 1
        """, in: TemporaryDirectory(inMemory: true))
    #expect(
      run.output == """
        78
        Nothing may be deleted: the run of "j/journal-all-11111111-1111-4111-8111-111111111111.jsonl", which is of a round that is \
        summed up, goes on.

        """, "\(run.output) \(run.stderr)")
  }

  /// Regression: a list of failed files of a round that was summed up was not seen by the next round, which sent its files again,
  /// unmarked.
  @Test func `a list of failed files counts, although its round is summed up`() throws {
    let count = Guarded(0)
    // The second request is the one with which the night of the state sends b.
    let server = try ScriptedServer { _ in
      let number = count.withLock {
        $0 += 1
        return $0
      }
      return .good(number == 2 ? 422 : 200)
    }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      Self.makeRounds
        + """
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; echo abcd > in/b; touch -d @7 in/b; rounds 71 '20 71'
        $F report --manifest j/manifest-20.jsonl --failed list j > /dev/null; cp list late
        S -q; echo $?; ls j/state.jsonl; $F send -q --retry 0 --manifest list --journal j $U; echo $?
        S; echo $?; $F report j > before; echo $?; $F report --deletable j 2> /dev/null | xargs rm; $F report j | cmp - before
        S; echo $?; $F send -q --retry 0 --manifest late --journal j $U; echo $?; S; echo $?
        """, in: place)
    #expect(
      run.output == """
        1
        j/state.jsonl
        0
        0
        0
        0
        66
        0

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Nothing is new"), "\(run.stderr)")
    #expect(run.stderr.contains("make a new list of what is left"), "\(run.stderr)")
    #expect(server.requests.count == 3)
  }

  /// Regression: the directory counted as new, and a list whose journals can't be read was sent without them.
  @Test func `what can't be read is not taken for what is not there`() throws {
    let server = try ScriptedServer { _ in .good(400) }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      """
      mkdir in; echo word > in/f; S() { $F send -q --retry 0 "$@"; echo $?; }
      S --journal j --failed list \(server.url) in
      echo other > j/journal-x.jsonl; S --manifest list \(server.url)
      mkdir k; echo other > k/state.jsonl; S --journal k \(server.url) in
      """, in: place)
    #expect(run.output == "1\n66\n66\n", "\(run.output) \(run.stderr)")
    #expect(server.requests.count == 1)
  }

  /// Regression: the second state has no line about the list's round, so the list was sent outside the directory, and the next night
  /// sent its file again, unmarked.
  @Test func `a list of a deleted round is not sent without the journal`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      Self.makeRounds
        + """
        clean() { $F report --deletable -0 j 2> /dev/null | xargs -0 -r rm --; }
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; echo abcd > in/b; touch -d @7 in/b; rounds 71 20
        $F report --manifest j/manifest-20.jsonl --failed list j > /dev/null
        S -q; echo $?; clean; rounds 140 '' 73; S -q; echo $?; clean; grep -c '"round":20,' j/state.jsonl
        $F send -q --retry 0 --manifest list $U; echo $?; S; echo $?
        """, in: place)
    #expect(run.output == "0\n0\n0\n66\n0\n", "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Nothing is new"), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }

  /// A plan is compared with all that the journals say, and a manifest of `plan` may be of any time.
  @Test func `a manifest of plan beside the rounds keeps their files`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      Self.makeRounds
        + """
        D() { $F report --deletable j 2>&1; }
        U=\(server.url)/; mkdir in; echo word > in/f; S -q; rounds 70; S -q; D | wc -l
        echo one > one; $F plan -q -o m one; $F send -q --retry 0 --manifest m --journal j $U; echo $?; D | tail -n 1 | cut -d : -f 1
        $F plan -q --against j -o n in one; echo $?; wc -l < n; S; echo $?
        """, in: place)
    #expect(
      run.output == """
        81
        0
        Nothing may be deleted
        0
        1
        0

        """, "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("Nothing is new: 1 file"), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }
}
