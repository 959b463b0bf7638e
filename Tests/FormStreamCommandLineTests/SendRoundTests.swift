import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `send --journal`, again and again: each run sends what is new or has changed since.
@Suite struct SendRoundTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory
  /// The responses to files, by name.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    server = try ScriptedServer(byName: statuses)
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2 3 4; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` is the command that runs every night.
  private func night(_ script: String) throws -> Invocation {
    try shell("S() { $F send --retry 0 --journal j \"$@\" \(server.url) in; }; \(script)", in: place)
  }

  /// The names of the files that were sent since the last call, sorted.
  private func sent(since count: Int) -> [String] {
    server.sentFiles.dropFirst(count).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
  }

  @Test func `each night sends what is new or has changed, and counts the rest`() throws {
    let first = try night("S; S -q")
    #expect(first.exit == 0 && !first.stderr.contains("Round"), "\(first.stderr)")
    #expect(server.requests.count == 4)
    let second = try night(
      "echo new > in/f5; echo longer words > in/f1; touch in/f2; rm in/f3; S; S --json")
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(
      second.stderr.contains("Round 2: 1 new, 2 changed, 0 again; 1 unchanged, 1 gone."),
      "\(second.stderr)")
    #expect(sent(since: 4) == ["f1", "f2", "f5"])
    // The third night has nothing to do, and makes no files.
    #expect(
      second.output.contains(
        #""round":{"number":3,"new":0,"changed":0,"again":0,"unchanged":4,"gone":0},"resumed":false,"files":0,"#
      ), "\(second.output)")
    let left = try shell("ls j | grep -c manifest; ls j | grep -c journal", in: place)
    #expect(left.output == "2\n2\n")
    // A file that comes back is new, although another one of the same size and time may be the same.
    let third = try night("cp -p in/f4 kept; rm in/f4; S -q; mv kept in/f4; echo 3 > in/f3; S")
    #expect(
      third.stderr.contains("Round 4: 2 new, 0 changed, 0 again; 3 unchanged, 0 gone."),
      "\(third.stderr)")
    #expect(sent(since: 7) == ["f3", "f4"])
    let gone = try night("rm in/f4; S; $F report j")
    #expect(gone.stderr.contains("Round 5: 0 new, 0 changed, 0 again; 4 unchanged, 1 gone."), "\(gone.stderr)")
    // Files that are gone were sent all the same.
    #expect(gone.output == "5 files: 5 ok. 33 B accepted.\n5 manifests, 5 journals.\n")
  }

  /// Regression: a file of the same size and time counted as the one that was gone. A restored backup is one.
  @Test func `a file that comes back is new unless its change time or its contents prove it`() throws {
    let run = try night(
      """
      mkdir in/d; echo d > in/d/f; S -q --checksum
      mv in/d kept; cp -p in/f1 one; cp -p in/f2 two; rm in/f1 in/f2; S -q
      mv kept in/d; mv one in/f1; echo WORD 2 > in/f2; touch -r two in/f2; S --json; $F report j
      """)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains(#""new":1,"changed":0,"again":0,"unchanged":4,"gone":0"#), "\(run.output)")
    #expect(sent(since: 5) == ["f2"])
  }

  /// With the key of the earlier request, the server would take the file for the earlier one.
  @Test func `a file that comes back as a new one has another idempotency key`() throws {
    let run = try night("K() { S -q --idempotency-key auto; }; K; mv in/f1 one; K; mv one in/f1; K")
    #expect(run.exit == 0, "\(run.stderr)")
    let keys = server.requests.filter { SentFile(lastPartOf: $0)?.name == Array("f1".utf8) }
      .map { $0.header("Idempotency-Key") }
    #expect(keys.count == 2 && Set(keys).count == 2, "\(keys)")
  }

  @Test func `what was not accepted is in the next round, and marked only if it may have been`() throws {
    statuses.withLock { $0 = ["f1": 400, "f2": 503, "f3": 0] }
    let first = try night("S --json")
    #expect(first.exit == 3, "\(first.output)")
    statuses.withLock { $0 = [:] }
    let second = try night("S --json")
    #expect(second.exit == 0, "\(second.output)")
    #expect(second.output.contains(#""round":{"number":2,"new":0,"changed":0,"again":3,"unchanged":1,"gone":0}"#))
    #expect(sent(since: 4) == ["f1", "f2", "f3"])
    let marked = second.output.split(separator: "\n").filter { $0.contains(#""maybe_duplicate":true"#) }
    #expect(marked.count == 1 && marked[0].contains("in/f3"), "\(second.output)")
    // Nobody knows whether the server has f3 twice.
    let report = try night("$F report j; $F report --json --failed - j 2>/dev/null; true")
    #expect(report.output.hasPrefix("4 files: 4 ok."), "\(report.output)")
    #expect(report.output.contains("1 file accepted, and maybe twice."))
  }

  /// The key of a file that may have been accepted stays the same, so that the server can tell.
  @Test func `a file keeps its idempotency key over rounds`() throws {
    statuses.withLock { $0 = ["f3": 0] }
    #expect(try night("S -q --idempotency-key auto").exit == 3)
    #expect(try night("S -q --idempotency-key auto").exit == 3)
    statuses.withLock { $0 = [:] }
    let last = try night("S --json --idempotency-key auto; $F report j")
    #expect(last.exit == 0, "\(last.output)")
    #expect(last.output.contains(#""maybe_duplicate":false"#))
    let keys = server.requests.filter { SentFile(lastPartOf: $0)?.name == Array("f3".utf8) }
      .map { $0.header("Idempotency-Key") }
    #expect(keys.count > 2 && Set(keys).count == 1, "\(keys)")
  }

  @Test func `a run without keys marks what a run with keys may have sent`() throws {
    statuses.withLock { $0 = ["f3": 0] }
    #expect(try night("S -q --idempotency-key auto").exit == 3)
    statuses.withLock { $0 = [:] }
    let last = try night("S --json")
    #expect(last.output.contains(#""maybe_duplicate":true"#), "\(last.output)")
  }

  @Test func `a run that was ended goes on with its round, and then new ones begin`() throws {
    statuses.withLock { $0 = ["f1": 500] }
    let first = try night("S -q -j 1 --max-failures 1; echo new > in/f5")
    #expect(first.exit == 0)
    statuses.withLock { $0 = [:] }
    let count = server.requests.count
    let second = try night("S --json")
    #expect(second.output.contains(#""resumed":true"#), "\(second.output)")
    // The journal of the ended run has not gone through all files.
    #expect(server.requests.count > count)
    let third = try night("S; S")
    #expect(third.exit == 0, "\(third.stderr)")
    #expect(third.stderr.contains("Nothing is new: 5 files are as earlier runs sent them."))
    #expect(Set(sent(since: 0)) == ["f1", "f2", "f3", "f4", "f5"])
  }

  @Test func `contents are compared if that is wanted`() throws {
    #expect(try night("S -q --checksum").exit == 0)
    // The time of one is another, and the contents of one are others, with the same size and time.
    let second = try night(
      "touch in/f1; cp -p in/f2 time; echo WORD 2 > in/f2; touch -r time in/f2; S --checksum")
    #expect(
      second.stderr.contains("Round 2: 0 new, 1 changed, 0 again; 3 unchanged, 0 gone."),
      "\(second.stderr)")
    #expect(sent(since: 4) == ["f2"])
    // The first run in another directory computes no digests.
    let other = try shell(
      """
      S() { $F send --journal k "$@" \(server.url) in; }
      S -q; touch in/f1; S --checksum
      """, in: place)
    #expect(other.stderr.contains("3 unchanged files were compared by size and time"), "\(other.stderr)")
    #expect(other.stderr.contains("1 changed, 0 again; 3 unchanged"), "\(other.stderr)")
  }

  /// Regression: it counted as changed. If it could be read again when its turn came, it was sent again, without a mark.
  @Test(arguments: [
    ("pread64,preadv2", "EIO", "Input/output error"), ("openat,openat2", "EMFILE", "Too many open files"),
    ("openat,openat2", "EACCES", "Permission denied"),
  ])
  func `a file that can't be read for a while stays what it was`(_ calls: String, _ error: String, _ reason: String) throws {
    #expect(try night("S -q --checksum").exit == 0)
    // The server is overloaded, so the round is not finished, and the next run goes on with it.
    statuses.withLock { $0 = ["f1": 503] }
    let second = try night(
      """
      echo longer words > in/f1; f=$(realpath in/f2)
      F="strace -f -qq -o trace -e signal=none -P f2 -P $f -e trace=\(calls) -e inject=\(calls):error=\(error) $F"
      S --checksum -j 1 --max-failures 2
      """)
    #expect(second.stderr.contains("Round 2: 0 new, 1 changed, 1 again; 2 unchanged, 0 gone."), "\(second.stderr)")
    #expect(second.stderr.contains(reason), "\(second.stderr)")
    statuses.withLock { $0 = [:] }
    let third = try night("S -q --checksum; echo $?; S --checksum; $F report j")
    #expect(third.exit == 0 && third.stderr.contains("Round 3: 0 new, 0 changed, 0 again; 4 unchanged"), "\(third.stderr)")
    // A later version is not taken for one that the server may have.
    let last = try night("echo another word > in/f2; S --json --checksum")
    #expect(last.output.contains(#""changed":1,"again":0,"unchanged":3"#), "\(last.output)")
    #expect(!last.output.contains(#""maybe_duplicate":true"#), "\(last.output)")
    #expect(sent(since: 4).filter { $0 == "f2" }.count == 1)
  }

  /// Regression: a run that listed and compared files for seconds said "3 ms".
  @Test func `the seconds of a run are counted from its start`() throws {
    let run = try shell(
      """
      mkfifo list; S() { $F send --json --journal k --files-from list \(server.url); }
      ls -d in/* > list & S > first; (sleep 0.7; ls -d in/*) > list & S
      """, in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    let seconds = run.output.firstMatch(of: /"seconds":(?<seconds>[0-9.]+),"exit":0/)?.seconds
    #expect(seconds.flatMap { Double($0) } ?? 0 >= 0.7, "\(run.output)")
  }

  @Test func `all files are sent again if that is wanted`() throws {
    let sent = try night("S -q; S -q --all; S --all --json")
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.count == 12)
    #expect(!sent.output.contains(#""maybe_duplicate":true"#))
    #expect(sent.output.contains(#""again":4,"unchanged":0"#), "\(sent.output)")
  }

  @Test func `flags about rounds are for a recorded listing`() throws {
    for flag in ["--all", "--checksum", "--resume-only"] {
      for rest in ["in", "--journal j --manifest m"] {
        let run = try shell("$F send \(flag) http://127.0.0.1:1 \(rest)", in: place)
        #expect(run.exit == 64 && run.stderr.contains("\(flag) is about what"), "\(run.stderr)")
      }
    }
  }

  @Test func `what is in a directory that can't be listed is not gone`() throws {
    guard getuid() != 0 else {
      // The superuser can list each directory, so the directory is one that is nested too deep.
      let deep = Array(repeating: "d", count: 260).joined(separator: "/")
      let run = try night("S -q; mkdir -p in/\(deep); S; rm -r in/d; S")
      #expect(run.exit == 0, "\(run.stderr)")
      #expect(!run.stderr.contains("5 gone"))
      return
    }
    let run = try night("mkdir in/d; echo x > in/d/x; S -q; chmod 0 in/d; S; chmod 700 in/d; S")
    #expect(run.stderr.contains("4 unchanged, 0 gone."), "\(run.stderr)")
  }

  @Test func `two files of different rounds never go to one URL`() throws {
    let put = "$F send --journal p --put '\(server.url)/{name}' in"
    let first = try shell("\(put)", in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    let second = try shell("mkdir in/d; echo other > in/d/f1; \(put); ls p | grep -c manifest", in: place)
    #expect(second.stderr.contains("would both be sent to"), "\(second.stderr)")
    #expect(second.output == "1\n")
    #expect(server.requests.count == 4)
    // Each file has one index, whatever the round.
    let index = "$F send -q --journal i --put '\(server.url)/n/{index}' in"
    let third = try shell("rm -r in/d; \(index); echo 5 > in/f0; echo 1 > in/f1; \(index)", in: place)
    #expect(third.exit == 0, "\(third.stderr)")
    let targets = server.requests.dropFirst(4).map(\.target)
    #expect(targets.count == 6 && Set(targets).count == 5, "\(targets)")
  }

  /// Regression: sums of such numbers ended the program with a trap.
  @Test func `numbers that no run has written do no harm`() throws {
    let run = try night(
      """
      S -q; big=9223372036854775807; cp j/manifest.jsonl j/manifest-$big.jsonl; cp j/manifest.jsonl j/manifest-1$big.jsonl
      sed -i '1s/"listing"/"round":{"number":BIG,"new":BIG,"again":BIG},"listing"/; 2s/"size"/"index":BIG,"size"/' j/manifest.jsonl
      sed -i "s/BIG/$big/g" j/manifest.jsonl
      echo new > in/f5; S -q; echo $?; echo new > in/f6; S --json | tail -n 1
      """)
    #expect(run.output.hasPrefix("0\n"), "\(run.stderr)")
    #expect(run.output.contains(#""round":{"number":3,"new":1,"#), "\(run.output)")
    #expect(run.output.hasSuffix("\"exit\":0}\n"), "\(run.output)")
  }
}
