import FormStreamTestSupport
import Testing

/// `formstream post`: what is sent, and what is printed.
@Suite struct PostTests {
  @Test func `a form is sent as it was laid out, and the response is printed`() throws {
    let place = try TemporaryDirectory()
    try place.write("f.txt", "words\n")
    let server = try ScriptedServer(requests: [.good(201, body: "made\n")])
    let result = try formstream(
      "post", "--boundary", "B", "-F", "a=b", "--file", "f=f.txt", "--type", "text/x",
      "\(server.url)/there?x=y", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output == "made\n")
    #expect(result.stderr == "")
    let body = """
      --B\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r
      --B\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\nContent-Type: text/x\r
      \r\nwords\n\r
      --B--\r

      """
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "/there?x=y")
    #expect(String(decoding: request.body, as: UTF8.self) == body)
    #expect(request.header("Content-Type") == "multipart/form-data; boundary=B")
    #expect(request.header("Content-Length") == "\(body.utf8.count)")
    #expect(request.header("User-Agent")?.hasPrefix("formstream/") == true)
    #expect(server.faults.isEmpty)
  }

  @Test func `post has all form flags of encode`() throws {
    let place = try TemporaryDirectory()
    try place.write("x.png", "0123456789")
    let server = try ScriptedServer(requests: [.good(), .good(), .good()])
    let first = try formstream(
      "post", "--boundary=B", "--escaping", "backslash", "--browser-text", "--verify-boundary",
      "--field", "a\"=1\n2", "--file", "f=x.png", "--range", "2:3", "--filename", "n",
      "--part-header", "X-A: 1", "--sniff", "none", server.url, in: place)
    #expect(first.exit == 0, "\(first.stderr)")
    let typed = try formstream(
      "post", "--boundary=B", "--type-for", "*.png=a/b", "--file", "f=x.png", server.url, in: place)
    #expect(typed.exit == 0, "\(typed.stderr)")
    let detected = try formstream(
      "post", "--boundary=B", "--magic-file", "/usr/share/misc/magic.mgc", "--charset", "--file",
      "f=x.png", server.url, in: place)
    #expect(detected.exit == 0, "\(detected.stderr)")
    let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
    #expect(
      bodies.first == """
        --B\r\nContent-Disposition: form-data; name="a\\""\r\n\r\n1\r\n2\r
        --B\r\nContent-Disposition: form-data; name="f"; filename="n"\r
        Content-Type: application/octet-stream\r\nX-A: 1\r\n\r\n234\r
        --B--\r

        """)
    #expect(bodies[1].contains("Content-Type: a/b\r\n"))
    #expect(bodies[2].contains("Content-Type: text/plain; charset=us-ascii\r\n"))
    #expect(server.faults.isEmpty)
  }

  @Test func `a pipe is a part of unknown length, and is sent in chunks`() throws {
    let server = try ScriptedServer(requests: [.good()])
    let result = try formstream(
      "post", "--read-ahead", "0", "-F", "f=@-;filename=x", server.url,
      standardInput: noise(300_000))
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.first?.framing == .chunked)
    #expect(server.requests.first?.hasCompleteBody == true)
    #expect(server.faults.isEmpty)
  }

  @Test func `without a body, an empty one is sent and noted`() throws {
    let server = try ScriptedServer(requests: [.good(), .good()])
    let result = try formstream("post", server.url)
    #expect(result.exit == 0)
    #expect(result.stderr.hasPrefix("formstream: An empty body is sent"))
    #expect(server.requests.first?.header("Content-Length") == "0")
    #expect(try formstream("post", "-q", server.url).stderr == "")
    #expect(try formstream("post", "--quiet", "-h").exit == 0)
    #expect(server.faults.isEmpty)
  }

  @Test func `the record holds the result, and nothing else is printed`() throws {
    let server = try ScriptedServer(requests: [
      .good(headers: [("X-A", "1")], body: "fine"), .good(404, body: "who?"),
      .good(body: "twelve bytes"),
    ])
    let result = try formstream("post", "--json", "--sha256", "-d", "abc", "\(server.url)/x")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output.hasSuffix("}\n"))
    for part in [
      #"{"schema":"formstream.result/5","index":0,"list":null,"line":null,"url":"\#(server.url)/x","method":"POST","status":200,"outcome":"ok","attempts":1,"redirects":0,"content_length":3,"framing":"content-length","bytes_sent":3,"wire_bytes":3,"seconds":"#,
      #""sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
      #""response":{"headers":[["X-A","1"],["Content-Length","4"]],"body":"fine","body_b64":null,"truncated":false,"end_known":true},"error":null}"#,
    ] {
      #expect(result.output.contains(part), "\(result.output)")
    }
    let refused = try formstream("post", "--json", "-d", "abc", server.url)
    #expect(refused.exit == 1)
    #expect(refused.output.contains(#""status":404,"outcome":"failed""#))
    #expect(refused.output.contains(#""body":"who?""#))
    #expect(refused.output.contains(#""error":{"code":"status-refused","message":""#))
    #expect(refused.stderr.contains("responded 404 to POST"))
    let cut = try formstream("post", "--json", "--max-response", "6", "-d", "abc", server.url)
    #expect(cut.output.contains(#""body":"twelve","body_b64":null,"truncated":true"#))
    #expect(server.faults.isEmpty)
  }

  @Test func `a response is printed, even if it is not a success, or stored in a file`()
    throws
  {
    let place = try TemporaryDirectory()
    let long = String(repeating: "long ", count: 500_000)
    let server = try ScriptedServer(requests: [
      .good(404, body: "who?\n"), .good(body: long), .good(body: "for the file"),
      .good(body: "for the file"), .good(body: "cut", framing: .announced(20)), .good(body: "x"),
    ])
    let refused = try formstream("post", "-d", "", server.url, in: place)
    #expect((refused.exit, refused.output) == (1, "who?\n"))
    #expect(try formstream("post", "-d", "", server.url, in: place).output == long)
    for flag in ["-o", "--output"] {
      let stored = try formstream("post", "-d", "", flag, "answer", server.url, in: place)
      #expect((stored.exit, stored.output) == (0, ""), "\(stored.stderr)")
    }
    #expect(try shell("cat answer; ls -a", in: place).output == "for the file.\n..\nanswer\n")
    // The server has acted on the request, but a part of its response is missing.
    let cut = try formstream("post", "-d", "", "-o", "cut", server.url, in: place)
    #expect(cut.exit == 74, "\(cut.stderr)")
    #expect(try shell("ls -a", in: place).output == ".\n..\nanswer\n")
    let full = try formstream("post", "--json", "-d", "", "-o", "/dev/full", server.url, in: place)
    #expect(full.exit == 74)
    #expect(full.output.contains(#""outcome":"ok""#), "\(full.output)")
    #expect(full.output.contains(#""error":{"code":"response-not-stored""#), "\(full.output)")
    #expect(full.stderr.contains("No space left"), "\(full.stderr)")
    #expect(server.faults.isEmpty)
  }

  @Test func `a closed pipe for the response is an error, not a signal`() throws {
    let server = try ScriptedServer { _ in .good(body: String(repeating: "x", count: 1_000_000)) }
    let result = try shell("$F post -d a \(server.url) | head -c 1; echo ${PIPESTATUS[0]}")
    #expect(result.output == "x74\n", "\(result.stderr)")
    #expect(result.stderr.contains("closed by its reader"))
  }

  @Test func `a terminal shows text, and no escape sequences`() throws {
    let server = try ScriptedServer { _ in .good(body: "a\tb\n\u{1B}]0;x\u{7}ü\n") }
    let result = try shell("script -qec \"$F post -q -d a \(server.url)\" /dev/null")
    #expect(result.output.contains(#"\u{1B}]0;x\u{7}ü"#), "\(result.output)")
    #expect(!result.output.contains("\u{1B}"))
    #expect(result.output.contains("a\tb\r\n") || result.output.contains("a       b\r\n"))
  }

  @Test func `a dry run prints everything and sends nothing`() throws {
    let place = try TemporaryDirectory()
    try place.write("f.txt", "words\n")
    let server = try ScriptedServer(requests: [])
    // "formstream 1.2.3" and a line break.
    let agent = try formstream("-V").output.dropLast().replacing(" ", with: "/")
    let result = try formstream(
      "post", "--dry-run", "--boundary", "B", "-u", "me:pass-canary", "-H", "X-A: 1", "--query",
      "q=1 2", "-F", "a=b", "-F", "f=@f.txt", "\(server.url)/p", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      result.output.hasPrefix(
        "POST \(server.url)/p?q=1+2\nUser-Agent: \(agent)\nAuthorization: Basic ***\nX-A: 1\n"
          + "Content-Type: multipart/form-data; boundary=B\nContent-Length: 160\n\n@0            --B\n"
      ),
      "\(result.output)")
    #expect(result.output.contains("[6 bytes, from the file f.txt]"))
    #expect(!result.output.contains("canary"))
    let raw = try formstream("post", "--dry-run", "-T", "f.txt", server.url, in: place)
    #expect(
      raw.output.hasSuffix(
        "\nUser-Agent: \(agent)\nContent-Length: 6\n\n@0            [6 bytes, from the file f.txt]\n"
      ),
      "\(raw.output)")
    let none = try formstream("post", "--dry-run", server.url)
    #expect(none.output.hasSuffix("Content-Length: 0\n"))
    let unread = try shell(
      "echo unread | (for flags in '-d @-' '-T -' '-F a=@-' '-d a --token-file -' '-d a --user-file -' "
        + "'-d a --header-file -'; do for way in --dry-run --to-curl; do "
        + "$F post $way $flags \(server.url) > result || exit 1; done; done; cat)")
    #expect(unread.output == "unread\n", "\(unread.stderr)")
    #expect(server.requests.isEmpty)
  }
  /// Regression: `Content-Length: 0` and a note on an empty body were printed for requests that have neither.
  @Test(arguments: [
    "post", "post -I", "post -G -d a=b", "post -X DELETE", "post -X PATCH", "post -X GET",
    "put -d ''", "put -I", "post -X DELETE -d a", "post -X REPORT",
  ])
  func `a dry run has the length that is sent`(_ line: String) throws {
    let server = try ScriptedServer { _ in .good() }
    let dry = try shell("$F \(line) --dry-run \(server.url)")
    let sent = try shell("$F \(line) \(server.url)")
    #expect(sent.exit == 0, "\(sent.stderr)")
    let length = server.requests.first?.header("Content-Length")
    let shown = dry.output.split(separator: "\n").first { $0.hasPrefix("Content-Length: ") }
    #expect(shown.map(String.init) == length.map { "Content-Length: \($0)" }, "\(dry.output)")
    #expect(dry.stderr.contains("An empty body is sent") == (length == "0" && !line.contains("''")))
    #expect(dry.stderr == sent.stderr)
  }
}
