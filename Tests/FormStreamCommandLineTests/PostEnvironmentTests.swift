import FormStreamTestSupport
import Testing

/// System limits.
@Suite struct PostEnvironmentTests {
  /// Regression: libdispatch ended the program by SIGILL if it could not open descriptors.
  @Test func `too few descriptors are an error that names the remedy`() throws {
    let server = try ScriptedServer(requests: [.good(body: "in"), .good(body: "in")])
    for limit in [6, 12, 23] {
      let result = try shell("ulimit -n \(limit); $F post -d a \(server.url)")
      #expect(result.exit == 74, "\(result.stderr)")
      #expect(result.stderr.contains("ulimit -n"), "\(result.stderr)")
      #expect(result.stderr.split(separator: "\n").count == 1)
    }
    let taken = try shell(
      "ulimit -n 64; for n in {10..60}; do eval \"exec $n< /\"; done; $F post -d a \(server.url)")
    #expect(taken.exit == 74, "\(taken.stderr)")
    for limit in ["-Sn 6", "-n 40"] {
      let result = try shell("ulimit \(limit); $F post -d a \(server.url)")
      #expect((result.exit, result.output) == (0, "in"), "\(limit): \(result.stderr)")
    }
    #expect(server.faults.isEmpty)
  }
}
