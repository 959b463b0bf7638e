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
      "<h1>Report: 4 files</h1>", "<h2>Over time</h2>", "Files accepted so far: at most 3", "Files on their way: at most 2",
      "Files that ended in another way, in each moment: at most 1", "1 file took more than one request.",
      "/t/&lt;img src=x&gt;&amp;&quot;\\u{202E}</td>", "<h2>Files that were not accepted</h2>",
      "/t/c</td><td>failed</td><td>400</td>", "<h2>The commonest errors</h2>", "<td>status-refused 400</td><td>1</td>",
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
    #expect(run.output.contains("<h2>The run of the last manifest</h2>"))
    #expect(run.output.contains("Files accepted so far: at most 1\""))
    #expect(run.output.contains("/t/new</td>") && !run.output.contains("/t/a</td>"))
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
    #expect(run.output.contains("/t/a</td><td>no result</td><td></td><td>It was not sent.</td>"), "\(run.output)")
    #expect(
      run.output.contains(
        "/t/b</td><td>no result</td><td></td><td>No journal says what became of it, and the server may have it.</td>"),
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
    #expect(run.output.contains("The journals have no times: an earlier version of formstream wrote them."), "\(run.output)")
  }

  @Test(arguments: [
    ("--html - --json", "--json and --html - both go to standard output"),
    ("--html - --failed -", "--failed - and --html - both go to standard output"),
    ("--html ''", "--html needs the name of a file"), ("--html x --failed x", "both write the file"),
    ("--html m", "m"), ("--html nowhere/x", "nowhere"),
  ])
  func `outputs that can't be are refused`(_ flags: String, message: String) throws {
    let run = try shell(
      "mkdir t j; echo > t/a; $F plan -o m t 2> /dev/null; cp m copy; $F report --manifest m \(flags) j; echo $?; cmp m copy")
    #expect(!run.output.hasPrefix("0") && run.stderr.contains(message), "\(run.output) \(run.stderr)")
    #expect(!run.output.contains("differ"))
  }
}
