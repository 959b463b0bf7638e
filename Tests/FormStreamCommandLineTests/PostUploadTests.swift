import FormStreamTestSupport
import Testing

/// Several files, patterns, words and headers of `put` and `post`, compared with the installed curl.
@Suite struct PostUploadTests {
  private struct Sent: Equatable, CustomStringConvertible {
    let method: String
    let target: String
    let headers: Set<String>
    let body: String

    /// What curl and formstream are to agree on. curl asks for no coding, and for a small body of PUT whether to send it.
    init(_ request: RecordedRequest, isForm: Bool) {
      method = request.method
      // RFC 3986 §2.1: letters in percent codes mean the same in upper and lower case.
      target = request.target.replacing(/%[0-9a-f]{2}/) { $0.output.uppercased() }
      var own: Set = ["host", "accept-encoding", "content-length", "transfer-encoding"]
      let boundary = request.header("Content-Type")?.split(separator: "boundary=").last
      if isForm { own.insert("content-type") }
      if method == "PUT" { own.insert("expect") }
      headers = Set(
        request.headers.compactMap { header in
          let name = header.name.lowercased()
          guard !own.contains(name) else { return nil }
          return name == "user-agent" ? name : "\(name): \(header.value)"
        })
      let text = String(decoding: request.body, as: UTF8.self)
      body = isForm ? text.replacing(boundary ?? "", with: "BOUNDARY") : text
    }

    var description: String { "\(method) \(target) \(headers.sorted()) \(body)" }
  }

  /// Arguments of curl and of `formstream put`; `URL` is the server's, without a slash at its end.
  static let sameAsCurl: [[String]] = [
    ["-T", "{a.txt,b.txt}", "URL/up/"], ["-T", "img[1-3].png", "URL/"],
    ["-T", "img[01-03].png", "URL"], ["-T", "img[1-3:2].png", "URL/"], ["-T", "[a-b].txt", "URL/"],
    ["-T", "{a,b}.{txt,png}", "URL/"], ["-T", "a.txt", "URL/1", "-T", "b.txt", "URL/2"],
    ["-T", "a.txt", "-T", "b.txt", "URL/1/", "URL/2"], ["-g", "-T", "x[1].txt", "URL/"],
    ["-T", "x\\[1\\].txt", "URL/"],
  ]

  @Test(arguments: sameAsCurl)
  func `-T sends what curl sends`(_ arguments: [String]) throws {
    let type = ["-H", "Content-Type: a/b"]
    try Self.compare(arguments + type, with: "put")
  }

  @Test(arguments: [
    ["-H", "Accept:", "-d", "a"], ["-H", "User-Agent:", "-d", "a"],
    ["-H", "Content-Type:", "-d", "a"],
    ["-H", "X-A;", "-d", "a"], ["-H", "X-A:", "-d", "a"], ["-H", "Expect:", "-d", "a"],
    ["-H", "@heads", "-d", "a"], ["-H", "@-", "-d", "a"], ["-A", "", "-d", "a"],
    ["-H", "Accept:", "--json", "{\"a\":1}"], ["-H", "Accept: a/b", "--json", "{\"a\":1}"],
    ["-A", "", "-H", "User-Agent:", "-d", "a"],
    ["-H", "Content-Type: multipart/form-data", "-F", "a=b"],
    ["-H", "content-type: Multipart/Form-Data", "-F", "a=b"],
  ])
  func `-H sends what curl sends`(_ arguments: [String]) throws {
    try Self.compare(arguments + ["URL/"], with: "post")
  }

  /// With `--growing`, the files of `-T` had the type application/octet-stream.
  @Test(arguments: [[], ["--growing"], ["--verify-growing"]])
  func `-T sends a file without a type`(_ flags: [String]) throws {
    let server = try ScriptedServer { _ in .good(body: "ok\n") }
    let place = try Self.place()
    let result = try run(
      "formstream", ["put"] + flags + ["-T", "a.txt", server.url + "/"], in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map { $0.header("Content-Type") } == [nil])
  }

  private static func compare(_ arguments: [String], with verb: String) throws {
    let place = try place()
    var all: [[Sent]] = []
    for isCurl in [true, false] {
      let server = try ScriptedServer { _ in .good(body: "ok\n") }
      let words = arguments.map { $0.replacing("URL", with: server.url) }
      let input = Array("X-Piped: 1\n".utf8)
      let result =
        isCurl
        ? try run(
          program: "/usr/bin/curl", ["-sS", "-q", "--noproxy", "*"] + words, standardInput: input,
          in: place)
        : try run("formstream", [verb] + words, standardInput: input, in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.faults.isEmpty)
      let isForm = arguments.contains("-F")
      all.append(server.requests.map { Sent($0, isForm: isForm) })
    }
    #expect(all[1] == all[0])
    #expect(!all[0].isEmpty)
  }

  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for name in [
      "a.txt", "b.txt", "a.png", "b.png", "img1.png", "img2.png", "img3.png", "img01.png",
      "img02.png", "img03.png", "x[1].txt",
    ] {
      try place.write(name, "contents of \(name)\n")
    }
    try place.write("heads", "X-One: 1\nX-Two: 2\n")
    return place
  }

  /// Runs the command, and returns what the server got: `PUT /a.txt`.
  private static func sent(
    _ words: String..., exit: Int32 = 0, says: String = "", status: Int = 200
  ) throws -> [String] {
    let server = try ScriptedServer { request in
      .good(request.target.contains("b.txt") ? status : 200)
    }
    let result = try run(
      "formstream", words.map { $0.replacing("URL", with: server.url) }, in: try place())
    #expect(result.exit == exit, "\(result.stderr)")
    #expect(
      says.isEmpty || (result.stderr + result.output).contains(says),
      "\(result.stderr)\(result.output)")
    return server.requests.map { "\($0.method) \($0.target)" }
  }

  /// curl sends the second of two files nowhere, and says so only in a warning.
  @Test func `several files go to one URL that ends in a slash`() throws {
    #expect(
      try Self.sent("put", "-T", "a.txt", "-T", "b.txt", "URL/up/")
        == ["PUT /up/a.txt", "PUT /up/b.txt"])
  }

  @Test func `words before the URL that are files are sent`() throws {
    #expect(try Self.sent("put", "a.txt", "URL/x") == ["PUT /x"])
    #expect(try Self.sent("put", "a.txt", "b.txt", "URL/") == ["PUT /a.txt", "PUT /b.txt"])
    #expect(
      try Self.sent("put", "-T", "img1.png", "img2.png", "img3.png", "URL/")
        == ["PUT /img1.png", "PUT /img2.png", "PUT /img3.png"])
    #expect(
      try Self.sent("post", "-T", "a.txt", "b.txt", "URL/") == ["POST /a.txt", "POST /b.txt"])
    // A file of exactly this name is no pattern: the shell has expanded it.
    #expect(try Self.sent("put", "-T", "x[1].txt", "URL/") == ["PUT /x%5B1%5D.txt"])
    #expect(try Self.sent("put", "x[1].txt", "URL/") == ["PUT /x%5B1%5D.txt"])
  }

  @Test(arguments: [["-T", "."], ["-T", "-"], ["-"]])
  func `a dot is standard input, as in curl`(_ words: [String]) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try run(
      "formstream", ["put"] + words + [server.url + "/x"], standardInput: Array("piped".utf8))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.body) == [Array("piped".utf8)])
  }

  @Test func `@FILE is the body, and adds no name`() throws {
    #expect(try Self.sent("post", "@a.txt", "URL/") == ["POST /"])
    #expect(try Self.sent("post", "URL/x/", "@a.txt") == ["POST /x/"])
    #expect(try Self.sent("put", "@a.txt", "URL/x") == ["PUT /x"])
  }

  @Test func `a failure ends none of the others, and names its file`() throws {
    let all = ["PUT /a.txt", "PUT /b.txt", "PUT /img1.png"]
    #expect(
      try Self.sent(
        "put", "-T", "{a.txt,b.txt,img1.png}", "URL/", exit: 1, says: " b.txt: ", status: 403)
        == all)
    #expect(
      try Self.sent(
        "put", "--json", "-T", "{a.txt,b.txt,img1.png}", "URL/", exit: 1,
        says: #""error":{"code":"status-refused","message":"b.txt: "#, status: 403) == all)
  }

  @Test func `each request has its own outline, record and key`() throws {
    let place = try Self.place()
    let outline = try formstream(
      "put", "--dry-run", "--idempotency-key", "auto", "-T", "{a,b}.txt", "http://h/", in: place)
    #expect(outline.output.contains("PUT http://h/a.txt\n"), "\(outline.output)")
    #expect(outline.output.contains("PUT http://h/b.txt\n"))
    let keys = outline.output.split(separator: "\n").filter { $0.hasPrefix("Idempotency-Key") }
    #expect(Set(keys).count == 2)
  }

  @Test(arguments: ["localhost", "LOCALHOST", "127.0.0.1"])
  func `a host on this machine needs no scheme`(_ host: String) throws {
    let server = try ScriptedServer(requests: [.good()])
    let result = try formstream("post", "-d", "a", "\(host):\(server.port)/x?a#b")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.first?.target == "/x?a")
  }

  @Test func `the address ::1 needs no scheme`() throws {
    let result = try formstream("post", "--dry-run", "-d", "a", "[::1]:8080/x")
    #expect(result.output.hasPrefix("POST http://[::1]:8080/x\n"), "\(result.stderr)")
  }

  @Test func `headers of copied command lines come with a note`() throws {
    let server = try ScriptedServer { _ in .good() }
    for (header, note) in [
      ("Connection: keep-alive", "Connection is not taken"),
      ("Transfer-Encoding: chunked", "there is no body"),
    ] {
      let result = try formstream("post", "-H", header, server.url)
      #expect(result.exit == 0)
      #expect(result.stderr.contains(note), "\(result.stderr)")
    }
  }

  @Test func `-H 'Expect: 100-continue' asks before the body`() throws {
    let server = try ScriptedServer { _ in .good() }
    _ = try formstream("post", "-d", "a", "-H", "Expect: 100-continue", server.url)
    #expect(server.requests.first?.header("Expect") == "100-continue")
    _ = try formstream(
      "post", "-d", "a", "--expect", "never", "-H", "Expect: 100-continue", server.url)
    #expect(server.requests.last?.header("Expect") == nil)
  }

  @Test(arguments: [["put", "-T"], ["get", "-o"]])
  func `a retry is told with the file and the time, and not with -q`(_ verb: [String]) throws {
    for flags in [[], ["-q"], ["-v"]] {
      let server = try ScriptedServer { request in
        .good(request.number == 0 ? 503 : 200, headers: [("Retry-After", "0")])
      }
      let result = try run(
        "formstream", verb + ["a.txt", "--retry", "1", server.url] + flags, in: try Self.place())
      #expect(result.exit == 0)
      let told = try #/formstream: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ a.txt: .*503.* Trying again in [\d.]+ m?s \(attempt 2\)\./#
        .firstMatch(in: result.stderr)
      #expect((told != nil) == flags.isEmpty, "\(result.stderr)")
    }
  }

  @Test func `a retry says why, and nothing of what would be to do without it`() throws {
    let server = try ScriptedServer { request in
      request.number == 0 ? [.readBody, .close] : .good()
    }
    let result = try run(
      "formstream", ["put", "--retry", "1", "-T", "a.txt", server.url], in: try Self.place())
    #expect(result.exit == 0)
    #expect(
      result.stderr.contains(
        #/The request to .* was sent, and the connection broke before a response arrived \(.*\)\. Trying again in [\d.]+ m?s \(attempt 2\)\.\n/#
      ), "\(result.stderr)")
    #expect(!result.stderr.contains("Ask the server"))
  }

  @Test func `-v has the sizes of bodies`() throws {
    let server = try ScriptedServer { _ in .good(body: "four") }
    let result = try formstream("post", "-v", "-d", "abc", server.url)
    #expect(result.stderr.contains("* 3 bytes of the request's body sent\n"), "\(result.stderr)")
    #expect(result.stderr.contains("* 4 bytes of the response's body received\n"))
  }

  /// `script` provides the terminal.
  @Test func `a success without a body shows its status on a terminal`() throws {
    let server = try ScriptedServer { _ in .good(201) }
    let shown = try shell("script -qec \"$F post -d a \(server.url)\" /dev/null")
    #expect(shown.output.contains("status 201"), "\(shown.output)")
    let piped = try formstream("post", "-d", "a", server.url)
    #expect(piped.stderr.isEmpty && piped.stdout.isEmpty)
  }

  @Test func `cookies that the server sets are masked unless they are asked for`() throws {
    for flags in [["-v"], ["--json"]] {
      let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "id=canary")]) }
      let masked = try run("formstream", ["post", "-d", "a", server.url] + flags)
      #expect(!(masked.stderr + masked.output).contains("canary"))
      let shown = try run("formstream", ["post", "-d", "a", "--show-cookies", server.url] + flags)
      #expect((shown.stderr + shown.output).contains("id=canary"))
    }
  }

  @Test func `a token in the environment is sent, and never shown`() throws {
    let server = try ScriptedServer { _ in .good() }
    let arguments = ["post", "-v", "--json", "--token-env", "T", "-d", "a", server.url]
    let result = try run("formstream", arguments, environment: ["T": "canary"])
    #expect(server.requests.first?.header("Authorization") == "Bearer canary")
    #expect(!(result.stderr + result.output).contains("canary"))
    let curl = try run("formstream", arguments + ["--to-curl"], environment: ["T": "canary"])
    #expect(curl.output.contains("--oauth2-bearer \"$T\""), "\(curl.output)\(curl.stderr)")
    for (name, value) in [("T", "can ary"), ("T", ""), ("$T", "a"), ("canary!", "a")] {
      let refused = try run(
        "formstream", ["post", "--token-env", name, "-d", "a", server.url],
        environment: ["T": value])
      #expect(refused.exit == 64)
      #expect(!refused.stderr.contains("can" + "ary"), "\(refused.stderr)")
    }
  }

  @Test func `messages about a body that is no form name no part`() throws {
    let missing = try formstream("put", "-T", "missing", "http://127.0.0.1:1/")
    #expect(missing.stderr.contains("The file \"missing\" does not exist"), "\(missing.stderr)")
    #expect(!missing.stderr.contains("part"))
  }
}
