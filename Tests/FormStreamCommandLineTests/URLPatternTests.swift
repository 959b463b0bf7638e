import FormStreamTestSupport
import Testing

/// The patterns in URLs: the same requests as curl's, or none.
@Suite struct URLPatternTests {
  private static let malformed = [
    "/[3-1]", "/[1-2:0]", "/[1-3:5]", "/[1-1:2]", "/[a-c:5]", "/[a-C]", "/[1-]", "/[1-2", "/a[",
    "/a]", "/a}", "/{a,b", "/{}", "/{[1-2],z}", "/{{a},b}", "/{a]b}", "/[[1-2]]", "/[1--2]",
    "/page[size]=10", "/[1:2:3]", "/[::g]", "/?q={\"a\":[1]}",
  ]

  @Test(arguments: malformed)
  func `a malformed pattern is refused, as by curl, and -g sends it`(_ target: String) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("f", "a")
    let url = server.url + target
    for line in [["get"], ["post", "-d", "a"], ["put", "-T", "f"]] {
      let result = try run("formstream", line + [url], in: place)
      #expect(result.exit == 64 && result.stderr.contains("-g"), "\(line) \(result)")
    }
    let curl = try run(program: "/usr/bin/env", ["curl", "-q", "-sS", url], in: place)
    #expect(curl.exit == 3, "\(curl)")
    #expect(server.connectionCount == 0)
    let literal = try run("formstream", ["get", "-g", url], in: place)
    #expect(literal.exit == 0, "\(literal)")
    #expect(server.requests.map(\.target) == [target])
  }

  @Test(arguments: [
    ("/{a}", ["/a"]), ("/{a,}", ["/a", "/"]), ("/{a\\,b,c}", ["/a,b", "/c"]), ("/[1-1]", ["/1"]),
    ("/[1-4:3]", ["/1", "/4"]), ("/a[]=1", ["/a[]=1"]), ("/\\{a\\}", ["/{a}"]),
    ("/x?a=[::1]", ["/x?a=[::1]"]), ("/[fe80::1]", ["/[fe80::1]"]), ("/[::1]{a}", ["/[::1]a"]),
  ])
  func `a pattern stands for the same URLs as with curl`(
    _ pattern: String, _ targets: [String]
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("f", "a")
    let url = server.url + pattern
    for line in [
      ["formstream", "get"], ["formstream", "post", "-d", "a"], ["curl", "-q", "-sS"],
    ] {
      let before = server.requests.count
      let result =
        line[0] == "curl"
        ? try run(program: "/usr/bin/env", line + [url], in: place)
        : try run("formstream", line.dropFirst() + [url], in: place)
      #expect(result.exit == 0, "\(result)")
      #expect(server.requests.dropFirst(before).map(\.target) == targets, "\(line)")
    }
  }

  @Test func `an upload goes to the one URL that a pattern stands for`() throws {
    let server = try ScriptedServer { _ in .good(201) }
    let place = try TemporaryDirectory()
    try place.write("f", "a")
    let result = try run("formstream", ["put", "-T", "f", "\(server.url)/{a}"], in: place)
    #expect(result.exit == 0, "\(result)")
    #expect(server.requests.map(\.target) == ["/a"])
  }

  @Test(arguments: ["[::1]", "[fe80::1%25eth-0]", "[::ffff:127.0.0.1]"])
  func `an address of IPv6 is no pattern`(_ host: String) throws {
    let result = try formstream("post", "--dry-run", "-d", "a", "http://\(host):8080/{x}")
    #expect(result.exit == 0 && result.output.contains(":8080/x\n"), "\(result)")
  }

  /// curl would send it without its braces.
  @Test func `JSON in a URL is refused without -g`() throws {
    let server = try ScriptedServer { _ in .good() }
    for target in ["/?q={\"a\":1}", "/?q={\"a\":1,\"b\":2}"] {
      let result = try formstream("get", server.url + target)
      #expect(result.exit == 64 && result.stderr.contains("-g"), "\(result)")
    }
    #expect(server.connectionCount == 0)
  }
}
