import FormStreamTestSupport
import Testing

/// What a server says about a file that it refuses, and the lists of `report`.
@Suite struct ReportListTests {
  private static let long = String(repeating: "word ", count: 100)

  /// A server that refuses some files, and says why.
  private func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.target {
      case "/plain": .good(422, body: "The name\r\nis too\tlong.\u{1B}[31m\u{202E}\n")
      case "/long": .good(409, body: Self.long)
      case "/record": .good(400, body: #"{"parts":["\#(Self.long)"],"error":{"code":"x","message":"No room."}}"#)
      case "/silent": .good(404)
      default: .good()
      }
    }
  }

  /// Sends files of these names, and runs a line of shell after that.
  private func run(_ line: String, flags: String = "") throws -> Invocation {
    let server = try server()
    defer { server.stop() }
    return try shell(
      """
      mkdir t; for name in plain long record silent good $'line\\nbreak'; do echo > "t/$name"; done
      $F send \(flags) --put '\(server.url)/{name}' --journal j t > records 2> messages
      cd t; \(line)
      """)
  }

  private static let shownLong = String(long.prefix(200)) + "…"

  @Test func `a message ends with what the server said`() throws {
    let messages = try run("cat ../messages").output
    for line in [
      "responded 422 to PUT. The server says: The name is too long.\\u{1B}[31m\\u{202E}\n",
      "responded 409 to PUT. The server says: \(Self.shownLong)\n", "responded 400 to PUT. The server says: No room.\n",
      "responded 404 to PUT.\n", "  1 status-refused 400: The server at",
    ] { #expect(messages.contains(line), "\(line) is not in \(messages)") }
    // The record has the response itself.
    let records = try run("grep -c 'The server says' ../records ../messages", flags: "--json").output
    #expect(records == "../records:0\n../messages:3\n")
  }

  @Test func `the page says what the server said`() throws {
    let page = try run("$F report --html - ../j 2> /dev/null").output
    for cell in [
      "<td>422</td><td>The server at", "responded 422 to PUT. The server says: The name is too long.\\u{1B}[31m\\u{202E}</td>",
      "responded 404 to PUT.</td>",
    ] { #expect(page.contains(cell), "\(cell) is not in \(page)") }
  }

  @Test func `a list has each file that was not accepted, and what the server said`() throws {
    let run = try run(
      "$F report --failures ../j | sed \"s:$PWD/::; s/The server at .* responded/It responded/\" | sort; $F report --failures ../j 2>&1 > /dev/null"
    )
    #expect(
      run.output == """
        long\tfailed\t409\t\(Self.shownLong)
        plain\tfailed\t422\tThe name is too long.\\u{1B}[31m\\u{202E}
        record\tfailed\t400\tNo room.
        silent\tfailed\t404\tIt responded 404 to PUT.
        6 files: 2 ok, 4 failed. 2 B accepted.
        1 journal.

        """, "\(run.stderr)")
  }

  /// Regression: the flags were refused together, so a program had to take the lines apart.
  @Test func `a list of failures can be records`() throws {
    let run = try run(
      """
      $F report --json --failures ../j 2> report | sed "s:$PWD/::; s/The server at .* responded/It responded/" | sort
      $F report --json --failures ../j 2>&1 > /dev/null | diff - report; $F report --json --failures ../j > /dev/null 2>&1; echo $?
      """)
    let begins = #"{"schema":"formstream.failure/1","path":"#
    #expect(
      run.output == """
        \(begins)"long","path_b64":null,"outcome":"failed","status":409,"text":"\(Self.shownLong)"}
        \(begins)"plain","path_b64":null,"outcome":"failed","status":422,"text":"The name is too long.\\\\u{1B}[31m\\\\u{202E}"}
        \(begins)"record","path_b64":null,"outcome":"failed","status":400,"text":"No room."}
        \(begins)"silent","path_b64":null,"outcome":"failed","status":404,"text":"It responded 404 to PUT."}
        1

        """, "\(run.stderr)")
    // A path that is not UTF-8, and a file without a result.
    let server = try ScriptedServer { _ in .good(422) }
    let bytes = try shell(
      """
      mkdir t; echo > t/$'\\xff'; $F plan -q -o m t; $F send -q --manifest m --shard 2/2 --journal j \(server.url) 2> /dev/null
      $F report --failures --json --manifest m j 2> report; cat report
      """)
    #expect(
      bytes.output.contains(#""outcome":"missing","status":null,"#) && bytes.output.contains(#""path_b64":"#), "\(bytes.output)"
    )
    #expect(!bytes.output.contains(#""path_b64":null"#) && bytes.output.contains("1 file: 1 missing."), "\(bytes.output)")
  }

  @Test func `a list of accepted files has those that are still there, unchanged`() throws {
    let run = try run(
      """
      $F report --accepted -0 ../j 2> /dev/null | sed -z "s:$PWD/::" | sort -z | tr '\\0' '|'; echo
      echo longer > good; $F report --accepted -0 ../j 2> /dev/null | xargs -0 rm; ls -b
      """)
    #expect(run.output == "good|line\nbreak|\ngood\nlong\nplain\nrecord\nsilent\n", "\(run.stderr)")
  }

  @Test func `a list with a line break in a name ends its lines with NUL`() throws {
    let server = try ScriptedServer { _ in .good(410, body: "Gone.") }
    let run = try shell(
      """
      mkdir t; echo > t/$'a\\nb'; $F send --put '\(server.url)/{name}' --journal j t 2> /dev/null
      $F report --failures --null j 2> /dev/null | sed -z "s:$PWD/t/::" | od -c -An
      """)
    server.stop()
    #expect(run.output.split(whereSeparator: \.isWhitespace).joined() == #"a\nb\tfailed\t410\tGone.\0"#, "\(run.stderr)")
  }

  @Test(arguments: [
    ("--failures --accepted", "two lists"), ("--deletable --accepted", "two lists"), ("--deletable --manifest m", "all rounds"),
    ("-0", "add one of them"), ("--accepted --json", "--accepted and --json"), ("--deletable --json", "--deletable and --json"),
    ("--failures --json -0", "--null is for names"), ("--failures --json --failed -", "--failed -"),
    ("--accepted --failed -", "--failed -"), ("--failures --html -", "--html -"),
  ]) func `two texts on one output are refused`(_ flags: String, says: String) throws {
    let run = try shell("mkdir j; $F report \(flags) j")
    #expect(run.exit == 64 && run.output.isEmpty && run.stderr.contains(says), "\(run.stderr)")
  }
}
