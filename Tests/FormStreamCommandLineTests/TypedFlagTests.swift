import FormStreamTestSupport
import Testing

/// Messages about a flag name it as it was typed, and say what to do.
@Suite struct TypedFlagTests {
  @Test(arguments: [
    (
      ["post", "--form-string", "a", "http://h/"],
      "--form-string (argument 3) has no = in it: write --form-string NAME=VALUE"
    ),
    (["post", "--form", "a", "http://h/"], "--form (argument 3) has no = in it"),
    (["post", "--json", "{}", "-d", "a", "http://h/"], "-d and --json make two different bodies"),
    (["post", "--json-body", "{}", "--data", "a", "http://h/"], "--data and --json-body make"),
    (["post", "--header", "X", "-d", "", "http://h/"], "--header (argument 3) has no colon"),
    (["put", "-C", "-", "http://h/"], "-C is not a flag of \"put\": uploads start"),
    (["put", "-C"], "-C is not a flag of \"put\""),
    (["post", "--jobs", "x", "http://h/"], "--jobs is not a flag of \"post\""),
    (["get", "-F", "a=b", "http://h/"], "-F is not a flag of \"get\": it makes a body"),
    (
      ["put", "--make-collections", "-T", "a.txt", "http://h/dav/a.txt"],
      "--make-collections is not a flag of \"put\": it is one of formstream send --put --make-collections"
    ),
    (["get", "--to-curl", "http://h/"], "--to-curl is not a flag of \"get\": it shows"),
    (
      ["post", "-d", "", "http:/host/x"],
      "The URL (argument 4) has one slash in place of two after http: write http://HOST/PATH."
    ),
    (
      ["post", "-d", "", "--url", "https:x"],
      "--url (argument 5) has no slashes after the colon of https: write https://HOST/PATH."
    ),
    (
      ["put", "-T", "f[1-2].txt", "http://h/a", "http://h/b"],
      "-T (argument 3) stands for 2 files: for 2 URLs, give each file a -T"
    ),
    (["put", "-T", "f[1-3].txt", "http://h/a", "http://h/b"], "There are 3 files and 2 URLs"),
    (["post", "--json", "nul", "http://h/"], "--json-body DATA sends JSON"),
    (["get", "--proto-redir", "=ftp", "http://h/"], "--proto-redir (argument 3) is not =https"),
  ])
  func `a wrong command line is explained`(_ arguments: [String], _ says: String) throws {
    let result = try run("formstream", arguments)
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  @Test func `text that is not UTF-8 is that of the flag that was typed`() throws {
    let result = try shell("$F post -e $'\\xff' -d a http://h/")
    #expect(result.stderr.contains("-e (argument 3) is not UTF-8"), "\(result.stderr)")
  }

  @Test func `an empty text after --json is the data, as in curl`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try formstream("post", "--json", "", server.url)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.last?.header("Content-Type") == "application/json")
    #expect(server.requests.last?.body == [])
  }

  @Test func `--create-dirs makes the directory of -D, and a message about it names -D`() throws {
    let server = try ScriptedServer { _ in .good() }
    for verb in ["get", "post"] {
      let place = try TemporaryDirectory()
      let missing = try formstream(verb, "-D", "sub/h", server.url, in: place)
      #expect(missing.exit == 74)
      #expect(missing.stderr.contains("Choose another with -D,"), "\(missing.stderr)")
      let made = try formstream(verb, "-D", "sub/h", "--create-dirs", server.url, in: place)
      #expect(made.exit == 0, "\(made.stderr)")
      #expect(try shell("head -c 12 sub/h", in: place).output == "HTTP/1.1 200")
    }
  }

  @Test func `a server without HTTP/2 leads to a flag that allows HTTP/1.1`() throws {
    // A server that closed at once would leave bytes unread, and its response could be lost.
    let server = try ScriptedServer { _ in .good() + [.stall] }
    let result = try formstream("get", "--http2-prior-knowledge", server.url)
    #expect(result.exit != 0)
    // If libcurl reads the response with the same call that sends the request, nothing else sees its beginning.
    let remedies = [
      "Allow HTTP/1.1, which --http2-prior-knowledge forbids.",
      "send it with HTTP/1.1 (--http1.1).",
    ]
    #expect(remedies.contains(where: result.stderr.contains), "\(result.stderr)")
  }

  @Test func `--proto-redir is about redirects, and not about the URL`() throws {
    let server = try ScriptedServer { request in
      request.target == "/from" ? .good(307, headers: [("Location", "/to")]) : .good()
    }
    for (flags, exit) in [
      (["--proto-redir", "=https"], Int32(1)), (["--proto-redir", "=https,http"], 0),
    ] {
      let result = try run("formstream", ["get"] + flags + ["\(server.url)/from"])
      #expect(result.exit == exit, "\(result.stderr)")
      #expect(result.stderr.contains("only redirects to https are allowed") == (exit == 1))
      #expect(try run("formstream", ["get"] + flags + ["\(server.url)/to"]).exit == 0)
    }
  }

  // MARK: Switches that are turned off

  @Test(arguments: [
    ["-s", "--no-silent"], ["--compressed", "--no-compressed"], ["-f", "--no-fail"],
    ["-i", "--no-include"], ["--show-headers", "--no-include"], ["-L", "--no-location"],
    ["--no-keepalive", "--keepalive"], ["-fsi", "--no-include", "--no-fail", "--no-silent"],
    ["--digest", "-u", "a:b", "--no-digest"], ["--no-insecure"],
  ])
  func `a switch is turned off as in curl`(_ flags: [String]) throws {
    let server = try ScriptedServer { _ in .good(404, body: "page") }
    let result = try run("formstream", ["post", "-d", "a"] + flags + [server.url])
    #expect(result.exit == 1 && result.output == "page", "\(result.output) \(result.stderr)")
    #expect(result.stderr.contains("404"))
    let request = try #require(server.requests.first)
    #expect(request.header("Accept-Encoding") == "identity")
    #expect(request.body == Array("a".utf8))
  }

  @Test func `what is typed after that turns it on again`() throws {
    let server = try ScriptedServer { _ in .good(404, body: "page") }
    let result = try formstream("post", "-d", "a", "-f", "--no-fail", "-f", server.url)
    #expect(result.exit == 1 && result.output == "")
  }

  @Test(arguments: [
    ("--no-request", "--request has a value, and only switches are turned off"),
    ("--no-silent=1", "--no-silent takes no value"),
    ("--no-fail-with-body", "formstream does what --fail-with-body says in any case"),
    ("--insec", "Names are not abbreviated: write --insecure or --insecure-auth."),
    ("--compr", "Names are not abbreviated: write --compressed or --compressed-upload."),
    ("--form-str", "Names are not abbreviated: write --form-string."),
    ("--remote-heade", "write --remote-header-name."),
    ("--no-locatoin", "Did you mean --no-location?"), ("--once", "is not a flag of \"post\""),
  ])
  func `a name that is not that of a flag is never taken for the opposite`(
    _ flag: String, _ says: String
  ) throws {
    let verb = flag.hasPrefix("--remote") ? "get" : "post"
    let result = try formstream(verb, flag, "http://127.0.0.1:1/")
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  // MARK: Help

  @Test func `help says that @FILE may come before the URL`() throws {
    #expect(
      try formstream("post", "--help").output.contains(
        "Usage: formstream post [FLAG]... [@FILE] URL\n"))
    #expect(
      try formstream("put", "--help").output.contains(
        "Usage: formstream put [FLAG]... [@FILE | FILE...] URL\n"))
  }
}
