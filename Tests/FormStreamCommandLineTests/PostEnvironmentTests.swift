import FormStreamTestSupport
import Testing

/// Environment variables and system limits.
@Suite struct PostEnvironmentTests {
  private static func messages(_ variables: [String: String], _ url: String) throws -> String {
    // The variables of the test process don't count.
    var all = Dictionary(
      uniqueKeysWithValues: ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]
        .flatMap { [($0, ""), ($0.uppercased(), "")] })
    all.merge(variables) { $1 }
    let result = try run("formstream", ["post", "--dry-run", "-d", "a", url], environment: all)
    #expect(result.exit == 0, "\(result.stderr)")
    return result.stderr
  }

  private static let cases: [(set: [String: String], url: String, named: String?)] = [
    (set: ["http_proxy": "p"], url: "http://h.example.org/", named: "http_proxy"),
    (set: ["HTTP_PROXY": "http://me:canary@p"], url: "http://h.example.org/", named: "HTTP_PROXY"),
    (set: ["https_proxy": "p"], url: "https://h.example.org/", named: "https_proxy"),
    (set: ["https_proxy": "p"], url: "http://h.example.org/", named: nil),
    (set: ["ALL_PROXY": "p"], url: "https://h.example.org/", named: "ALL_PROXY"),
    (set: ["all_proxy": "p", "no_proxy": "*"], url: "http://h.example.org/", named: nil),
    (
      set: ["all_proxy": "p", "no_proxy": "a, example.org"], url: "http://h.example.org/",
      named: nil
    ),
    (
      set: ["all_proxy": "p", "NO_PROXY": ".Example.org"], url: "http://h.example.org/", named: nil
    ),
    (
      set: ["all_proxy": "p", "no_proxy": "ample.org"], url: "http://h.example.org/",
      named: "all_proxy"
    ),
    (set: ["all_proxy": "p", "no_proxy": "::1"], url: "http://[::1]/", named: nil),
    (set: [:], url: "http://h.example.org/", named: nil),
  ]

  @Test(arguments: cases.indices)
  func `a note says that a proxy is not used`(_ index: Int) throws {
    let (variables, url, named) = Self.cases[index]
    let result = try Self.messages(variables, url)
    if let named {
      #expect(
        result.hasPrefix("formstream: \(named) is set, but proxies are not used"), "\(result)")
      #expect(result.split(separator: "\n").count == 1)
    } else {
      #expect(result == "")
    }
    #expect(!result.contains("canary"))
  }

  @Test func `a request goes directly to its server, whatever the environment says`() throws {
    let server = try ScriptedServer(requests: [.good(body: "in")])
    let result = try run(
      "formstream", ["post", "-q", "-d", "a", server.url],
      environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""])
    #expect((result.exit, result.output, result.stderr) == (0, "in", ""))
    #expect(server.faults.isEmpty)
  }

  /// Regression: libdispatch ended the program by SIGILL if it could not open descriptors.
  @Test func `too few descriptors are an error that names the remedy`() throws {
    let server = try ScriptedServer(requests: [.good(body: "in"), .good(body: "in")])
    for limit in [6, 12, 31] {
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
