import FormStreamTestSupport
import Testing

/// Bodies that are not forms, with curl's meaning of the flags.
@Suite struct PostBodyTests {
  private static func sent(
    _ arguments: [String], input: [UInt8]? = nil
  ) throws -> RecordedRequest {
    let place = try TemporaryDirectory()
    try place.write("lines", "one\r\ntwo=1 2\n")
    try place.write("j", "{}\n")
    let server = try ScriptedServer(requests: [.good()])
    let result = try run(
      "formstream", ["post"] + arguments + ["\(server.url)/"], standardInput: input, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.faults.isEmpty)
    return try #require(server.requests.first)
  }

  @Test(arguments: [
    (["-d", "a=b"], "a=b"), (["--data", "a", "-d", "b"], "a&b"), (["-d", ""], ""),
    (["-d", "@lines"], "onetwo=1 2"), (["--data-raw", "@lines"], "@lines"),
    (["--data-binary", "@lines"], "one\r\ntwo=1 2\n"),
    (["--data-binary", "@lines", "-d", "x"], "one\r\ntwo=1 2\n&x"),
    (["--data-urlencode", "a b&c"], "a+b%26c"), (["--data-urlencode", "=a=b"], "a%3Db"),
    (["--data-urlencode", "n=ü"], "n=%C3%BC"), (["--data-urlencode", "@j"], "%7B%7D%0A"),
    (["--data-urlencode", "n@j"], "n=%7B%7D%0A"),
    (["--data-urlencode", "a=@j"], "a=%40j"),
  ])
  func `data is joined as by curl`(_ arguments: [String], _ body: String) throws {
    let request = try Self.sent(arguments)
    #expect(String(decoding: request.body, as: UTF8.self) == body)
    #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.header("Content-Length") == "\(body.utf8.count)")
  }

  @Test(arguments: [
    (["-d", "@-"], "in=put"), (["--data-binary", "@-"], "in=put\n"),
    (["--data-urlencode", "n@-"], "n=in%3Dput%0A"), (["-T", "-"], "in=put\n"),
    (["--json-body", "@-"], "in=put\n"),
  ])
  func `data may come from standard input`(_ arguments: [String], _ body: String) throws {
    let request = try Self.sent(arguments, input: Array("in=put\n".utf8))
    #expect(String(decoding: request.body, as: UTF8.self) == body)
  }

  @Test func `JSON has its Content-Type and Accept`() throws {
    for (argument, body) in [("{\"a\":1}", "{\"a\":1}"), ("@j", "{}\n")] {
      let request = try Self.sent(["--json-body", argument])
      #expect(String(decoding: request.body, as: UTF8.self) == body)
      #expect(request.header("Content-Type") == "application/json")
      #expect(request.header("Accept") == "application/json")
    }
    let other = try Self.sent(["--json-body", "{}", "-H", "Accept: a/b", "-H", "content-type: c/d"])
    #expect(other.values(of: "Accept") == ["a/b"])
    #expect(other.values(of: "Content-Type") == ["c/d"])
  }

  @Test func `a large file is streamed`() throws {
    let place = try TemporaryDirectory()
    let bytes = noise(3_000_000)
    try place.write("big.bin", [0] + bytes)
    let server = try ScriptedServer(requests: [.good(), .good()])
    for flags in [["-T", "big.bin"], ["--data-binary", "@big.bin"]] {
      let result = try run("formstream", ["post"] + flags + [server.url], in: place)
      #expect(result.exit == 0, "\(result.stderr)")
    }
    #expect(server.requests.map(\.body) == [[0] + bytes, [0] + bytes])
    #expect(server.requests.first?.header("Content-Type") == nil)
    #expect(server.faults.isEmpty)
  }
}

/// `formstream put`.
@Suite struct PutTests {
  @Test(arguments: [
    ("/", "/a%20b.txt"), ("", "/a%20b.txt"), ("/d/?q", "/d/a%20b.txt?q"), ("/name", "/name"),
  ])
  func `a file is sent to the URL, with its name if the URL ends in a slash`(
    _ path: String, _ target: String
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("a b.txt", "words\n")
    let server = try ScriptedServer(requests: [.good(201)])
    let result = try formstream("put", "--upload-file", "a b.txt", server.url + path, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT"])
    #expect(server.requests.map(\.target) == [target])
    // As curl: a signature of the URL may not cover a type.
    #expect(server.requests.first?.header("Content-Type") == nil)
    #expect(server.requests.first?.body == Array("words\n".utf8))
    #expect(server.faults.isEmpty)
  }

  @Test func `a pipe that is not read ahead is sent in chunks, without a name`() throws {
    let server = try ScriptedServer(requests: [.good()])
    let result = try formstream(
      "put", "--read-ahead", "0", "-T", "-", "\(server.url)/", standardInput: Array("words".utf8))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.target) == ["/"])
    #expect(server.requests.map(\.framing) == [.chunked])
    #expect(server.requests.first?.body == Array("words".utf8))
    #expect(server.faults.isEmpty)
  }

  @Test func `put sends forms too, and -X changes its method`() throws {
    let server = try ScriptedServer(requests: [.good(), .good()])
    #expect(try formstream("put", "-F", "a=b", server.url).exit == 0)
    #expect(try formstream("put", "-X", "PATCH", "-d", "a=b", server.url).exit == 0)
    #expect(server.requests.map(\.method) == ["PUT", "PATCH"])
    #expect(server.faults.isEmpty)
  }
}
