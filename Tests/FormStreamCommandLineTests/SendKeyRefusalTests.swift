import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Refusals of a request that the server may have carried out before. draft-ietf-httpapi-idempotency-key-header: a server that knows
/// the key responds 409 while it still processes the first request, and 422 if it takes the second one for another.
@Suite struct SendKeyRefusalTests {
  /// What comes after the first request was received.
  private static let losses: [(name: String, steps: [ScriptedStep])] = [
    ("no response", [.reset]), ("502", [.respond(502)]), ("500", [.respond(500)]), ("504", [.respond(504)]),
  ]

  /// A server that stores the first request, whose response is lost, and then refuses.
  private func server(losing steps: [ScriptedStep], then status: Int) throws -> ScriptedServer {
    try ScriptedServer { request in [.readBody] + (request.number == 0 ? steps : [.respond(status)]) }
  }

  private func send(_ flags: String, _ server: ScriptedServer, in place: TemporaryDirectory) throws -> Invocation {
    try shell(
      "[ -e a ] || echo > a; $F send --json --retry-delay 0.01 --journal j \(flags) \(server.url)/ a; echo $?; $F report j; echo $?",
      in: place)
  }

  /// Regression: after a 502, the outcome was `failed`, with 1: nobody would have looked at the server.
  @Test(arguments: 0..<4, [409, 422, 403])
  func `a file that may be stored is not failed because its repetition is refused`(loss: Int, status: Int) throws {
    let steps = Self.losses[loss].steps
    for flags in ["--idempotency-key auto", "--put"] {
      let server = try server(losing: steps, then: status)
      let run = try send("--retry 2 \(flags)", server, in: try TemporaryDirectory())
      let lines = run.output.split(separator: "\n")
      #expect(server.requests.count == 2, "\(flags): \(run.stderr)")
      #expect(run.output.contains(#""outcome":"unknown""#), "\(flags): \(run.output)")
      #expect(lines.contains("3") && lines.last == "3" && run.output.contains("1 file: 1 unknown."), "\(flags): \(run.output)")
    }
  }

  /// Regression: the second run said `failed`, and the report `unknown`.
  @Test(arguments: [409, 422])
  func `a key that an earlier run has sent is refused, and what that run did is not known`(status: Int) throws {
    let server = try server(losing: [.reset], then: status)
    let place = try TemporaryDirectory()
    let first = try send("--retry 0 --idempotency-key auto", server, in: place)
    #expect(first.output.contains(#""outcome":"unknown""#))
    let second = try send("--retry 0 --idempotency-key auto", server, in: place)
    #expect(second.output.contains(#""outcome":"unknown""#), "\(second.output)")
    #expect(second.output.contains("An earlier run has sent the file"), "\(second.output)")
    #expect(second.output.split(separator: "\n").contains("3"), "\(second.output)")
    let keys = server.requests.map { $0.header("Idempotency-Key") }
    #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1], "\(keys)")
  }

  /// A server that fails after it has stored the file. The next command has no other attempt, so its first run ends `retryable`.
  ///
  /// Regression: the list did not mark the file, and the next command sent it with another key.
  @Test(arguments: [500, 502, 504])
  func `the list of failed files marks a file with which the server has failed`(status: Int) throws {
    let server = try server(losing: [.respond(status)], then: 200)
    let run = try shell(
      """
      echo > a; $F send -q --retry 0 --idempotency-key auto --failed rest \(server.url)/ a
      $F send --json --retry 0 --idempotency-key auto --manifest rest \(server.url)/ | head -n 1
      """, in: try TemporaryDirectory())
    #expect(run.output.contains(#""maybe_duplicate":true"#), "\(run.output) \(run.stderr)")
    #expect(server.requests.count == 2)
  }

  /// Regression: the journal said that the file was not sent. With the same key, a refusal was `failed`; without a key, the file was sent
  /// again without a mark.
  @Test(arguments: [500, 502, 504])
  func `the next run knows that a server that has failed may have the file`(status: Int) throws {
    for (flags, answer, expected) in [
      ("--idempotency-key auto", 409, #""outcome":"unknown""#), ("--idempotency-key auto", 200, #""maybe_duplicate":false"#),
      ("", 200, #""maybe_duplicate":true"#),
    ] {
      let server = try server(losing: [.respond(status)], then: answer)
      let place = try TemporaryDirectory()
      let first = try send("--retry 0 --idempotency-key auto", server, in: place)
      #expect(first.output.contains("1 file: 1 retryable."), "\(first.output)")
      let second = try send("--retry 0 \(flags)", server, in: place)
      #expect(second.output.contains(expected), "\(flags) \(answer): \(second.output) \(second.stderr)")
      #expect(server.requests.count == 2)
    }
  }

  @Test(arguments: ["", "--idempotency-key auto", "--put"], [409, 422])
  func `a first request that is refused has failed`(flags: String, status: Int) throws {
    let server = try ScriptedServer { _ in .good(status) }
    let run = try send("--retry 2 \(flags)", server, in: try TemporaryDirectory())
    #expect(run.output.contains(#""outcome":"failed""#) && run.output.hasSuffix("\n1\n"), "\(run.output) \(run.stderr)")
    #expect(server.requests.count == 1)
  }
}
