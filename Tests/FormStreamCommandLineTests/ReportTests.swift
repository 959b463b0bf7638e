import FormStreamTestSupport
import Testing

/// `formstream report`: the exit code, the record and messages.
@Suite struct ReportTests {
  /// Makes a manifest of the files 1 to 4, and the function `journal NAME OUTCOME…` with an outcome for each file; `-` is
  /// none.
  private static let prepare = """
    mkdir t j; for n in 1 2 3 4; do echo > t/$n; done
    $F plan --sort -o m t 2> /dev/null
    id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
    journal() {
      name=$1; shift; n=0
      {
        echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":null,"url":"http://x/","boot":"b"}'
        for outcome; do
          n=$((n + 1)); [ "$outcome" = - ] && continue
          offset=$(grep -b '"path":"'$n'"' m | cut -d: -f 1)
          echo '{"schema":"formstream.started/1","offset":'$offset'}'
          [ "$outcome" = started ] && continue
          mark=false error=null
          [ "$outcome" = marked ] && outcome=ok mark=true
          [ "$outcome" = gone ] && outcome=failed error='{"code":"input-missing","message":"x"}'
          echo '{"schema":"formstream.record/1","offset":'$offset',"outcome":"'$outcome'","maybe_duplicate":'$mark',"error":'$error'}'
        done
        echo '{"schema":"formstream.closed/1"}'
      } > j/journal-$name.jsonl
    }

    """

  @Test(
    arguments: [
      ("journal a ok ok ok ok", 0), ("journal a ok ok ok -", 75),
      ("journal a ok ok ok retryable", 75),
      ("journal a ok ok retryable gone", 66), ("journal a ok gone retryable source-changed", 74),
      ("journal a gone failed source-changed retryable", 1), ("journal a failed unknown ok ok", 3),
      ("journal a ok ok ok started", 3), ("journal a ok ok ok marked", 3),
      ("journal a ok ok ok ok; journal b ok - - -", 1),
      ("journal a failed ok ok ok; journal b ok - - -", 0),
      ("journal a retryable ok ok ok; journal b skipped - - -", 75), ("true", 75),
    ] as [(String, Int32)])
  func `the exit code is that of the worst file`(_ line: String, exit: Int32) throws {
    let run = try shell(Self.prepare + line + "; $F report --manifest m j")
    #expect(run.exit == exit, "\(run.output) \(run.stderr)")
    let json = try shell(Self.prepare + line + "; $F report --json --manifest m j")
    #expect(json.exit == exit)
    #expect(json.output.hasSuffix("\"exit\":\(exit)}\n"))
  }

  @Test func `the report says how many files have each state`() throws {
    let run = try shell(
      Self.prepare + "journal a ok failed ok -; journal b ok started - -; rm j/x 2> /dev/null; "
        + "head -n -1 j/journal-b.jsonl > j/journal-c.jsonl; rm j/journal-b.jsonl; $F report --manifest m j"
    )
    #expect(
      run.output == """
        4 files: 2 ok, 1 unknown, 1 missing. 2 B accepted.
        2 journals, 1 of them from runs that were killed, or go on.
        1 file accepted twice or more.

        """)
    let json = try shell(
      Self.prepare
        + "journal a ok failed ok marked; $F report --json --shard 1/1 --manifest m j; sed \"s/$id/ID/\" /dev/null"
    )
    let record = try #require(json.output.split(separator: "\n").first)
    #expect(
      record.hasSuffix(
        #"","shard":"1/1","rounds":1,"journals":1,"open_journals":0,"damaged_journals":0,"listed":true,"files":4,"ok":3,"failed":1,"retryable":0,"unknown":0,"#
          + #""source_changed":0,"missing":0,"duplicates":0,"maybe_duplicates":1,"settled":0,"bytes":3,"exit":3}"#
      ))
  }

  @Test func `the rest is a manifest, which replaces an earlier one and no other file`() throws {
    let run = try shell(
      Self.prepare + """
        journal a ok started failed -
        $F report --manifest m --failed rest j > /dev/null; tail -n +2 rest | sed 's/"mtime_ns":[0-9]*/T/'
        $F report --manifest m --failed rest j > /dev/null; echo $?; cp m other; $F report --manifest m --failed other j; echo $?
        cmp m other; $F report --manifest m --failed - j 2> text | head -n 1 | grep -c manifest/1; head -n 1 text
        $F report --manifest rest j; $F report --manifest m --failed all j > /dev/null 2>&1; wc -l < all
        """)
    #expect(
      run.output == """
        {"path":"2","path_b64":null,"size":1,T,"maybe_duplicate":true}
        {"path":"3","path_b64":null,"size":1,T}
        {"path":"4","path_b64":null,"size":1,T}
        3
        74
        1
        4 files: 1 ok, 1 failed, 1 unknown, 1 missing. 1 B accepted.
        3 files: 1 unknown, 2 missing. 0 B accepted.
        0 journals.
        4

        """)
  }

  @Test(
    arguments: [
      (["report"], 64, "Name the directories"), (["report", "/"], 64, "There is no manifest"),
      (["report", "nosuch"], 66, "The directory \"nosuch\" does not exist."),
      (["report", "/", "nosuch"], 66, "The directory \"nosuch\" does not exist."),
      (["report", "/etc/passwd"], 66, "The path \"/etc/passwd\" is not a directory"),
      (["report", "--manifest", "m", "d"], 66, "The manifest \"m\" can't be read"),
      (["report", "--manifest", "/dev/null", "d"], 66, "is not a regular file"),
      (["report", "--manifest", "m", "--shard", "0/4", "d"], 64, "is not a part"),
      (["report", "--manifest", "m", "--shard", "5/4", "d"], 64, "is not a part"),
      (["report", "--manifest", "m", "--shard", "x", "d"], 64, "is not a part"),
      (["report", "--manifest", "m", "--shard", "1/2/3", "d"], 64, "is not a part"),
      (["report", "--manifest", "m", "--shard", "auto", "d"], 64, "needs --shards N"),
      (["report", "--manifest", "m", "--shards", "4", "d"], 64, "are for --shard auto"),
      (
        ["report", "--manifest", "m", "--shard", "1/4", "--shards", "5", "d"], 64,
        "different numbers"
      ),
      (
        ["report", "--manifest", "m", "--shard", "1/4", "--shard-base", "1", "d"], 64,
        "is for --shard auto"
      ),
      (["report", "--manifest", "m", "--shard", "auto", "--shards", "4", "d"], 64, "is not known"),
      (["report", "--manifest", "m", "--shards", "0", "d"], 64, "not a number from 1"),
      (
        ["report", "--manifest", "m", "--json", "--failed", "-", "d"], 64,
        "both go to standard output"
      ),
      (["report", "--manifest", "m", "--failed", "", "d"], 64, "needs the name of a file"),
      (["plan"], 64, "Name the files"),
      (["plan", "-"], 64, "reads only lists from standard input"),
      (["plan", "--include", "[", "."], 64, "The pattern \"[\""),
      (["plan", ""], 66, "does not exist"),
      (["plan", "--files-from", "missing"], 66, "The file \"missing\" can't be read"),
      (["plan", "--files-from", "-", "--files-from0", "-"], 64, "named twice"),
      (["plan", "/dev/null"], 66, "names something else"),
    ] as [([String], Int32, String)])
  func `a wrong command line is refused`(
    _ arguments: [String], exit: Int32, says: String
  ) throws {
    let run = try run("formstream", arguments)
    #expect(run.exit == exit)
    #expect(run.stderr.contains(says), "\(run.stderr)")
    #expect(run.output.isEmpty)
  }

  /// What the report does not see must not make it say that all is done.
  @Test(
    arguments: [
      // The run that lists the files was killed.
      (
        "journal a ok ok ok ok; mv m j/manifest.partial.jsonl; $F report j", 75,
        "Not all files are listed"
      ),
      // An editor has left out the last line feed.
      (
        "journal a ok ok ok -; truncate -s -1 m; $F report --manifest m j", 75,
        "4 files: 3 ok, 1 missing."
      ),
      (
        "journal a ok ok ok ok; sed -i '2,3s/.*/x/' j/journal-a.jsonl; journal b ok ok ok ok; "
          + "sed -i 4,10d j/journal-b.jsonl; $F report --manifest m j", 3,
        "lines that can't be read"
      ),
      (
        "journal a ok ok ok ok; sed -i 1d j/journal-a.jsonl; $F report --manifest m j", 66,
        "does not begin like one"
      ),
      ("journal a ok ok ok ok; cp -r j k; $F report --manifest m j k ./j", 0, "1 journal."),
      (
        "journal a ok ok ok -; cp -r j k; journal a ok ok ok ok; $F report --manifest m j k", 0,
        "4 files: 4 ok"
      ),
      (
        "journal a ok ok ok ok; export ASAN_OPTIONS=detect_leaks=0; strace -qq -o trace -e trace=getdents64 -e inject=getdents64:error=EIO "
          + "$F report --manifest m j", 66, "Input/output error"
      ),
    ] as [(String, Int32, String)])
  func `what the report can't see is not taken for accepted`(
    _ line: String, exit: Int32, says: String
  ) throws {
    let run = try shell(Self.prepare + line)
    #expect(run.exit == exit, "\(run.output) \(run.stderr)")
    #expect((run.output + run.stderr).contains(says), "\(run.output) \(run.stderr)")
  }

  @Test func `the rest of a run that was killed is marked, as the run itself would be`() throws {
    let run = try shell(
      Self.prepare + """
        journal a ok failed - -; sed -i '$d' j/journal-a.jsonl
        $F report --manifest m --failed rest j > /dev/null; grep -c '"maybe_duplicate":true' rest
        sed -i 's/"boot":"b"/"boot":"'$(cat /proc/sys/kernel/random/boot_id)'"/' j/journal-a.jsonl
        $F report --manifest m --failed rest2 j > /dev/null; grep -c '"maybe_duplicate":true' rest2
        """)
    // Without another start of the system, no line is lost.
    #expect(run.output == "3\n1\n", "\(run.stderr)")
  }

  @Test
  func
    `the scheduler's number that no shard has is refused, with the shard that would not be sent`()
    throws
  {
    let run = try shell(
      Self.prepare
        + "SLURM_ARRAY_TASK_ID=4 $F report --manifest m --shard auto --shards 4 j; echo $?")
    #expect(run.output == "64\n")
    #expect(run.stderr.contains("shard 1 would not be sent"))
  }
}
