import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send` to servers in trouble.
@Suite struct SendOverloadTests {
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
    let records = result.output.split(separator: "\n").filter { $0.contains("formstream.record/1") }
    #expect(records.count { $0.contains("\"outcome\":\"ok\"") } == 11)
    #expect(records.count { $0.contains("\"outcome\":\"unknown\"") } == 1)
    // One file may meet both resets.
    let attempts = records.compactMap { record in
      record.firstMatch(of: /"attempts":(\d+)/).flatMap { Int($0.output.1) }
    }
    #expect(attempts.count == 12 && attempts.reduce(0, +) == 14, "\(attempts)")
  }
}
