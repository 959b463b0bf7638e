import Foundation
import FormStreamTestSupport
import Testing

/// `formstream plan`: what is listed, the manifest, messages and exit codes.
@Suite struct PlanTests {
  private static func root(_ line: some StringProtocol) -> String? {
    let id = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    let header = try? Regex(
      #"\{"schema":"formstream.manifest/1","id":"\#(id)","root":"([^"]*)","root_b64":null(?:,"one_root":true)?\}"#
    )
    return header.flatMap { try? $0.wholeMatch(in: String(line)) }?[1].substring.map(String.init)
  }

  /// The paths of a manifest, without its first line.
  private func paths(_ manifest: String) -> [String] {
    let named = /\{"path":"(?<path>[^"]*)"/
    return manifest.split(separator: "\n").dropFirst().compactMap { line in
      line.firstMatch(of: named).map { String($0.path) }
    }
  }

  private func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell(
      "mkdir -p d/e; echo a > d/b; echo ab > d/e/c; echo > d/.hidden; ln -s b d/link", in: place)
    return place
  }

  @Test func `a manifest names the files of a directory, below it`() throws {
    let run = try shell("touch -d @1.5 d/b; $F plan --sort d", in: place())
    #expect(run.exit == 0, "\(run.stderr)")
    let lines = run.output.split(separator: "\n")
    #expect(Self.root(lines[0])?.hasSuffix("/d") == true)
    #expect(lines[1] == #"{"path":"b","path_b64":null,"size":2,"mtime_ns":1500000000}"#)
    #expect(paths(run.output) == ["b", "e/c"])
    #expect(
      run.stderr == """
        formstream: 1 hidden name left out; --hidden lists them.
        formstream: 1 symbolic link left out; --follow-symlinks follows them.
        formstream: 2 files, 5 B.

        """)
  }

  @Test func `patterns that match nothing are named, and -q prints no notes`() throws {
    let command = "plan --include b --include '*.jpgg' --include '*.png' d > m"
    let run = try shell("$F \(command)", in: place())
    #expect(run.exit == 0)
    #expect(
      run.stderr.hasPrefix(
        """
        formstream: No file matches --include "*.jpgg".
        formstream: No file matches --include "*.png".

        """), "\(run.stderr)")
    #expect(try shell("$F \(command) -q", in: place()).stderr.isEmpty)
    let named = try shell("$F plan --include 'b*' d/b > m", in: place())
    #expect(!named.stderr.contains("No file matches"), "\(named.stderr)")
  }

  @Test func `several sources are below the current directory`() throws {
    let run = try shell(
      "printf 'd/e/c\\0./d/b\\0' | $F plan d/b d/e --files-from0 - | tee m; pwd", in: place())
    // What is after the first marker is kept where files are sent.
    #expect(paths(run.output) == ["d/./b", "d/./e/./c"])
    let root = try #require(Self.root(run.output.prefix { $0 != "\n" }))
    #expect(run.output.hasSuffix("\(root)\n"))
  }

  @Test func `a manifest is written completely or not at all, and replaces nothing`() throws {
    let place = try place()
    let made = try formstream("plan", "-o", "m", "d", in: place)
    #expect(made.exit == 0)
    #expect(made.output.isEmpty)
    let before = try Data(contentsOf: URL(filePath: place.path("m")))
    let again = try formstream("plan", "-o", "m", "d", in: place)
    #expect(again.exit == 74)
    #expect(
      again.stderr
        == "formstream: The file \"m\" exists already, and is not replaced: choose another name.\n")
    #expect(try Data(contentsOf: URL(filePath: place.path("m"))) == before)

    let failed = try formstream("plan", "-o", "n", "d", "missing", in: place)
    #expect(failed.exit == 66)
    #expect(!FileManager.default.fileExists(atPath: place.path("n")))
    let link = try shell("ln -s m l; $F plan -o l d", in: place)
    #expect(link.exit == 74)
  }

  @Test func `a manifest that has its name is on the disk`() throws {
    let run = try shell(
      "strace -f -qq -e trace=fsync,linkat,renameat2 $F plan -o m d 2>&1 | grep -o 'fsync(\\|\"m\"'",
      in: place())
    #expect(run.output == "fsync(\n\"m\"\n", "\(run.stderr)")
  }

  @Test func `a file that takes the name in the meantime stays`() throws {
    let run = try shell(
      """
      mkfifo list; $F plan -o m --files-from list & exec 3> list
      until \(hasBegunFile); do :; done
      echo other > m; exec 3>&-; wait $!; echo $?; cat m
      """, in: place())
    #expect(run.output == "74\nother\n")
    #expect(run.stderr.contains("The file \"m\" could not be given its name"))
  }

  @Test func `what can't be sent is in the manifest, and the exit code says so`() throws {
    let place = try place()
    let named = try formstream("plan", "d/b", "missing", in: place)
    #expect(named.exit == 66)
    #expect(named.output.isEmpty)
    #expect(named.stderr == "formstream: The file \"missing\" does not exist. Check the path.\n")

    let kept = try formstream("plan", "--keep-going", "d/b", "missing", in: place)
    #expect(kept.exit == 66)
    #expect(paths(kept.output) == ["d/./b", "missing"])
    #expect(kept.output.contains(#""size":null,"mtime_ns":null,"error":{"code":"input-missing","#))

    let listed = try shell(
      "mkfifo p; printf 'missing\\nd/link\\np\\nd\\n../no-such\\na/../../b\\nd/b\\n' | $F plan --files-from -",
      in: place)
    #expect(listed.exit == 66)
    let codes = listed.output.matches(of: /"code":"(?<code>[a-z-]*)"/).map { String($0.code) }
    #expect(
      codes == ["input-missing", "not-a-file", "not-a-file", "input-missing", "outside-root"])
    #expect(listed.stderr.contains("1 directory of a list left out"))
    #expect(listed.stderr.contains("6 files, 2 B, of which 5 can't be sent, see above."))
  }

  @Test(
    arguments: [
      ("printf 'd/b\\r\\n' | $F plan --files-from -", "The path ends with a carriage return"),
      ("printf '\\xEF\\xBB\\xBFd/b\\n' | $F plan --files-from -", "begins with a byte order mark"),
      ("printf 'd/b\\0d/e/c\\0' | $F plan --files-from -", "has a NUL in it"),
      ("printf 'd/b\\nd/e/c\\n' | $F plan --files-from0 -", "has a line break in it"),
      ("$F plan --files-from d", "is a directory: name a file that lists paths."),
      ("$F plan --files-from - < d", "is a directory: name a file that lists paths."),
      // A record of this would be longer than a line may be.
      (
        "head -c 100000 /dev/zero | tr '\\0' '\\1' | $F plan --files-from -",
        "of more than 16384 bytes"
      ),
    ])
  func `a list of another kind is recognized`(_ line: String, _ says: String) throws {
    let run = try shell(line, in: place())
    #expect(run.exit == 66, "\(run.stderr)")
    #expect(run.stderr.contains(says), "\(run.stderr)")
  }

  @Test func `types and digests are those of the files`() throws {
    let run = try shell(
      "$F plan --sort --with-type --with-sha256 d | tail -n +2 | sed 's/\"mtime_ns\":[0-9]*/T/'",
      in: place())
    #expect(
      run.output == """
        {"path":"b","path_b64":null,"size":2,T,"type":"text/plain",\
        "sha256":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"}
        {"path":"e/c","path_b64":null,"size":3,T,"type":"text/plain",\
        "sha256":"a63d8014dba891345b30174df2b2a57efbb65b4f9f09b98f245d1b3192277ece"}

        """)
    let without = try shell("$F plan --sniff none d", in: place())
    #expect(without.exit == 64)
    #expect(without.stderr.contains("are for --with-type"))
  }

  @Test func `many messages are cut short`() throws {
    let run = try shell("seq 100 | $F plan --files-from - 2>&1 > /dev/null", in: place())
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 12)
    #expect(lines[10] == "formstream: More entries can't be sent; the manifest names them.")
  }

  @Test func `names are bytes`() throws {
    let run = try shell(
      "mkdir n; cd n; for name in $'\\xFF' $'a\\nb' -rf 'a \"b\"' '*' ';' '@x' '<y'; do echo > \"./$name\"; done; "
        + "$F plan --sort .", in: place())
    #expect(run.exit == 0)
    #expect(
      run.output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != "," } }
        == [
          #"{"path":"*""#, #"{"path":"-rf""#, #"{"path":";""#, #"{"path":"<y""#, #"{"path":"@x""#,
          #"{"path":"a\nb""#, #"{"path":"a \"b\"""#, "{\"path\":\"\u{FFFD}\"",
        ].map { $0[...] })
    #expect(run.output.contains(#""path_b64":"/w==""#))
  }

  @Test func `the first files of a directory are written before the last are found`() throws {
    let place = try TemporaryDirectory(inMemory: true)
    let run = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      for d in $(seq 200); do mkdir -p t/$d; (cd t/$d; touch $(seq 40)); done
      strace -f -o trace -e trace=getdents64,write $F plan t > m || exit
      grep -n getdents64 trace | wc -l
      first=$(grep -n 'write(1' trace | head -n 1 | cut -d: -f 1); head -n "$first" trace | grep -c getdents64
      """, in: place)
    let counts = run.output.split(separator: "\n").compactMap { Int($0) }
    try #require(counts.count == 2, "\(run.stderr)")
    // The manifest is written in pieces of 64 KiB: of about 900 files.
    #expect(counts[1] * 5 < counts[0])
  }

  @Test(.enabled(if: sanitizer == nil)) func `memory does not grow with the number of files`()
    throws
  {
    let place = try TemporaryDirectory(inMemory: true)
    _ = try shell(
      """
      mkdir few; (cd few; touch $(seq 100))
      for d in $(seq 100); do mkdir -p many/$d; (cd many/$d; touch $(seq 1000)); done
      """, in: place)
    // A child begins with a copy of its parent's memory, which the system counts in the child's peak: Python's is small.
    let run = try shell(
      """
      for files in few many; do
        python3 -c 'import resource, subprocess, sys
      subprocess.run(sys.argv[1:], check=True)
      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$F" plan -o /dev/null $files
      done
      """, in: place)
    #expect(run.stderr.contains("100000 files"))
    let peaks = run.output.split(separator: "\n").compactMap { Int($0) }
    try #require(peaks.count == 2, "\(run.stderr)")
    #expect(peaks[1] - peaks[0] < 2048)
  }

  @Test func `a manifest is sorted by the bytes of its paths`() throws {
    let run = try shell(
      "seq 2000 | shuf > l; $F plan --sort --files-from l 2> /dev/null | tail -n +2 | cut -d '\"' -f 4 > m; "
        + "wc -l < m; LC_ALL=C sort -c m && echo sorted", in: place())
    #expect(run.output == "2000\nsorted\n")
  }
}
