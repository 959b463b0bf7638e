import FormStreamTestSupport
import Testing

/// `send`: files that change between the listing and the request.
@Suite struct SendChangedTests {
  /// What happens to the file `d/x` after it was listed, and its outcome then.
  private static let changes = [
    ("echo other > d/x", "source-changed", 74), ("echo longer words > d/x", "source-changed", 74),
    ("touch -d @1 d/x", "source-changed", 74), ("rm d/x", "failed", 66),
    ("mv d/x d/y; cp d/y d/x", "source-changed", 74),
    ("rm d/x; ln -s ../../secret d/x", "source-changed", 74),
    ("rm d/x; mkfifo d/x", "source-changed", 74), ("rm d/x; mkdir d/x", "source-changed", 74),
    ("mv d e; ln -s ../outside d", "source-changed", 74), ("rm -r d", "failed", 66),
  ]

  @Test(arguments: changes)
  func `a file that is not the one that was listed is not sent`(
    _ change: String, _ outcome: String, _ exit: Int
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      mkdir in outside; echo secret > secret; echo secret > outside/x; touch -d @1000 secret outside/x
      cd in; mkdir d; echo words > d/x; echo same > same; touch -d @1000 d/x
      find . -type f | $F plan --files-from - -o ../manifest
      \(change)
      $F send --json \(server.url) --manifest ../manifest
      """, in: place)
    #expect(result.exit == Int32(exit), "\(result.output) \(result.stderr)")
    #expect(
      result.output.split(separator: "\n").contains {
        $0.contains("/d/x\"") && $0.contains("\"outcome\":\"\(outcome)\"")
      }, "\(result.output)")
    #expect(server.sentFiles == [SentFile("same", "same\n")])
    #expect(server.faults.isEmpty)
  }

  /// A file of the same size and time has replaced it, which only its inode and its change time show.
  @Test(arguments: [["--put", "/{name}"], ["--put", "/{name}", "--journal", "j"]])
  func `a file that replaced the one that was listed is not sent`(_ words: [String]) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      [
        .readBody,
        .call {
          guard request.number == 0 else { return }
          _ = try? shell(
            "for f in in/*; do echo others > new; touch -r $f new; mv new $f; done", in: place)
        }, .respond(200),
      ]
    }
    _ = try shell("mkdir in; for n in {1..200}; do echo first$((n % 10)) > in/$n; done", in: place)
    let targets = words.map { word in word.hasPrefix("/") ? server.url + word : word }
    let sent = try run("formstream", ["send", "-q", "-j", "1"] + targets + ["in"], in: place)
    #expect(sent.exit == 74, "\(sent.stderr)")
    // Those that were open already are sent as they were then.
    let bodies = server.requests.filter(\.hasCompleteBody).map {
      String(decoding: $0.body, as: UTF8.self)
    }
    #expect(!bodies.contains { $0.contains("others") })
  }

  @Test func `a file of the form that changes is not the file that is sent`() throws {
    let place = try TemporaryDirectory()
    // More than the system takes ahead.
    _ = try shell("truncate -s 20M meta", in: place)
    let server = try ScriptedServer { request in
      request.number == 0
        ? [
          .continueIfExpected, .readBody(upTo: 1000),
          .call { _ = try? shell("echo more >> meta", in: place) }, .readBody, .respond(200),
        ] : .good()
    }
    try place.write("f", "contents")
    let arguments = [
      "send", "--json", "-F", "meta=@meta", "--journal", "j", server.url, "f",
    ]
    let first = try run("formstream", arguments, in: place)
    #expect(first.exit == 75, "\(first.output) \(first.stderr)")
    #expect(first.output.contains(#""outcome":"retryable""#), "\(first.output)")
    let second = try run("formstream", arguments, in: place)
    #expect(second.exit == 0, "\(second.output)")
  }

  @Test func `while a file becomes a link and a file again, nothing from outside is sent`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      mkdir -p in/d outside; echo secret > outside/x; cd in
      for n in {1..300}; do echo words > d/x$n; echo d/x$n; ln ../outside/x ../outside/x$n; done > list
      $F send -q -j 8 --filename x \(server.url) --files-from list & pid=$!
      while kill -0 $pid 2> /dev/null; do
        x=d/x$((RANDOM % 300 + 1)); ln -s ../../outside/x t && mv -T t $x; echo words > t && mv -T t $x
        mv -T d e && ln -s ../outside d; rm d; mv -T e d
      done
      wait $pid
      """, in: place)
    #expect(result.signal == nil)
    for file in server.sentFiles { #expect(file == SentFile("x", "words\n")) }
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}
