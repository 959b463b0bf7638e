import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send` to servers in trouble.
@Suite(.timeLimit(.minutes(5))) struct SendOverloadTests {
  private static func makeFiles(_ count: Int) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for number in 1...count { try place.write("f\(number)", "x") }
    return place
  }

  @Test func `after refusals for overload all files are accepted, with few requests in excess`()
    throws
  {
    let server = try ScriptedServer { request in
      // Two bursts.
      (20..<28).contains(request.number) || (120..<124).contains(request.number)
        ? [
          .readBody, .respond(request.number % 2 == 0 ? 429 : 503, headers: [("Retry-After", "1")]),
        ]
        : .good()
    }
    let result = try formstream(
      "send", "--json", "-j", "8", server.url, ".", in: try Self.makeFiles(200))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(Set(server.sentFiles).count == 200)
    #expect(server.requests.count <= 212)
    #expect(server.faults.isEmpty)
  }

  /// Regression: each refusal made all requests wait, for longer each time, and such a run didn't end.
  @Test(arguments: [1, 8])
  func `if a third of the requests is refused, each of them waits alone`(jobs: Int) throws {
    let server = try ScriptedServer { request in
      request.number % 3 == 0 ? [.readBody] + [.respond(503)] : .good()
    }
    // With few attempts, one of the files would sometimes be the third each time.
    let result = try formstream(
      "send", "--json", "-j", "\(jobs)", "--retry", "30", "--retry-delay", "0.05", server.url, ".",
      in: try Self.makeFiles(300))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(Set(server.sentFiles).count == 300)
    #expect(server.requests.count == 450 || server.requests.count == 451)
  }

  @Test func `other files are sent while a refused one waits`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .respond(503)] : .good()
    }
    let result = try formstream(
      "send", "--json", "-j", "1", "--retry", "1", "--retry-delay", "2", server.url, ".",
      in: try Self.makeFiles(3))
    #expect(result.exit == 0, "\(result.stderr)")
    let names = server.sentFiles
    #expect(names.count == 4 && names.first == names.last, "\(names)")
  }

  @Test(arguments: [1, 8])
  func `a server that refuses everything gets few requests`(jobs: Int) throws {
    let end = Guarded<ContinuousClock.Instant?>(nil)
    let refusals = Guarded(0)
    let server = try ScriptedServer { _ in
      let isRefused = end.withLock { end in
        end = end ?? .now + .seconds(4)
        return end.map { $0 > .now } ?? false
      }
      guard isRefused else { return .good() }
      refusals.withLock { $0 += 1 }
      return [.readBody, .respond(503)]
    }
    let result = try formstream(
      "send", "--json", "-j", "\(jobs)", "--retry", "30", "--retry-delay", "0.01", server.url, ".",
      in: try Self.makeFiles(100))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(Set(server.sentFiles).count == 100)
    // The requests that are on their way until four were refused, the one after them, and one after each wait.
    #expect(refusals.withLock(\.self) <= jobs + 7)
  }

  @Test func `resets during the body are repeated, and those after it are not`() throws {
    let server = try ScriptedServer { request in
      switch request.number {
      // Before its first byte, a request on a kept connection is sent again within the same attempt.
      case 3, 9: [.readBody(upTo: 1000), .reset]
      case 6: [.readBody, .reset]
      default: .good()
      }
    }
    let place = try TemporaryDirectory()
    // More than the buffers of both sides hold.
    for number in 1...12 { _ = try place.sparse("f\(number)", size: 40_000_000) }
    let result = try formstream(
      "send", "--json", "-j", "2", "--expect", "never", server.url, ".", in: place)
    #expect(result.exit == 3, "\(result.output)")
    let records = result.output.split(separator: "\n").filter { $0.contains("formstream.record/2") }
    #expect(records.count { $0.contains("\"outcome\":\"ok\"") } == 11)
    #expect(records.count { $0.contains("\"outcome\":\"unknown\"") } == 1)
    // One file may meet both resets.
    let attempts = records.compactMap { record in
      record.firstMatch(of: /"attempts":(\d+)/).flatMap { Int($0.output.1) }
    }
    #expect(attempts.count == 12 && attempts.reduce(0, +) == 14, "\(attempts)")
  }
}
