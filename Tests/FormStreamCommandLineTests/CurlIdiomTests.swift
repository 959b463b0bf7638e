import FormStreamTestSupport
import Foundation
import Testing

/// What lines of curl do, and formstream did not: each of these was refused, or sent something else.
@Suite struct CurlIdiomTests {
  private struct Sent {
    let exit: Int32?
    let error: String
    let output: String
    let requests: [RecordedRequest]
    var request: RecordedRequest? { requests.first }
  }

  /// - Parameter arguments: in which `URL` stands for the server's.
  private func send(
    _ arguments: [String], input: [UInt8] = [], files: [String: String] = [:],
    answering respond: @escaping ScriptedServer.Script = { _ in .good() }
  ) throws -> Sent {
    let place = try TemporaryDirectory()
    try place.write("words", "words\n")
    try place.write("more", "more\n")
    for (name, contents) in files { try place.write(name, contents) }
    let server = try ScriptedServer(script: respond)
    let words = arguments.map { $0.replacing("URL", with: server.url) }
    let result = try run("formstream", words, standardInput: input, in: place)
    return Sent(
      exit: result.exit, error: result.stderr, output: result.output, requests: server.requests)
  }

  // MARK: Types

  // A presigned URL whose signature covers the headers responded 403 to a detected type that curl doesn't send.
  /// The message was the library's: "or nil if it is not known".
  @Test(arguments: [("2", "has more than its 2 bytes"), ("9", "ended after 3 of its 9 bytes")])
  func `a length that is not that of standard input is explained`(
    _ length: String, _ reason: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      "printf abc | $F put -H 'Content-Length: \(length)' -T - \(server.url)/x")
    #expect(result.exit == 74, "\(result.stderr)")
    #expect(
      result.stderr.contains(
        "\(reason): announce the length that it has, or leave -H Content-Length out."),
      "\(result.stderr)")
  }

  @Test(
    arguments: [
      (["put", "-T", "words", "URL/x"], nil), (["post", "--upload-file", "words", "URL/x"], nil),
      (["put", "-T", "-", "URL/x"], nil), (["put", "-T", "{words,more}", "URL/"], nil),
      (["put", "-T", "words", "--type", "text/x", "URL/x"], "text/x"),
      (["put", "-T", "words", "--sniff", "auto", "URL/x"], "text/plain"),
      (["put", "-T", "words", "--type-for", "w*=a/b", "URL/x"], "a/b"),
      (["put", "-T", "words", "-H", "Content-Type: c/d", "URL/x"], "c/d"),
      (["put", "words", "URL/x"], "text/plain"), (["post", "@words", "URL/x"], "text/plain"),
      (["put", "-", "URL/x"], "application/octet-stream"),
    ] as [([String], String?)])
  func `-T sends a type only if it is asked for`(_ arguments: [String], _ type: String?) throws {
    let sent = try send(arguments, input: Array("words\n".utf8))
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(!sent.requests.isEmpty)
    for request in sent.requests { #expect(request.header("Content-Type") == type) }
  }

  // MARK: Data

  @Test(
    arguments: [
      (Array("a\0b".utf8), "has a NUL"), ([0xFF, 0xD8, 0xE4], "is not UTF-8"),
      (Array("a=\u{FFFD}".utf8.dropLast()), "is not UTF-8"),
    ] as [([UInt8], String)])
  func `-d sends no file that is no text`(_ bytes: [UInt8], _ says: String) throws {
    let sent = try send(["post", "-d", "@-", "URL/x"], input: bytes)
    #expect(sent.exit == 64)
    #expect(sent.error.contains(says) && sent.error.contains("--data-binary"), "\(sent.error)")
    #expect(sent.requests.isEmpty)
    let place = try TemporaryDirectory()
    try place.write("photo", bytes)
    let file = try run("formstream", ["post", "-d", "@photo", "http://127.0.0.1:1/"], in: place)
    #expect(file.exit == 64 && file.stderr.contains(says), "\(file.stderr)")
    let binary = try send(["post", "--data-binary", "@-", "URL/x"], input: bytes)
    #expect(binary.request?.body == bytes)
  }

  @Test func `-d leaves out line breaks of a text, as curl does`() throws {
    let sent = try send(["post", "-d", "@-", "URL/x"], input: Array("a=ü\r\n&b\n".utf8))
    #expect(sent.request?.body == Array("a=ü&b".utf8))
  }

  // MARK: Framing

  @Test(arguments: [["-d", "abc"], ["-T", "words"], ["-F", "a=b"]])
  func `Transfer-Encoding: chunked sends chunks`(_ body: [String]) throws {
    let plain = try send(["post", "--boundary", "B", "URL/x"] + body)
    let sent = try send(
      ["post", "--boundary", "B", "-H", "Transfer-Encoding: chunked", "URL/x"] + body)
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(sent.request?.header("Transfer-Encoding") == "chunked")
    #expect(sent.request?.header("Content-Length") == nil)
    #expect(plain.request?.header("Content-Length") != nil)
    #expect(sent.request?.body == plain.request?.body)
  }

  @Test(
    arguments: [
      (["post", "-H", "Content-Length: 3", "-d", "abc", "URL/x"], true),
      (["put", "-H", "Content-Length: 6", "-T", "words", "URL/x"], true),
      (["put", "-H", "Content-Length: 2", "-T", "-", "URL/x"], true),
      (
        ["put", "-H", "Transfer-Encoding:", "-H", "Content-Length: 2", "-T", "-", "URL/x"], true
      ), (["post", "-H", "Content-Length: 0", "URL/x"], true),
      (["get", "-H", "Content-Length: 0", "URL/x"], true),
      (["post", "-H", "Content-Length: 4", "-d", "abc", "URL/x"], false),
      (["put", "-H", "Content-Length: 0", "-T", "words", "URL/x"], false),
      (["post", "-H", "Content-Length: 0", "-F", "a=b", "URL/x"], false),
      (["post", "-H", "Content-Length: -1", "-d", "abc", "URL/x"], false),
      (
        ["post", "-H", "Content-Length: 3", "-H", "Content-Length: 4", "-d", "abc", "URL/x"], false
      ),
      (
        [
          "post", "-H", "Content-Length: 3", "-H", "Transfer-Encoding: chunked", "-d", "abc",
          "URL/x",
        ],
        false
      ), (["get", "-H", "Content-Length: 1", "URL/x"], false),
    ] as [([String], Bool)])
  func `a length that is stated is accepted if it is true`(
    _ arguments: [String], _ isTrue: Bool
  ) throws {
    let sent = try send(arguments, input: Array("ab".utf8))
    #expect(sent.exit == (isTrue ? 0 : 64), "\(sent.error)")
    #expect(sent.requests.count == (isTrue ? 1 : 0))
    #expect((sent.request?.values(of: "Content-Length").count ?? 0) < 2)
  }

  @Test(
    arguments: [
      ("multipart/form-data", "multipart/form-data; boundary=B"),
      ("multipart/form-data; charset=utf-8", "multipart/form-data; charset=utf-8; boundary=B"),
      ("multipart/form-data; boundary=B", "multipart/form-data; boundary=B"),
      ("multipart/form-data; boundary=C", nil), ("text/plain", nil),
    ] as [(String, String?)])
  func `the type of a form is accepted if it is true`(_ typed: String, _ type: String?) throws {
    let sent = try send(
      ["post", "--boundary", "B", "-H", "Content-Type: \(typed)", "-F", "a=b", "URL/x"])
    #expect(sent.exit == (type == nil ? 64 : 0), "\(sent.error)")
    #expect(sent.request?.values(of: "Content-Type") == type.map { [$0] })
  }

  // MARK: URLs

  @Test(
    arguments: [
      (["get", "URL/hello?"], ["/hello?"]), (["get", "URL/hello?#a?"], ["/hello?"]),
      (["get", "URL?"], ["/?"]), (["get", "URL/a#b?"], ["/a"]),
      (["get", "-G", "-d", "a=1", "URL/hello?"], ["/hello?a=1"]),
      (["put", "-T", "words", "URL/up/?"], ["/up/words?"]),
      (
        ["put", "-T", "{words,more}", "URL/{one,two}/"],
        ["/one/words", "/two/words", "/one/more", "/two/more"]
      ),
      (["put", "-g", "-T", "words", "URL/x{1,2}"], ["/x{1,2}"]),
      (["post", "-d", "a", "URL/{one,two}"], ["/one", "/two"]),
      (["post", "-F", "a=b", "URL/1", "URL/2"], ["/1", "/2"]),
      (
        ["get", "URL/[9223372036854775806-9223372036854775807]"],
        ["/9223372036854775806", "/9223372036854775807"]
      ),
      (["get", "--path-as-is", "URL/../a/./b/../c"], ["/../a/./b/../c"]),
      (["get", "URL/../a/./b/../c"], ["/a/c"]),
      (["post", "--path-as-is", "-d", "a", "URL/x/.."], ["/x/.."]),
      (["get", "--request-target", "*", "-X", "OPTIONS", "URL/x"], ["*"]),
      (["get", "--request-target", "/a?b", "URL/x"], ["/a?b"]),
    ] as [([String], [String])])
  func `URLs are requested as curl does`(_ arguments: [String], _ targets: [String]) throws {
    let sent = try send(arguments)
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(sent.requests.map(\.target) == targets)
  }

  @Test(
    arguments: [
      (["get", "URL/[1-9223372036854775808]"], "too large"),
      (["get", "URL/[0-9223372036854775807]"], "more than 10000"),
      (["post", "-d", "a", "URL/[1-20000]"], "more than 10000"),
      (["get", "--request-target", "/a b", "URL/x"], "blank"),
      (["get", "--request-target", "", "URL/x"], "empty"),
      (["get", "--digest", "-u", "a:b", "--request-target", "*", "URL/x"], "exclude"),
      (["put", "-T", "-", "URL/{a,b}"], "read once"),
      (["post", "-F", "a=@-", "URL/a", "URL/b"], "read once"),
    ] as [([String], String)])
  func `URLs that can't be requested are refused`(_ arguments: [String], _ says: String) throws {
    let sent = try send(arguments)
    #expect(sent.exit == 64)
    #expect(sent.error.contains(says), "\(sent.error)")
    #expect(sent.requests.isEmpty)
  }

  // MARK: Redirects

  @Test(arguments: [301, 302, 303])
  func `--post301 and its like repeat the request at the new URL`(_ status: Int) throws {
    let redirect: ScriptedServer.Script = {
      $0.target == "/x" ? .good(status, headers: [("Location", "/y")]) : .good()
    }
    let sent = try send(["post", "--post\(status)", "-d", "abc", "URL/x"], answering: redirect)
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(sent.requests.map { "\($0.method) \($0.target)" } == ["POST /x", "POST /y"])
    #expect(sent.requests.last?.body == Array("abc".utf8))
    let other = status == 301 ? 302 : 301
    let without = try send(["post", "--post\(other)", "-d", "abc", "URL/x"], answering: redirect)
    #expect(without.requests.last.map { "\($0.method) \($0.target)" } != "POST /y")
  }

  /// RFC 9110 §15.4.2: only of a POST may a client make a GET.
  @Test(arguments: [301, 302])
  func `with -L a PUT is sent again where a 301 or 302 says`(_ status: Int) throws {
    let redirect: ScriptedServer.Script = {
      $0.target == "/x" ? .good(status, headers: [("Location", "/y")]) : .good()
    }
    let sent = try send(["put", "-L", "-T", "words", "URL/x"], answering: redirect)
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(sent.requests.map { "\($0.method) \($0.target)" } == ["PUT /x", "PUT /y"])
    #expect(sent.requests.last?.body == Array("words\n".utf8))
    for line in [["put", "-T", "words"], ["post", "-L", "-d", "a"]] {
      let refused = try send(line + ["URL/x"], answering: redirect)
      #expect(refused.exit == 1 && refused.requests.count == 1, "\(refused.error)")
    }
    let curl = try send(["put", "-L", "-T", "words", "--to-curl", "URL/x"], answering: redirect)
    #expect(curl.exit == 0 && !curl.output.contains("--post"), "\(curl.output)")
  }

  // MARK: Heads

  @Test func `-D writes the trailers, which are not printed by -i`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in
      .good(
        headers: [("X-A", "1")], body: "abc",
        framing: .chunked(of: 2, trailers: [("X-End", "2"), ("X-More", "3")]))
    }
    let head = "HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    for flags in ["-i", "-i -o f", "-i -d a"] {
      let verb = flags.contains("-d") ? "post" : "get"
      let result = try shell(
        "$F \(verb) \(flags) -D heads \(server.url); cat f 2>/dev/null; cat heads", in: place)
      #expect(
        result.output.hasSuffix("\(head)abc\(head)X-End: 2\r\nX-More: 3\r\n"), "\(result.output)")
    }
  }

  @Test(arguments: ["get", "post -d a", "get -i"])
  func `-D - prints the head before the body, and the trailers after it`(_ line: String) throws {
    let server = try ScriptedServer { _ in
      .good(body: "abc", framing: .chunked(of: 2, trailers: [("X-End", "2")]))
    }
    let result = try shell("$F \(line) -D - \(server.url)")
    #expect(
      result.output
        == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nabcX-End: 2\r\n",
      "\(result.stderr)")
  }

  /// RFC 9110 §15: "A client that receives a response with an invalid status code SHOULD process the response as if it had a
  /// 5xx (Server Error) status code." Some sites refuse robots with 999.
  @Test func `a status from 600 to 999 is a failure whose response is printed`() throws {
    for status in [600, 999] {
      let sent = try send(["get", "-w", "%{response_code}", "URL/x"]) { _ in
        .good(status, body: "no\n")
      }
      #expect((sent.exit, sent.output) == (1, "no\n\(status)"), "\(sent.error)")
      #expect(sent.error.contains("responded \(status) to GET"), "\(sent.error)")
    }
    let posted = try send(["post", "-d", "a", "URL/x"]) { _ in .good(999, body: "no") }
    #expect((posted.exit, posted.output) == (1, "no"), "\(posted.error)")
  }

  @Test(arguments: [
    ["-f", "--fail-with-body"], ["--fail-with-body", "--fail"], ["-K", "flags", "-f"],
  ])
  func `-f and --fail-with-body contradict each other`(_ flags: [String]) throws {
    for line in [["get"], ["post", "-d", "a"]] {
      let sent = try send(line + flags + ["URL/x"], files: ["flags": "fail-with-body\n"])
      #expect(sent.exit == 64 && sent.requests.isEmpty, "\(sent.error)")
      #expect(sent.error.contains("--fail-with-body"), "\(sent.error)")
    }
  }

  // MARK: Cookies

  private static let jar = """
    # Netscape HTTP Cookie File
    127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t1
    127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tlong\t2
    """

  @Test(
    arguments: [
      (["-b", "none"], nil), (["-b", ""], nil), (["-b", "jar"], "long=2; session=1"),
      (["-b", "jar", "-j"], "long=2"),
      (["-b", "jar", "-b", "other"], "long=2; other=3; session=1"),
      (["-b", "head"], "a=4"), (["-b", "none", "-b", "jar", "-j"], "long=2"),
    ] as [([String], String?)])
  func `-b reads files as curl does`(_ flags: [String], _ cookies: String?) throws {
    let sent = try send(
      ["get"] + flags + ["URL/x"],
      files: [
        "jar": Self.jar + "\n", "other": "127.0.0.1\tFALSE\t/\tFALSE\t0\tother\t3\n",
        "head": "HTTP/1.1 200 OK\r\nDate: now\r\nSet-Cookie: a=4; domain=127.0.0.1\r\n\r\n",
      ])
    #expect(sent.exit == 0, "\(sent.error)")
    #expect(
      sent.request?.header("Cookie")?.split(separator: "; ").sorted().joined(separator: "; ")
        == cookies)
    #expect(sent.error.contains("does not exist") == flags.contains("none"), "\(sent.error)")
  }

  @Test func `a cookie that has ended is not written`() throws {
    let sent = try send(["get", "-c", "/dev/stderr", "URL/x"]) { _ in
      .good(headers: [
        ("Set-Cookie", "old=1; Expires=Thu, 01 Jan 1981 00:00:00 GMT"), ("Set-Cookie", "new=1"),
      ])
    }
    #expect(sent.error.contains("\tnew\t1"), "\(sent.error)")
    #expect(!sent.error.contains("\told\t"))
  }

  @Test(arguments: [
    ("machine 127.0.0.1 password p", "127.0.0.1", ":p"),
    ("machine 127.0.0.1 password p", "me@127.0.0.1", "me:p"),
    ("machine 127.0.0.1 login you password q machine 127.0.0.1 password p", "me@127.0.0.1", "me:p"),
    ("machine 127.0.0.1 login a", "127.0.0.1", "a:"),
    ("machine 127.0.0.1 login a", "a@127.0.0.1", "a:"),
    ("machine 127.0.0.1 login a", "b@127.0.0.1", "b:"),
    ("machine 127.0.0.1 login a machine 127.0.0.1 login b", "127.0.0.1", "b:"),
    ("machine 127.0.0.1 login a machine 127.0.0.1 login b password p", "127.0.0.1", "b:p"),
    ("machine 127.0.0.1 login a password \"\"", "127.0.0.1", "a:"),
  ])
  func `an entry of netrc without a login or a password is used as by curl`(
    _ netrc: String, _ host: String, _ credentials: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("netrc", netrc + "\n")
    let url = server.url.replacing("127.0.0.1", with: host)
    let result = try run("formstream", ["get", "--netrc-file", "netrc", url], in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      server.requests.first?.header("Authorization") == "Basic \(Self.base64(credentials))")
    #expect(!result.stderr.contains("netrc file has"), "\(result.stderr)")
  }

  @Test func `a note says that an entry of netrc has neither user nor password`() throws {
    let sent = try send(
      ["get", "--netrc-file", "n", "URL/"], files: ["n": "machine 127.0.0.1\n"])
    #expect(sent.error.contains("has neither a user nor a password"), "\(sent.error)")
    #expect(sent.request?.header("Authorization") == nil)
  }

  private static func base64(_ text: String) -> String {
    Data(text.utf8).base64EncodedString()
  }

  @Test func `--no-remote-name prints the response of one URL`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good(body: "abc") }
    let result = try run(
      "formstream",
      ["get", "--remote-name-all", "--no-remote-name", "\(server.url)/a", "\(server.url)/b"],
      in: place)
    #expect(result.output == "abc", "\(result.stderr)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["b"])
  }

  // MARK: -w

  @Test func `-w knows connections, numbers and referers`() throws {
    let format =
      "%{urlnum} %{num_connects} %{referer} %{size_delivered} %{exitcode}%{onerror} no\\n"
    let sent = try send(["get", "-e", "here", "-w", format, "URL/1", "URL/2"]) { _ in
      .good(body: "abc")
    }
    #expect(sent.output == "abc0 1 here 3 0abc1 0 here 3 0", "\(sent.error)")
  }
}
