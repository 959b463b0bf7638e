import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `{index}` in URLs and forms: a file that is sent again keeps its number.
@Suite struct SendIndexTests {
  private let isRepaired = Guarded(false)
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  /// Makes five files, of which the server refuses two at first.
  init() throws {
    server = try ScriptedServer { [isRepaired] _ in
      [
        .readBody,
        .decide { request in
          let text = String(decoding: request.body, as: UTF8.self)
          let isRefused = text.contains("word 2\n") || text.contains("word 4\n")
          return [.respond(isRefused && !isRepaired.withLock { $0 } ? 400 : 200)]
        },
      ]
    }
    place = try TemporaryDirectory()
    _ = try shell(
      "mkdir in; for n in 1 2 3 4 5; do echo word $n > in/$n; echo in/$n; done > list", in: place)
  }

  /// The bodies by their targets.
  private var stored: [String: Set<String>] {
    server.requests.reduce(into: [:]) { stored, request in
      stored[request.target, default: []].insert(String(decoding: request.body, as: UTF8.self))
    }
  }

  private static let complete: [String: Set<String>] = Dictionary(
    uniqueKeysWithValues: (0..<5).map { ("/\($0)", ["word \($0 + 1)\n"]) })

  /// Regression: the advice led to 64.
  @Test func `the failed list of a run with indices in its URLs is sent to the same URLs`() throws {
    let put = "$F send -q --put '\(server.url)/{index}'"
    let first = try shell("\(put) --failed rest --files-from list", in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    #expect(first.stderr.contains("send it with --manifest."), "\(first.stderr)")
    // The list of the list, too, and in shards.
    let second = try shell("\(put) --failed rest2 --manifest rest", in: place)
    #expect(second.exit == 1, "\(second.stderr)")
    isRepaired.withLock { $0 = true }
    let third = try shell(
      "for n in 1/2 2/2; do \(put) --journal k --manifest rest2 --shard $n || exit; done", in: place
    )
    #expect(third.exit == 0, "\(third.stderr)")
    #expect(stored == Self.complete)
  }

  @Test func `so is the one that report writes`() throws {
    let put = "$F send -q --put '\(server.url)/{index}'"
    let first = try shell("\(put) --journal j --files-from list", in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    isRepaired.withLock { $0 = true }
    let second = try shell(
      """
      echo another word 4 > in/4; \(put) --journal j --files-from list; echo $?
      $F report --failed rest j > /dev/null; \(put) --manifest rest; echo $?
      """, in: place)
    // The second run sends the file that has changed, and the list has nothing.
    #expect(second.output == "0\n0\n", "\(second.stderr)")
    var expected = Self.complete
    expected["/3"] = ["word 4\n", "another word 4\n"]
    #expect(stored == expected)
  }

  @Test func `a form has the same index again`() throws {
    let line = "$F send -q -F 'n={index}' \(server.url)"
    let first = try shell("\(line) --failed rest --files-from list", in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    isRepaired.withLock { $0 = true }
    #expect(try shell("\(line) --manifest rest", in: place).exit == 0)
    for (number, text) in [(1, "word 2"), (3, "word 4")] {
      let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        .filter { $0.contains(text) }
      #expect(bodies.count == 2)
      #expect(bodies.allSatisfy { $0.contains("\r\n\r\n\(number)\r\n") }, "\(bodies)")
    }
  }

  @Test(arguments: [
    ("s/\"index\":3/\"index\":1/", 64, "would both be sent to"),
    ("s/,\"index\":3//", 64, "{index} counts from 0"),
    ("s/\"index\":3/\"index\":-3/", 66, "its index is not"),
    ("s/\"index\":3/\"index\":\"3\"/", 66, "its index is not"),
    ("s/\"index\":3/\"index\":9223372036854775808/", 64, "{index} counts from 0"),
  ])
  func `an index that was changed is checked`(_ edit: String, _ exit: Int, _ text: String) throws {
    let put = "$F send -q --put '\(server.url)/{index}'"
    let first = try shell("\(put) --failed rest --files-from list", in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    let run = try shell("sed -i '\(edit)' rest; \(put) --manifest rest", in: place)
    #expect(run.exit == Int32(exit), "\(run.stderr)")
    #expect(run.stderr.contains(text), "\(run.stderr)")
    #expect(server.requests.count == 5)
  }
}
