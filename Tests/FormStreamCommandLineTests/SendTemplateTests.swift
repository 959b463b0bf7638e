import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// `send`: templates, PUT, idempotency keys, and the comparison of what the server says.
@Suite struct SendTemplateTests {
  private static func server(_ body: String = "") throws -> ScriptedServer {
    try ScriptedServer { _ in .good(body: body) }
  }

  private static func tree() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir -p 'in/a b'", in: place)
    try place.write("in/a b/c{d}.tar.gz", "words")
    return place
  }

  @Test func `values of the file are expanded in -F and --field-template, and not in --field`()
    throws
  {
    let server = try Self.server()
    let result = try formstream(
      "send", "-F", "one={{{name}}|{stem}|{extension}", "--field-template",
      "two={relative} {size} {index}",
      "-F", "three={type} {sha256}", "--field", "four={name}", "--filename", "{index}-{name}",
      server.url, "in",
      in: try Self.tree())
    #expect(result.exit == 0, "\(result.stderr)")
    let body = String(decoding: server.requests.first?.body ?? [], as: UTF8.self)
    #expect(body.contains("name=\"one\"\r\n\r\n{c{d}.tar.gz}|c{d}.tar|gz\r\n"), "\(body)")
    #expect(body.contains("name=\"two\"\r\n\r\na b/c{d}.tar.gz 5 0\r\n"), "\(body)")
    #expect(
      body.contains(
        "\r\n\r\ntext/plain dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e\r\n"),
      "\(body)")
    #expect(body.contains("name=\"four\"\r\n\r\n{name}\r\n"), "\(body)")
    #expect(body.contains("filename=\"0-c{d}.tar.gz\""), "\(body)")
  }

  @Test(arguments: ["a={nam}", "a={name", "a={}", "a={\"b\":1}"])
  func `a name that is no value is an error before anything is sent`(_ field: String) throws {
    let server = try Self.server()
    let result = try formstream("send", "-F", field, server.url, "in", in: try Self.tree())
    #expect(result.exit == 64)
    #expect(result.stderr.contains("{{ for a brace"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    ("/up/", "/up/a%20b/c%7Bd%7D.tar.gz"), ("/up/{name}", "/up/c%7Bd%7D.tar.gz"),
    ("/up?f={relative}", "/up?f=a%20b%2Fc%7Bd%7D.tar.gz"),
    ("/{size}/{stem}.x", "/5/c%7Bd%7D.tar.x"),
  ])
  func `files are put as they are, at URLs of their own`(_ template: String, _ target: String)
    throws
  {
    let server = try Self.server()
    let result = try formstream(
      "send", "--json", "--put", server.url + template, "in", in: try Self.tree())
    #expect(result.exit == 0, "\(result.stderr)")
    let request = try #require(server.requests.first)
    #expect(request.method == "PUT")
    #expect(request.target == target)
    #expect(request.body == Array("words".utf8))
    #expect(request.header("Content-Type") == "text/plain")
    #expect(result.output.contains("\"url\":\"\(server.url)\(target)\""), "\(result.output)")
  }

  @Test(arguments: [
    "http://{name}/", "http://h:{size}/", "{name}://h/", "http://h/fixed", "http://h/#{name}",
  ])
  func `a value can't be outside of the path and the query`(_ url: String) throws {
    let result = try formstream("send", "--put", url, "in", in: try Self.tree())
    #expect(result.exit == 64, "\(result.stderr)")
  }

  /// The stem of such a name is a dot, and servers take a dot for the directory.
  @Test func `a URL whose path would have a dot as a component is not used`() throws {
    let server = try Self.server()
    let place = try TemporaryDirectory()
    try place.write("..x", "x")
    let result = try formstream(
      "send", "--json", "--put", "\(server.url)/up/{stem}/x", "..x", in: place)
    #expect(result.exit == 1, "\(result.output)")
    #expect(result.output.contains("\"code\":\"invalid-template\""), "\(result.output)")
    #expect(server.requests.isEmpty)
  }

  @Test func `each file has an idempotency key, the same in each attempt`() throws {
    let server = try ScriptedServer { request in
      request.number < 2 ? [.readBody, .reset] : .good()
    }
    let place = try TemporaryDirectory()
    for name in ["a", "b"] { try place.write(name, name) }
    let result = try formstream(
      "send", "--json", "--idempotency-key", "auto", "-j", "2", server.url, "a", "b", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.count == 4)
    let keys = Dictionary(grouping: server.requests) { $0.header("Idempotency-Key") ?? "" }
    #expect(keys.count == 2)
    for (key, requests) in keys {
      #expect(
        key.wholeMatch(of: /"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/)
          != nil)
      #expect(Set(requests.compactMap(SentFile.init(lastPartOf:))).count == 1)
    }
    #expect(!result.output.contains("\"maybe_duplicate\":true"))
  }

  private static let digest = "dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e"

  @Test(arguments: [
    ("a.b[1].sha256", #"{"a":{"b":[{},{"sha256":"\#(digest.uppercased())"}]}}"#, true),
    ("size", #"{"size":5}"#, true), ("[0]", "[5]", true), ("size", #"{"size":6}"#, false),
    ("sha256", #"{"sha256":"abc"}"#, false), ("sha256", "{}", false), ("sha256", "not JSON", false),
  ])
  func `what the server says is compared with the file`(
    _ path: String, _ body: String, _ isRight: Bool
  ) throws {
    let server = try Self.server(body)
    let result = try formstream(
      "send", "--json", "--verify", path, server.url, "in", in: try Self.tree())
    #expect(result.exit == (isRight ? 0 : 1), "\(result.output)")
    #expect(result.output.contains("digest-mismatch") != isRight, "\(result.output)")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [([], true), (["--put"], false), (["--idempotency-key", "auto"], false)])
  func `what the server accepted and did not confirm is marked if it is sent again`(
    _ flags: [String], _ isMarked: Bool
  ) throws {
    let server = try ScriptedServer { .good(body: #"{"size":\#($0.number == 0 ? 6 : 5)}"#) }
    let words =
      ["send", "--json", "--journal", "journal", "--verify", "size"] + flags
      + [flags == ["--put"] ? server.url + "/{name}" : server.url, "in"]
    let place = try Self.tree()
    let first = try run("formstream", words, in: place)
    #expect(first.exit == 1, "\(first.stderr)")
    #expect(first.output.contains(#""maybe_duplicate":false"#))
    let second = try run("formstream", words, in: place)
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(second.output.contains(#""maybe_duplicate":true"#) == isMarked, "\(second.output)")
    #expect(server.requests.count == 2)
  }
}
