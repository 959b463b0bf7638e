import FormStreamTestSupport
import Testing

/// How often `get` sends a request: three times by default only if that changes nothing, and what arrives is a file.
@Suite struct GetRepetitionTests {
  private enum Failing: CaseIterable { case closes, busy }

  private func server(_ failing: Failing) throws -> ScriptedServer {
    try ScriptedServer { _ in
      switch failing {
      case .closes: [.close]
      case .busy: .good(503, headers: [("Retry-After", "0")], body: "busy")
      }
    }
  }

  @Test(arguments: [
    ("", 1), ("-o f", 3), ("-O", 3), ("-J", 3), ("-I -o f", 3), ("-o -", 1), ("-o /dev/null", 1),
    ("--json", 1), ("--json -o f", 3), ("-I", 1), ("-X DELETE", 1), ("-X DELETE -o f", 1),
    ("-X POST", 1), ("-X POST -o f", 1), ("-X PUT -o f", 1), ("-X OPTIONS -o f", 1),
    ("-X GET -o f", 3), ("-i -o f", 3), ("--compressed -o f", 3), ("-r 0-3 -o f", 3),
    // What is typed holds, as far as it is safe.
    ("--retry 1", 2), ("--retry 1 -X DELETE", 2), ("--retry 0 -o f", 1),
  ])
  func `only what goes into a file is requested again`(_ flags: String, _ count: Int) throws {
    for failing in Failing.allCases {
      let (place, server) = (try TemporaryDirectory(), try server(failing))
      let result = try shell(
        "$F get --retry-delay 0.01 \(flags) \(server.url)/name.txt", in: place)
      #expect(result.exit == 75 || failing == .closes, "\(result.stderr)")
      #expect(result.exit != 0)
      #expect(server.requests.count == count, "\(failing): \(result.stderr)")
    }
  }

  @Test func `a POST without a response is repeated only by choice`() throws {
    for (flags, count) in [("--retry 2", 1), ("--retry 2 --retry-all-errors", 3)] {
      let server = try server(.closes)
      let result = try shell("$F get --retry-delay 0.01 -X POST \(flags) \(server.url)")
      #expect(result.exit == 3, "\(result.stderr)")
      #expect(server.requests.count == count, "\(flags)")
    }
  }

  @Test(arguments: [404, 410, 301])
  func `with --retry-all-errors a GET is repeated whatever it failed with`(_ status: Int) throws {
    let place = try TemporaryDirectory()
    for flags in ["", "-o f", "--compressed -o f"] {
      let server = try ScriptedServer { request in
        request.number < 2 ? .good(status, body: "no") : .good(body: "yes")
      }
      let line = "$F get -q --retry 3 --retry-delay 0.01 --retry-all-errors \(flags) \(server.url)"
      let result = try shell("\(line) && [ ! -e f ] || cat f; rm -f f", in: place)
      #expect(result.output == "yes", "\(flags): \(result.stderr)")
      #expect(server.requests.count == 3)
    }
    let server = try ScriptedServer { _ in
      .good(headers: [("Transfer-Encoding", "odd")], body: "a")
    }
    let malformed = try shell(
      "$F get -q --retry 2 --retry-delay 0.01 --retry-all-errors \(server.url)")
    #expect(malformed.exit != 0)
    #expect(server.requests.count == 3)
  }

  @Test func `a post with --retry-all-errors may be carried out twice`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .close] : .good(body: "yes")
    }
    let result = try formstream(
      "post", "-q", "--retry", "1", "--retry-delay", "0.01", "--retry-all-errors", "-d", "a",
      server.url)
    #expect((result.exit, result.output) == (0, "yes"), "\(result.stderr)")
  }

  @Test func `with -L, 50 redirects are followed, and --max-redirs sets another number`() throws {
    let server = try ScriptedServer { request in
      let number = Int(request.target.dropFirst()) ?? 0
      return .good(302, headers: [("Location", "/\(number + 1)")])
    }
    for (flags, count) in [
      (["-L"], 50), ([], 5), (["-L", "--max-redirs", "7"], 7), (["--max-redirs", "7", "-L"], 7),
      (["-L", "--no-location"], 5),
    ] {
      let before = server.requests.count
      let result = try run("formstream", ["get"] + flags + ["\(server.url)/0"])
      #expect(result.exit == 1)
      #expect(server.requests.count - before == count + 1, "\(flags)")
    }
  }
}
