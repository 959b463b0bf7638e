import FormStreamTestSupport
import Testing

/// What happens to an existing file of `-o`.
@Suite struct PostResponseTests {
  private static let half: ScriptedStep = .send(
    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

  /// Sends a request for each script, with an existing file. `shown` is what the command printed.
  private static func store(
    _ scripts: [[ScriptedStep]], _ flags: String = ""
  ) throws -> (exit: String, file: String, messages: String, shown: String) {
    let server = try ScriptedServer(requests: scripts)
    let result = try shell(
      """
      printf old > answer
      shown=$($F post \(flags) -o answer -d a \(server.url)); echo $?
      echo "$shown"; echo --; cat answer; ls -A
      """)
    #expect(server.faults.isEmpty)
    #expect(server.requests.count == scripts.count)
    #expect(result.output.hasSuffix("answer\n"), "nothing else is there: \(result.output)")
    let halves = result.output.dropLast("answer\n".count)
      .split(separator: "\n--\n", maxSplits: 1, omittingEmptySubsequences: false)
    let printed = halves[0].split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (
      String(printed[0]), String(halves[1]), result.stderr, String(printed.last ?? "")
    )
  }

  @Test(arguments: [("INT", "130"), ("TERM", "143")])
  func `the file survives a signal in the middle of the response`(_ signal: String, _ exit: String)
    throws
  {
    let server = try ScriptedServer { _ in [.readBody, Self.half, .stall] }
    let result = try shell(
      """
      set -m
      printf 'old\n' > answer
      $F post -v -o answer -d a \(server.url) 2> result & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      kill -\(signal) $pid
      wait $pid; echo $?
      cat answer; ls -A
      """)
    #expect(result.output == "\(exit)\nold\nanswer\nresult\n", "\(result.stderr)")
  }

  private static let broken: [([ScriptedStep], String)] = [
    ([.readBody, half, .closeWrite], "74"), ([.readBody, half, .reset], "74"),
    (.good(body: "cut", framing: .announced(20)), "74"),
    (.good(404, body: "cut", framing: .announced(20)), "1"), ([.readBody, .reset], "3"),
    ([.readBody, .send("nonsense\r\n\r\n"), .close], "3"),
  ]

  @Test(arguments: broken)
  func `the file survives an incomplete response, or none`(
    _ steps: [ScriptedStep], _ exit: String
  ) throws {
    let stored = try Self.store([steps])
    #expect(stored.exit == exit, "\(stored.messages)")
    #expect(stored.file == "old")
    // Of a refused response, what arrived is printed, and a note says that it is not all.
    #expect(stored.messages.split(separator: "\n").count == (exit == "1" ? 2 : 1))
  }

  private static let pages: [[ScriptedStep]] = [[.close], [.respond(404, body: "no page")]]

  /// Regression: a 303 with an empty body replaced the file by an empty one.
  @Test(arguments: pages)
  func
    `the file survives if the response is a 303 with an empty body, and its page can't be fetched`(
      _ page: [ScriptedStep]
    ) throws
  {
    func seeOther(_ body: String) -> [ScriptedStep] {
      [
        .readBody,
        .respond(303, headers: [("Location", "/page"), ("Connection", "close")], body: body),
      ]
    }
    let silent = try Self.store([seeOther(""), page])
    #expect((silent.exit, silent.file) == ("0", "old"), "\(silent.messages)")
    #expect(silent.messages.contains("\"answer\" is not written"), "\(silent.messages)")
    let quiet = try Self.store([seeOther(""), page], "-q")
    #expect((quiet.exit, quiet.file, quiet.messages) == ("0", "old", ""))
    let talking = try Self.store([seeOther("see other"), page])
    #expect((talking.exit, talking.file, talking.shown) == ("0", "old", "see other"))
    #expect(talking.messages.contains("\"answer\" is not written"), "\(talking.messages)")
    let any = try Self.store([seeOther("see other"), page], "--output-any-status")
    #expect((any.exit, any.file, any.shown) == ("0", "see other", ""), "\(any.messages)")
  }

  @Test func `the file survives an incomplete page`() throws {
    let other: [ScriptedStep] = [.readBody, .respond(303, headers: [("Location", "/page")])]
    let stored = try Self.store([other, [Self.half, .closeWrite]])
    #expect((stored.exit, stored.file) == ("74", "old"), "\(stored.messages)")
  }

  @Test func `a refused response is printed, and is not stored unless that is wanted`() throws {
    let refused = try Self.store([.good(409, body: "conflict")])
    #expect((refused.exit, refused.file, refused.shown) == ("1", "old", "conflict"))
    #expect(refused.messages.contains("responded 409"), "\(refused.messages)")
    let recorded = try Self.store([.good(409, body: "conflict")], "--json")
    #expect((recorded.exit, recorded.file) == ("1", "old"))
    #expect(recorded.shown.contains(#""body":"conflict","#), "\(recorded.shown)")
    let stored = try Self.store([.good(409, body: "conflict")], "--output-any-status")
    #expect((stored.exit, stored.file, stored.shown) == ("1", "conflict", ""))
    let wanted = try Self.store([.good(409, body: "conflict")], "--expect-status 409")
    #expect((wanted.exit, wanted.file, wanted.shown) == ("0", "conflict", ""))
  }

  @Test func `the response of the last attempt is printed or stored`() throws {
    let busy: [ScriptedStep] = [
      .readBody, .respond(503, headers: [("Retry-After", "0")], body: "busy"),
    ]
    let stored = try Self.store([busy, busy], "--retry 1")
    #expect((stored.exit, stored.file, stored.shown) == ("75", "old", "busy"))
    let long = String(repeating: "long ", count: 100_000)
    let longer = try Self.store(
      [busy, [.readBody, .respond(503, headers: [("Retry-After", "0")], body: long)]],
      "--retry 1 --output-any-status")
    #expect(longer.exit == "75" && longer.file == long, "\(longer.messages)")
    let later: [ScriptedStep] = [
      .readBody, .respond(503, headers: [("Retry-After", "9999")], body: "much later"),
    ]
    let awaited = try Self.store([later], "--retry 1")
    #expect((awaited.exit, awaited.file, awaited.shown) == ("75", "old", "much later"))
    let server = try ScriptedServer(requests: [busy, busy])
    let printed = try formstream("post", "--retry", "1", "-d", "a", server.url)
    #expect((printed.exit, printed.output) == (75, "busy"), "\(printed.stderr)")
  }

  private static let complete: [([ScriptedStep], String, String)] = [
    (.good(204), "0", ""), (.good(), "0", ""), (.good(404), "1", "old"),
    (.good(body: "whole"), "0", "whole"), (.good(404, body: "who?"), "1", "old"),
    (.good(body: "chunks", framing: .chunked), "0", "chunks"),
  ]

  @Test(arguments: complete)
  func `a complete response with a wanted status replaces the file, even an empty one`(
    _ steps: [ScriptedStep], _ exit: String, _ file: String
  ) throws {
    let stored = try Self.store([steps])
    #expect((stored.exit, stored.file) == (exit, file), "\(stored.messages)")
  }

  @Test func `a 303 that is an accepted status is stored`() throws {
    let stored = try Self.store(
      [
        [
          .readBody,
          .respond(303, headers: [("Location", "/page")], body: "see", framing: .chunked),
        ]
      ],
      "--expect-status 303")
    #expect((stored.exit, stored.file) == ("0", "see"), "\(stored.messages)")
  }

  /// Regression: escape sequences reached the terminal raw if it was named by a path.
  @Test(arguments: ["-", "/dev/stdout", "/dev/tty", "/proc/self/fd/1"])
  func `no name of a terminal lets escape sequences through`(_ name: String) throws {
    let server = try ScriptedServer { _ in .good(body: "\u{1B}]0;x\u{7}") }
    let result = try shell("script -qec \"$F post -q -o \(name) -d a \(server.url)\" /dev/null")
    #expect(result.output == #"\u{1B}]0;x\u{7}"#, "\(result.output)")
    #expect(server.requests.count == 1)
  }
}
