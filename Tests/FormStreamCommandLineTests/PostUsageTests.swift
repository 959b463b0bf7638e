import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Errors of `post` and `put`: on the command line, and before or while the request is sent.
@Suite struct PostUsageTests {
  static let bad: [BadInput] = [
    BadInput(64, "Name the URL", "post", "-F", "a=b"),
    BadInput(64, "The URL is empty: is a variable unset?", "post", "-d", "a", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "post", "-d", "a", "", "a"),
    BadInput(64, "The URL is empty: is a variable unset?", "post", "-d", "a", "--url", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "put", "a", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "put", "", "a"),
    BadInput(64, "The URL is empty: is a variable unset?", "put", "-T", "a", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "get", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "get", "http://localhost/", ""),
    BadInput(64, "The URL is empty: is a variable unset?", "send", "", "a"),
    BadInput(64, "The URL is empty: is a variable unset?", "send", "--put", "", "a"),
    BadInput(64, "send takes the URL first", "send", "photo.jpg", "https://example.org/"),
    BadInput(64, "send takes the URL first", "send", "/etc/passwd"),
    BadInput(64, "send takes the URL first", "send", "--put", "photo.jpg", "https://example.org/"),
    BadInput(66, "The path \"/etc\" is a directory", "put", "/etc", "http://localhost/"),
    BadInput(
      66, "The path \"/etc\" of -T is a directory", "put", "-T", "/etc", "http://localhost/"),
    BadInput(64, "has no scheme: put https://", "post", "-d", "a", "example.org"),
    BadInput(64, "has no scheme", "post", "-d", "a", "/path"),
    BadInput(64, "only http and https", "post", "-d", "a", "ftp://example.org/"),
    BadInput(
      64, "There is 1 file and 2 URLs", "put", "-T", "a", "http://h/", "http://i/"),
    BadInput(64, "--json-body DATA", "post", "{\"a\":1}", "http://h/"),
    BadInput(64, "--json-body DATA", "post", "[1]", "http://h/"),
    BadInput(
      64, "-F and -d make two different bodies", "post", "-F", "a=b", "-d", "c", "http://h/"),
    BadInput(64, "-T and --json-body make", "put", "-T", "x", "--json-body", "c", "http://h/"),
    BadInput(64, "would replace the one before", "put", "-T", "x", "-T", "y", "http://h/z"),
    BadInput(
      64, "3 files and 2 URLs", "put", "-T", "x", "-T", "y", "-T", "z", "http://h/", "http://i/"),
    BadInput(64, "stands for more than 10000 files", "put", "-T", "[0-99999]", "http://h/"),
    BadInput(64, "is no pattern", "put", "-T", "a{b", "http://h/"),
    BadInput(64, "is no pattern", "put", "-T", "a[9-1]", "http://h/"),
    BadInput(64, "is no pattern", "put", "-T", "a[1-9:0]", "http://h/"),
    BadInput(64, "too large", "put", "-T", "a[1-99999999999999999999]", "http://h/"),
    BadInput(64, "-T FILE as it is", "post", "/etc/passwd", "http://h/"),
    BadInput(64, "neither a URL nor a file", "put", "missing", "http://h/"),
    BadInput(64, "-F NAME=VALUE adds", "post", "a=b", "http://h/"),
    BadInput(64, "localhost before its colon", "post", "-d", "a", ":8080/x"),
    BadInput(64, "has no scheme", "post", "-d", "a", "localhost.example"),
    BadInput(64, "has no scheme", "post", "-d", "a", "127.0.0.1.example/"),
    BadInput(64, "has no scheme", "post", "-d", "a", "127.1"),
    BadInput(64, "has no scheme", "post", "-d", "a", "10.0.0.1/x"),
    BadInput(
      64, "one key, and there are 2 requests", "put", "--idempotency-key", "k", "-T", "{x,y}",
      "http://h/"),
    BadInput(64, "Two responses", "put", "-o", "out", "-T", "{x,y}", "http://h/"),
    BadInput(64, "complete body of one request", "post", "@x", "-T", "y", "http://h/"),
    BadInput(64, "@FILE and -d make two", "post", "@x", "-d", "y", "http://h/"),
    BadInput(
      64, "--token-env (argument 3) is not the name of a variable", "post", "--token-env", "NOSUCH",
      "-d", "", "http://h/"),
    BadInput(64, "can't leave out Host", "post", "-d", "", "-H", "Host:", "http://h/"),
    BadInput(
      64, "can't leave out Content-Length", "post", "-d", "", "-H", "content-length:", "http://h/"),
    BadInput(
      64, "leaves out Authorization, which the user and the password of the URL set", "get", "-H",
      "Authorization:", "http://h/", "http://me:canary@127.0.0.1:1/"),
    BadInput(
      64, "leaves out Authorization, which the user and the password of the URL set", "send",
      "--put", "-H", "authorization:", "http://me:canary@127.0.0.1:1/{name}", "f"),
    BadInput(
      64, "leaves out Referer, which -e sets", "post", "-d", "", "-H", "referer:", "-e",
      "http://r/",
      "http://127.0.0.1:1/"),
    BadInput(
      64, "leaves out Range, which --range or -C sets", "get", "-H", "Range:", "-r", "0-5",
      "http://127.0.0.1:1/"),
    BadInput(
      64, "leaves out If-Range, which -C sets", "get", "-H", "If-Range:", "-C", "-", "-O",
      "http://127.0.0.1:1/a"),
    BadInput(
      64, "127.0.0.1 is an address of IPv4, and only those of IPv6 are used (--ipv6)", "post", "-6",
      "-d", "", "http://127.0.0.1:1/"),
    BadInput(
      64, "(--interface) is empty, has more than", "post", "--interface",
      "host!" + String(repeating: "a", count: 250), "-d", "", "http://127.0.0.1:1/"),
    BadInput(
      64, "write it in ASCII, such as xn--", "post", "-d", "", "http://b%FCcher.example/"),
    BadInput(
      64, "leaves out User-Agent, which -A sets", "post", "-d", "", "-A", "a", "-H", "User-Agent:",
      "http://h/"),
    BadInput(
      64, "can't be left out, because it names the boundary", "post", "-F", "a=b", "-H",
      "Content-Type:", "http://h/"),
    BadInput(66, "write $HOME", "post", "-F", "f=@~/missing", "http://127.0.0.1:1/"),
    BadInput(66, "formstream send --put", "put", "/etc", "http://127.0.0.1:1/"),
    BadInput(64, "Name what to put", "put", "http://h/"),
    BadInput(64, "no path after -T", "put", "-T", "", "http://h/"),
    BadInput(64, "no path after @", "post", "--json-body", "@", "http://h/"),
    BadInput(64, "-X (argument 3) is not a method", "post", "-X", "A B", "-d", "", "http://h/"),
    BadInput(
      64, "-H (argument 5) has no colon", "post", "-d", "", "-H", "X", "http://h/"),
    BadInput(64, "both name the URL", "post", "--url-file", "f", "-d", "", "http://h/"),
    BadInput(
      66, "of --url-file (argument 3) can't be read", "post", "--url-file", "f", "-d", ""),
    BadInput(
      66, "The file \"f\" of -H (argument 5) can't be read", "post", "-d", "", "-H", "@f",
      "http://h/"),
    BadInput(64, "derived from the body", "post", "-d", "", "-H", "Content-Length: 1", "http://h/"),
    BadInput(64, "control character", "post", "-d", "", "-H", "X: a\nb", "http://h/"),
    BadInput(64, "names its boundary", "post", "-F", "a=b", "-H", "Content-Type: a/b", "http://h/"),
    BadInput(
      64, "both set the User-Agent", "post", "-d", "", "-A", "a", "-H", "User-Agent: b", "http://h/"
    ),
    BadInput(64, "write USER:PASS", "post", "-d", "", "-u", "me", "http://h/"),
    BadInput(64, "give one", "post", "-d", "", "-u", "a:b", "--token-file", "t", "http://h/"),
    BadInput(
      66, "of --token-file (argument 5) can't be read", "post", "-d", "", "--token-file", "t",
      "http://h/"),
    BadInput(
      66, "of --header-file (argument 5) can't be read", "post", "-d", "", "--header-file", "t",
      "http://h/"),
    BadInput(
      66, "of --data-urlencode can't be read", "post", "--data-urlencode", "@t", "http://h/"),
    BadInput(
      64, "named twice, for part \"a\" and --token-file", "post", "-F", "a=@-", "--token-file", "-",
      "http://h/"),
    BadInput(64, "named twice, for -d and -d", "post", "-d", "@-", "-d", "@-", "http://h/"),
    BadInput(64, "Did you mean --retry?", "post", "--rety", "1", "http://h/"),
    BadInput(64, "--retry (argument 3) is not a number", "post", "--retry", "-1", "http://h/"),
    BadInput(64, "write seconds", "post", "--max-time", "soon", "http://h/"),
    BadInput(64, "write seconds", "post", "--max-time", "1e3", "http://h/"),
    BadInput(64, "such as 500K", "post", "--limit-rate", "0", "http://h/"),
    BadInput(
      64, "--resolve (argument 3) is not an address of a host", "post", "--resolve", "h:1",
      "http://h/"),
    BadInput(
      64, "--resolve (argument 3) has no address", "post", "--resolve", "h:80:no", "http://h/"),
    BadInput(64, "has no address at its end", "post", "--resolve", "h:80:[1.2.3.4]", "http://h/"),
    BadInput(64, "has no address at its end", "post", "--resolve", "h:80:1.2.3.4,", "http://h/"),
    BadInput(64, "needs the path of a socket", "post", "--unix-socket", "", "http://h/"),
    BadInput(
      64, "has 108 bytes, and a socket's path can have 107", "post", "--unix-socket",
      String(repeating: "s", count: 108), "http://h/"),
    BadInput(
      75, "at the socket \"nosuch\" of --unix-socket, which does not exist", "post",
      "--unix-socket",
      "nosuch", "-d", "a", "http://h/"),
    BadInput(64, "Did you mean always?", "post", "--expect", "alway", "http://h/"),
    BadInput(64, "Did you mean none?", "post", "--progress", "non", "http://h/"),
    BadInput(64, "200 to 599", "post", "--expect-status", "2xx", "http://h/"),
    BadInput(64, "-o FILE stores", "post", "--max-response", "9T", "--json", "http://h/"),
    BadInput(64, "up to 64M", "post", "--max-response", "65M", "--json", "http://h/"),
    BadInput(64, "--max-response limits", "post", "--max-response", "9", "http://h/"),
    BadInput(64, "1 to 255 ASCII characters", "post", "--idempotency-key", "", "http://h/"),
    BadInput(64, "--key is the key", "post", "--key", "k", "-d", "", "http://h/"),
    BadInput(64, "two different things", "post", "--dry-run", "--to-curl", "-d", "", "http://h/"),
    BadInput(64, "both print", "post", "--json", "-o", "-", "-d", "", "http://h/"),
    BadInput(64, "is not a flag of \"post\"", "post", "--headers", "http://h/"),
    BadInput(64, "is not a flag of \"encode\"", "encode", "--retry", "1"),
    BadInput(
      64, "a line break", "post", "--json", "--escaping", "backslash", "--field", "a\nb=c",
      "http://h/"),
    BadInput(66, "does not exist", "post", "-F", "f=@missing", "http://127.0.0.1:1/"),
    BadInput(66, "does not exist", "put", "-T", "missing", "http://127.0.0.1:1/"),
    BadInput(66, "is a directory", "put", "-T", "/etc", "http://127.0.0.1:1/"),
    BadInput(66, "can't be read", "post", "--cacert", "missing", "-d", "", "https://127.0.0.1:1/"),
    BadInput(74, "can't be written", "post", "-o", "no/such", "-d", "", "http://127.0.0.1:1/"),
    BadInput(75, "could not be sent", "post", "-d", "", "http://127.0.0.1:1/"),
  ]

  @Test(arguments: bad)
  func `an error ends with its exit code and one sentence`(_ bad: BadInput) throws {
    let result = try run("formstream", bad.arguments)
    #expect(result.exit == bad.exit, "\(result.stderr)")
    #expect(result.stderr.contains(bad.says), "\(result.stderr)")
    #expect(result.stderr.hasPrefix("formstream: "))
    #expect(result.stderr.split(separator: "\n").count == 1, "one sentence: \(result.stderr)")
    #expect(result.stdout.isEmpty, "\(result.output)")
  }

  @Test func `a failure has a record, a usage error has none`() throws {
    let missing = try formstream("post", "--json", "-F", "f=@missing", "http://127.0.0.1:1/")
    #expect(missing.exit == 66)
    #expect(
      missing.output.contains(#""status":null,"outcome":"failed","attempts":0"#),
      "\(missing.output)")
    #expect(missing.output.contains(#""error":{"code":"input-missing""#), "\(missing.output)")
    let refused = try formstream("post", "--json", "-d", "", "http://127.0.0.1:1/")
    #expect(refused.exit == 75)
    #expect(refused.output.contains(#""outcome":"retryable""#), "\(refused.output)")
    #expect(try formstream("post", "--json", "-d", "a", "x").output == "")
  }

  @Test func `a file that changes while it is sent is never sent completely`() throws {
    let place = try TemporaryDirectory()
    try place.write("big", [UInt8](repeating: 1, count: 16_000_000))
    let path = place.local("big")
    let server = try ScriptedServer { _ in
      [
        .readBody(upTo: 1000),
        .decide { _ in
          _ = try? writeFile(path, [2, 3])
          return .good()
        },
      ]
    }
    let result = try formstream(
      "post", "--json", "--expect", "never", "-F", "f=@big", server.url, in: place)
    #expect(result.exit == 74, "\(result.stderr)")
    #expect(result.output.contains(#""outcome":"source-changed""#), "\(result.output)")
    #expect(server.waitForEnds())
    #expect(server.completeBodyCount == 0)
    #expect(server.faults(except: .cutShort).isEmpty)
  }
}

/// The examples in the help, tried with a local server in place of example.org.
@Suite struct PostExampleTests {
  @Test(arguments: [("post", 4), ("put", 2)])
  func `the examples in the help work`(_ verb: String, _ count: Int) throws {
    let place = try TemporaryDirectory()
    try place.write("sunset.jpg", noise(1000))
    try place.write("token", "t\n")
    let server = try ScriptedServer { _ in .good() }
    let examples = try lines(inHelpOf: verb)
      .filter { $0.contains("formstream \(verb) ") && $0.contains("//") }
    #expect(examples.count == count)
    for example in examples {
      let line = example.replacing("formstream", with: "$F")
        .replacing("https://example.org", with: server.url)
      let result = try shell("mkdir -p photos; \(line)", in: place)
      #expect(result.exit == 0, "\(example): \(result.stderr)")
    }
    #expect(server.requests.count == (verb == "post" ? 3 : 2))
    #expect(server.faults.isEmpty)
  }
}
