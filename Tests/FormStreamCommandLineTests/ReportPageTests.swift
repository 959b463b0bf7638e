import Foundation
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `formstream report --html`: the page about a run.
@Suite struct ReportPageTests {
  /// A server that refuses `c`, and `b` at first because it is overloaded.
  private func server() throws -> ScriptedServer {
    let refusals = Guarded(0)
    return try ScriptedServer { request in
      switch request.target {
      case "/c?token=secret": return .good(400)
      case "/b?token=secret":
        let isFirst = refusals.withLock { count in
          count += 1
          return count == 1
        }
        return isFirst ? .good(503, headers: [("Retry-After", "0")]) : .good()
      default: return .good()
      }
    }
  }

  @Test func `the page says how the run went`() throws {
    let server = try server()
    let run = try shell(
      """
      mkdir t; for name in a b c '<img src=x>&"\u{202E}'; do echo > "t/$name"; done
      $F send -q -j 1 --put '\(server.url)/{name}?token=secret' --journal j t 2> /dev/null
      $F report --html page.html j; echo $?; cat page.html
      """)
    let page = run.output
    #expect(page.hasPrefix("4 files: 3 ok, 1 failed. "), "\(page) \(run.stderr)")
    for text in [
      "<h1>Report: 4 files</h1>", "<h2>Over time</h2>", "<figcaption>Files accepted so far</figcaption>",
      "aria-label=\"At most 3\"",
      "<figcaption>Files on their way, on average</figcaption>", "<figcaption>Files that were not accepted</figcaption>",
      "1 result took more than one request.",
      "/t/&lt;img src=x&gt;&amp;&quot;\\u{202E}</th>", "<h2>Files that were not accepted</h2>",
      "/t/c</th><td>failed</td><td>400</td>", "<h2>The commonest errors</h2>",
      "<th scope=\"row\">status-refused 400</th><td>1</td>",
      "default-src 'none'; style-src 'unsafe-inline'",
    ] { #expect(page.contains(text), "\(text) is not in \(page)") }
    for text in ["<script", "secret", "<img", "http-equiv=\"refresh", "src=\""] {
      #expect(!page.contains(text), "\(text) is in \(page)")
    }
  }

  @Test func `the page is about the last round`() throws {
    let server = try ScriptedServer { _ in .good() }
    let run = try shell(
      """
      mkdir t; echo > t/a; echo > t/b; $F send -q --journal j \(server.url) t
      echo > t/new; $F send -q --journal j \(server.url) t
      $F report --html - j
      """)
    #expect(run.exit == 0 && run.stderr.hasPrefix("3 files: 3 ok. "), "\(run.output) \(run.stderr)")
    #expect(run.output.contains("the page is about the last of 2 manifests"))
    #expect(run.output.contains("aria-label=\"At most 1\""))
    #expect(run.output.contains("/t/new</th>") && !run.output.contains("/t/a</th>"))
  }

  @Test func `files without a result are named`() throws {
    let run = try shell(
      """
      mkdir t j; echo > t/a; echo > t/b; $F plan --sort -o m t 2> /dev/null
      id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
      offset=$(grep -b '"path":"b"' m | cut -d: -f 1)
      { echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":null,"url":"http://x/","boot":"b"}'
        echo '{"schema":"formstream.started/1","offset":'$offset'}'; echo '{"schema":"formstream.closed/1"}'; } > j/journal-a.jsonl
      $F report --manifest m --html - j 2> /dev/null
      """)
    #expect(run.exit == 3)
    #expect(run.output.contains("/t/a</th><td>missing</td><td></td><td>No journal has a result for it.</td>"), "\(run.output)")
    #expect(
      run.output.contains(
        "/t/b</th><td>unknown</td><td></td><td>A request for it may have begun, and no journal says what became of it.</td>"),
      "\(run.output)")
  }

  @Test func `records of earlier versions have no time`() throws {
    let run = try shell(
      """
      mkdir t j; echo > t/a; $F plan -o m t 2> /dev/null
      id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
      offset=$(grep -b '"path":"a"' m | cut -d: -f 1)
      { echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":null,"url":"http://x/","boot":"b"}'
        echo '{"schema":"formstream.record/1","offset":'$offset',"path":"a","outcome":"ok","maybe_duplicate":false,"error":null}'
        echo '{"schema":"formstream.closed/1"}'; } > j/journal-a.jsonl
      $F report --manifest m --html - j 2> /dev/null
      """)
    #expect(run.exit == 0)
    #expect(run.output.contains("No result has a time that can be true"), "\(run.output)")
  }

  /// Makes a manifest of the files `t/a` to `t/d`, and functions: `begin TIME` writes the head of a journal that began then, and
  /// `record NAME OUTCOME BEGUN ENDED SECONDS` a record, with times in seconds since 1970.
  private static let journals = """
    mkdir t j; for name in a b c d; do echo > t/$name; done; $F plan --sort -o m t 2> /dev/null
    id=$(head -n 1 m | grep -o '[0-9a-f-]\\{36\\}')
    begin() {
      echo '{"schema":"formstream.journal/1","manifest":"'$id'","shard":null,"url":"http://x/","boot":"b","begun_ns":'$1'000000000}'
    }
    record() {
      offset=$(grep -b '"path":"'$1'"' m | cut -d: -f 1)
      error=null; [ $2 = ok ] || error='{"code":"'$2'-error","message":"'$2'"}'
      echo '{"schema":"formstream.record/2","offset":'$offset',"path":"'$1'","size":2,"outcome":"'$2'","attempts":1,"maybe_duplicate":false,"seconds":'$5',"begun_ns":'$3'000000000,"ended_ns":'$4'000000000,"error":'$error'}'
    }

    """

  private func page(_ lines: String, _ flags: String = "") throws -> String {
    let run = try shell(
      Self.journals + "{ \(lines)\necho '{\"schema\":\"formstream.closed/1\"}'; } > j/journal-a.jsonl\n"
        + "$F report --manifest m --html - \(flags) j 2> /dev/null")
    #expect(run.output.hasSuffix("</html>\n"), "\(run.output) \(run.stderr)")
    return run.output
  }

  @Test func `a clock that was wrong at first spoils no picture`() throws {
    let page = try page(
      "begin 5; record a ok 6 7 1; record b ok 8 1780000000 2.5; record c ok 1780000000 1780000120 120; record d ok 9000000000 9000000001 1"
    )
    #expect(page.contains("2 results have no time that can be true"), "\(page)")
    #expect(page.contains("the slowest of them 2 min 00 s,"), "\(page)")
    #expect(page.contains(">b</th><td class=\"number\">2 B</td><td class=\"number\">2.5 s</td>"), "\(page)")
    #expect(page.contains("text-anchor=\"end\">2 min 00 s</text>"), "\(page)")
  }

  @Test func `what took longest is named even if nothing was accepted`() throws {
    let page = try page("begin 1780000000; record a unknown 1780000000 1780000600 600; record b failed 1780000000 1780000000 0")
    #expect(page.contains("<h3>What took longest</h3>") && page.contains(">10 min 00 s</td>"), "\(page)")
    #expect(!page.contains("Half of the accepted files") && page.contains("<td class=\"number\">under 1 ms</td>"), "\(page)")
  }

  @Test func `the outcome of a file is the one that the report counts`() throws {
    let page = try page(
      """
      begin 1780000000; record a unknown 1780000000 1780000001 1; record a failed 1780000002 1780000003 1
      record b failed 1780000000 1780000001 1; record b failed 1780000002 1780000003 1; record c ok 1780000002 1780000003 1
      """)
    #expect(page.contains("<p>4 files: 1 ok, 1 failed, 1 unknown, 1 missing. 1 B accepted.</p>"), "\(page)")
    for row in ["/t/a</th><td>unknown</td><td></td><td>unknown", "/t/b</th><td>failed</td>", "/t/d</th><td>missing</td>"] {
      #expect(page.contains(row), "\(page)")
    }
    #expect(!page.contains("/t/c</th><td>"))
    // A file that took long twice is named once.
    #expect(page.components(separatedBy: "<th scope=\"row\">b</th>").count == 2, "\(page)")
  }

  @Test func `files of a shard are named although a list of others was sent later`() throws {
    let server = try ScriptedServer { _ in .good(400) }
    let run = try shell(
      """
      mkdir t; for name in a b c d; do echo > t/$name; done; $F plan --sort -o m t 2> /dev/null
      for shard in 1/2 2/2; do $F send -q --manifest m --shard $shard --journal j \(server.url) 2> /dev/null; done
      $F report --manifest m --shard 1/2 --failed r j > /dev/null 2>&1
      $F send -q --manifest r --journal j \(server.url) 2> /dev/null
      $F report --manifest m --html page j; sed '1,/<h2>Files that were not/d' page | grep -c '<td>failed</td><td>400</td>'
      """)
    #expect(run.output.hasPrefix("4 files: 4 failed. ") && run.output.hasSuffix("\n4\n"), "\(run.output) \(run.stderr)")
  }

  @Test(arguments: ["j/journal-a.jsonl", "j/../j/journal-new.jsonl", "link/manifest.jsonl", "link/manifest-9.jsonl", "other"])
  func `a page replaces nothing that says what was sent`(_ path: String) throws {
    let server = try ScriptedServer { _ in .good() }
    let run = try shell(
      """
      mkdir t; echo > t/a; $F send -q --journal j \(server.url) t; mv j/journal-*.jsonl j/journal-a.jsonl
      ln -s j link; ln j/journal-a.jsonl other; cp -r j copy
      $F report --html \(path) j; echo $?; diff -r j copy && $F report j
      """)
    #expect(run.output.hasPrefix("64\n1 file: 1 ok. "), "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("--html would replace \"\(path)\""), "\(run.stderr)")
  }

  @Test func `a page that can't be written hides no report, and settles nothing`() throws {
    let run = try shell(
      Self.journals
        + "{ begin 1780000000; for name in a b c d; do record $name ok 1780000000 1780000001 1; done; } > j/journal-a.jsonl\n"
        + "cp j/journal-a.jsonl j/journal-b.jsonl; for flags in '' --json; do $F report --manifest m --settle --html /dev/full $flags j; "
        + "echo $?; done; ls j")
    #expect(run.output.contains("4 files accepted twice or more.") && run.output.contains("\"duplicates\":4"), "\(run.output)")
    #expect(run.output.components(separatedBy: "\n74\n").count == 3 && !run.output.contains("settled-"), "\(run.output)")
  }

  @Test(arguments: [
    ("--html - --json", "--json and --html - both go to standard output"),
    ("--html - --failed -", "--failed - and --html - both go to standard output"),
    ("--html ''", "--html needs the name of a file"), ("--html x --failed x", "both write the file"),
    ("--html m", "m"), ("--html nowhere/x", "nowhere"), ("--html /dev/stdout", "say --html -"),
  ])
  func `outputs that can't be are refused`(_ flags: String, message: String) throws {
    let run = try shell(
      "mkdir t j; echo > t/a; $F plan -o m t 2> /dev/null; cp m copy; $F report --manifest m \(flags) j; echo $?; cmp m copy")
    #expect(!run.output.hasPrefix("0") && run.stderr.contains(message), "\(run.output) \(run.stderr)")
    #expect(!run.output.contains("differ"))
  }
}
