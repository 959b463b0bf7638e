import FormStreamTestSupport
import Testing

/// Flags of `plan` and `report`: each one in the help is run here and must have its effect.
@Suite struct PlanFlagTests {
  /// A line of shell with the flag, and what must be in the output because of it.
  private static let effects: [String: (line: String, output: String)] = [
    "plan files-from": ("$F plan --files-from list", "\"path\":\"t/a.txt\""),
    "plan files-from0": ("$F plan --files-from0 list0", "\"path\":\"t/a.txt\""),
    "plan include": ("$F plan --include '*.txt' t | grep -c path", "1\n"),
    "plan exclude": ("$F plan --exclude '*.txt' --exclude d/ t | grep -c path", "1\n"),
    "plan hidden": ("$F plan --hidden t", "\"path\":\".h\""),
    "plan follow-symlinks": ("$F plan --follow-symlinks t", "\"path\":\"link\""),
    "plan keep-going": ("$F plan --keep-going missing t; echo $?", "\"path\":\"././t/./a.txt\""),
    "plan sort": ("$F plan --sort t | grep -o '\"[a-c][^\"]*\"' | tr -d '\\n'", "\"a.txt\"\"b\""),
    "plan with-type": ("$F plan --with-type t", "\"type\":\"application/octet-stream\""),
    "plan with-sha256": (
      "$F plan --with-sha256 t",
      "\"sha256\":\"01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b\""
    ),
    "plan sniff": ("$F plan --with-type --sniff extension t", "\"type\":\"text/plain\""),
    "plan type-for": ("$F plan --with-type --type-for '*.txt=a/b' t", "\"type\":\"a/b\""),
    "plan charset": ("$F plan --with-type --charset words", "text/plain; charset=us-ascii"),
    "plan magic-file": ("$F plan --with-type --magic-file missing t 2>&1", "\"missing\""),
    "plan against": ("$F plan --against m t 2>&1 > /dev/null", "Round 2: 0 new, 0 changed, 3 again; 0 unchanged, "),
    "plan checksum": ("$F plan --checksum t 2>&1", "add --against DIR"),
    "plan at-least": ("$F plan --at-least 4 t 2>&1", "There are only 3 files, and --at-least is 4: nothing is sent."),
    "plan quiet": ("$F plan -q -o m3 t 2>&1; echo $?; ls m3", "0\nm3\n"),
    "plan output": ("$F plan -o m2 t && head -n 1 m2", "formstream.manifest/1"),
    "report manifest": ("$F report --manifest m j; echo $?", "3 files: 2 ok, 1 missing."),
    "report shard": ("$F report --manifest m --shard 1/1 j", "3 files"),
    "report shards": (
      "JOB_COMPLETION_INDEX=0 $F report --manifest m --shard auto --shards 1 j", "3 files"
    ),
    "report shard-base": (
      "SLURM_ARRAY_TASK_ID=1 $F report --manifest m --shard auto --shards 1 --shard-base 1 j",
      "3 files"
    ),
    "report failed": ("$F report --manifest m --failed rest j; cat rest", "\"path\":\"d/c\""),
    "report html": ("$F report --manifest m --html page j; cat page", "/d/c</th><td>missing</td>"),
    "report failures": ("$F report --manifest m --failures j", "t/d/c\tmissing\t\tNo journal has a result for it.\n"),
    "report accepted": ("cd t; echo $($F report --manifest ../m --accepted ../j)", "t/a.txt "),
    "report deletable": ("$F report --manifest m --deletable j 2>&1", "--deletable is about all rounds"),
    "report null": ("$F report --manifest m --accepted -0 j | tr '\\0' '|'", "t/a.txt|"),
    "report settle": ("$F report --manifest m --settle --json j", "\"settled\":0"),
    "report json": ("$F report --manifest m --json j", "\"schema\":\"formstream.report/1\""),
  ]

  @Test func `every flag in the help is run here`() throws {
    let known = try ["plan", "report"].flatMap { verb in
      try flags(inHelpOf: verb).map { "\(verb) \($0)" }
    }
    #expect(Set(known) == Set(Self.effects.keys))
  }

  @Test(arguments: effects.keys.sorted())
  func `each flag has its effect`(_ flag: String) throws {
    let (line, output) = try #require(Self.effects[flag])
    let prepare = """
      mkdir -p t/d j; echo words > words; echo > t/a.txt; echo > t/b; echo > t/d/c; echo > t/.h; ln -s b t/link
      echo t/a.txt > list; printf 't/a.txt\\0' > list0
      $F plan --sort -o m t 2> /dev/null
      id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
      offset() { grep -b "\\"path\\":\\"$1\\"" m | cut -d: -f 1; }
      {
        echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":null,"url":"http://x/","boot":"b"}'
        for name in a.txt b; do
          echo '{"schema":"formstream.record/1","offset":'$(offset $name)',"outcome":"ok","maybe_duplicate":false}'
        done
        echo '{"schema":"formstream.closed/1"}'
      } > j/journal-1.jsonl

      """
    let run = try shell(prepare + line)
    #expect(run.output.contains(output), "\(run.output) \(run.stderr)")
  }
}
