import FormStreamTestSupport
import Testing

/// What `-i`, `-I`, `-D`, `-w`, `-f`, `-s` and `-S` print, and leave out.
@Suite struct PostPrintingTests {
  private static let head =
    "HTTP/1.1 200 OK\r\nX-A: 1\r\nSet-Cookie: s=t\r\nContent-Length: 5\r\n\r\n"

  private static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      switch request.target {
      case "/found": .good(302, headers: [("Location", "/there")])
      case "/moved": .good(307, headers: [("Location", "/")])
      case "/busy": request.number == 0 ? .good(503, headers: [("Retry-After", "0")]) : .good()
      case "/missing": .good(404, body: "gone\n")
      case "/empty": .good(204)
      case "/cut": [.readBody, .respond(200, body: "half", framing: .announced(9))]
      case "/reset": [.readBody, .reset]
      case "/old":
        [.send("HTTP/1.1 200 Fine Then\r\nX-B:2  \r\nContent-Length: 0\r\n\r\n")]
      default: .good(headers: [("X-A", "1"), ("Set-Cookie", "s=t")], body: "body\n")
      }
    }
  }

  private static let heads: [(String, String)] = [
    ("post -i -d a $U/", "\(head)body\n"), ("get -i $U/", "\(head)body\n"),
    ("post -D - -d a $U/", "\(head)body\n"), ("get -D - -i $U/", "\(head)body\n"),
    ("get -I $U/", head), ("post -I $U/", head), ("post -I -w '%{method}' $U/", "\(head)HEAD"),
    (
      "post -i -d a $U/moved",
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n\(head)body\n"
    ),
    ("get -i $U/empty", "HTTP/1.1 204 No Content\r\n\r\n"),
    ("post -i -d a -o f $U/ && cat f", "\(head)body\n"),
    ("get -i -o f $U/ && cat f", "\(head)body\n"),
    ("get -D h -o f $U/ && cat h f", "\(head)body\n"),
    ("post -D h -d a $U/; cat h", "body\n\(head)"),
    ("get -D h -O $U/name.txt; cat h name.txt", "\(head)body\n"),
    ("post -D - -d a -o f $U/; cat f", "\(head)body\n"),
    ("get -qD h $U/ $U/; cat h", "body\nbody\n\(head)\(head)"),
    (
      "post -qsi -d a $U/missing",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\ngone\n"
    ),
    ("post -sfi -d a $U/missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n"),
    (
      "post -si -d a -o f $U/missing; ls",
      "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\ngone\n"
    ),
    ("post -sD h -d a $U/reset; cat h; ls", "h\n"),
    ("echo old > h; get -sD h --retry 0 $U/reset; cat h", ""),
    ("get -i $U/old", "HTTP/1.1 200 Fine Then\r\nX-B:2  \r\nContent-Length: 0\r\n\r\n"),
  ]

  @Test(arguments: heads)
  func `heads are printed as they arrived`(_ line: String, _ expected: String) throws {
    let server = try Self.server()
    let result = try shell(
      "U=\(server.url); $F \(line)".replacing("$F echo old > h; ", with: "echo old > h; $F "))
    #expect(result.output == expected, "\(result.stderr)")
  }

  @Test func `the heads of all attempts are printed, also over HTTP 2`() throws {
    let server = try Self.server()
    let result = try formstream(
      "post", "-i", "--retry", "1", "--retry-delay", "0.01", "-d", "a", "\(server.url)/busy")
    #expect(
      result.output
        == "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
  }

  private static let formats: [(String, String)] = [
    (#"post -w '%{http_code} %{response_code}\n' -d a $U/"#, "body\n200 200\n"),
    (
      #"post -w '%{size_upload},%{size_download},%{num_redirects},%{method}' -d abc $U/"#,
      "body\n3,5,0,POST"
    ),
    (
      #"post -w '\t%{http_version}|%{content_type}|%%|%z|\z\r\n' -d a $U/"#,
      "body\n\t1.1||%|%z|\\z\r\n"
    ),
    (
      #"post -w '%header{x-a}%header{nosuch}%{header_json}' -d a $U/old"#,
      #"{"x-b":["2"],"content-length":["0"]}"#
    ),
    (#"post -w '%{url_effective} %{num_redirects}' -d a $U/moved"#, "body\nURL/ 1"),
    (#"post -s -w '%{exitcode}%{onerror}, %{errormsg}' -d a $U/"#, "body\n0"),
    (#"post -s -f -w '%{exitcode}%{onerror},%{http_code}' -d a $U/missing"#, "1,404"),
    (#"post -s -w '%{http_code} %{http_version} %{exitcode}' -d a $U/reset"#, "000 0 3"),
    (#"post -w 'a%{stderr}b%{stdout}c' -d a $U/ 2> e; cat e"#, "body\nacb"),
    (
      #"post --json -w 'c%{stderr}' -d a $U/ 2>&1 | grep -c 'both print to standard output'"#, "1\n"
    ),
    (
      #"post --json -w '%{stderr}%{http_code}\n' -d a $U/ 2> e | grep -c '^{.*"ok"'; cat e"#,
      "1\n200\n"
    ),
    (
      #"get --json -w '%{stdout}%{stderr}%{http_code}%{stdout}' $U/ 2> e | grep -c '^{.*"ok"'; cat e"#,
      "1\n200"
    ),
    (
      #"get --json -w '%{stderr}a%{stdout}%{http_code}' $U/ 2>&1 | grep -c 'both print'"#, "1\n"
    ),
    (#"post -o f -w '%{filename_effective}' -d a $U/"#, "f"),
    (#"get -so /dev/null -w '%{http_code}\n' $U/ $U/missing $U/"#, "200\ngone\n404\nbody\n200\n"),
    (#"get -O -w '%{filename_effective} %{size_download}\n' $U/name.txt"#, "name.txt 5\n"),
    (#"get -sfw '%{http_code}\n' $U/ $U/missing"#, "body\n200\n404\n"),
    (#"get --retry 1 --retry-delay 0.01 -w '%{num_retries} %{num_headers}\n' $U/busy"#, "1 1\n"),
    (#"post -w @format -d a $U/"#, "body\ncode: 200\n"),
    (#"post -w @- -d a $U/ < format"#, "body\ncode: 200\n"),
    (#"post -w '%{size_header}' -d a $U/old"#, "54"),
    (#"post -w '%{unclosed' -d a $U/old"#, "%{unclosed"),
  ]

  @Test(arguments: formats)
  func `a format is printed at the end`(_ line: String, _ expected: String) throws {
    let server = try Self.server()
    let result = try shell(
      "printf 'code: \\n%%{http_code}\\\\n' | sed 's/ $/ /' > format; U=\(server.url); $F \(line)")
    #expect(result.output == expected.replacing("URL", with: server.url), "\(result.stderr)")
  }

  @Test func `all values are in one object, and times have six digits`() throws {
    let server = try Self.server()
    let result = try formstream(
      "post", "-s", "-o", "/dev/null", "-w", "%{json}\\n%{time_total}", "-d", "a", server.url)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines[0].hasPrefix(
        #"{"content_type":null,"errormsg":null,"exitcode":0,"filename_effective":null,"http_code":200,"#
      ),
      "\(lines[0])")
    #expect(try /[0-9]+\.[0-9]{6}/.wholeMatch(in: lines[1]) != nil)
  }

  /// Where the connection leads to, and which parts of it took time.
  @Test(arguments: ["http", "https"]) func `curl's values of a connection are the same`(
    _ scheme: String
  ) throws {
    let place = try TemporaryDirectory()
    let server = try Self.server()
    let made = try TestCertificates()
    let proxy = try TLSProxy(to: server.port, made.server)
    let url = scheme == "http" ? "\(server.url)/found" : "https://localhost:\(proxy.port)/found"
    let format = [
      "%{scheme} %{remote_ip} %{remote_port} %{local_ip} %{redirect_url} %{ssl_verify_result}\n",
      "%{time_namelookup} %{time_connect} %{time_appconnect} %{time_pretransfer} ",
      "%{time_starttransfer} %{local_port}\n",
    ].joined()
    let flags = [
      "-4", "--cacert", made.authority, "-s", "-o", "/dev/null", "-w", format,
      "-d", "a", url,
    ]
    let ours = try run("formstream", ["post"] + flags, in: place)
    let curls = try run(program: "/usr/bin/env", ["curl", "-q"] + flags, in: place)
    let lines = [ours, curls].map { $0.output.split(separator: "\n").map(String.init) }
    #expect(lines[0].first == lines[1].first, "\(ours) \(curls)")
    #expect(lines[0].first?.contains("/there") == true)
    for line in lines.compactMap(\.last) {
      let values = line.split(separator: " ").compactMap { Double(String($0)) }
      try #require(values.count == 6, "\(ours) \(curls)")
      #expect(values[5] > 0)
      let times = (scheme == "http" ? [0, 1, 3, 4] : Array(0..<5)).map { values[$0] }
      #expect(times == times.sorted() && times[0] > 0, "\(line)")
      #expect((values[2] == 0) == (scheme == "http"), "\(line)")
    }
  }

  @Test func `a value that is not known is an error before anything is sent`() throws {
    let server = try Self.server()
    let result = try formstream("post", "-w", "%{http_cod} canary", "-d", "a", server.url)
    #expect(result.exit == 64)
    #expect(
      result.stderr.contains("-w (argument 3) has a value that is not known"), "\(result.stderr)")
    #expect(result.stderr.contains("Did you mean http_code?") && !result.stderr.contains("canary"))
    #expect(server.connectionCount == 0)
  }

  /// Regression: a script got a URL that did not work.
  @Test func `URLs in a format are complete, as with curl, and those in messages are masked`()
    throws
  {
    let server = try ScriptedServer { request in
      switch request.target {
      case "/to?token=canary": .good(302, headers: [("Location", "/x?X-Amz-Signature=b#c")])
      case "/user": .good(302, headers: [("Location", "http://a:b@127.0.0.1:1/?key=c")])
      default: .good()
      }
    }
    let place = try TemporaryDirectory()
    let format = "%{url}|%{url_effective}|%{redirect_url}|%{referer}\n"
    for target in ["/to?token=canary", "/user", "/?token=canary", "/?token=canary#part"] {
      for flags in [["--max-redirs", "0"], ["-L", "-e", "http://h/?token=canary"]]
      where target != "/user" || flags.count == 2 {
        let words = ["-s", "-o", "/dev/null", "-w", format] + flags + [server.url + target]
        let ours = try run("formstream", ["get"] + words, in: place)
        let curls = try run(program: "/usr/bin/env", ["curl", "-q"] + words, in: place)
        #expect(ours.output == curls.output, "\(target) \(flags)")
      }
    }
    let json = try formstream("get", "-s", "-w", "%{json}", "\(server.url)/?token=canary")
    #expect(json.output.contains(#""url":"\#(server.url)/?token=canary""#), "\(json)")
    let missing = try formstream(
      "get", "-s", "--expect-status", "299", "-w", "%{errormsg}", "\(server.url)/?token=canary")
    #expect(missing.output.contains("***") && !missing.output.contains("canary"), "\(missing)")
  }

  @Test func `a format shows only the origin of a URL that is secret as a whole`() throws {
    let server = try ScriptedServer { request in
      request.target.hasPrefix("/to")
        ? .good(302, headers: [("Location", "/canary?token=canary#canary")]) : .good()
    }
    let place = try TemporaryDirectory()
    for (path, flags) in [
      ("/canary#canary", ["-q"]), ("/to", ["--max-redirs", "0"]), ("/to", ["-L"]),
    ] {
      try place.write("url", "\(server.url)\(path)\n")
      let format = "%{url} %{url_effective} %{redirect_url} %{referer} %{json} %{errormsg}"
      let result = try run(
        "formstream", ["get", "-w", format, "--url-file", "url"] + flags, in: place)
      #expect(!result.output.contains("canary"), "\(result)")
      #expect(result.output.hasPrefix("\(server.url)/*** \(server.url)/*** "), "\(result)")
    }
  }

  private static let silences: [(String, String, String, String)] = [
    ("post -s -d a $U/missing", "1", "gone\n", ""),
    ("post -sS -d a $U/missing", "1", "gone\n", "404"),
    ("post -f -d a $U/missing", "1", "", "404"), ("post -fsS -d a $U/missing", "1", "", "404"),
    ("post -fs -d a $U/missing", "1", "", ""), ("post -sk -d a $U/", "0", "body\n", ""),
    ("post -s -F a=@nosuch $U/", "66", "", ""), ("post -s --nonsense $U/", "64", "", "--nonsense"),
    ("post -f -o f -d a $U/missing", "1", "", "404"), ("post -f -d a $U/", "0", "body\n", ""),
    ("post -s --json -d a $U/reset | cut -c1-10", "0", "{\"schema\":\n", ""),
    ("get -s $U/missing $U/", "1", "gone\nbody\n", ""), ("get -fsSL $U/missing", "1", "", "404"),
    ("get -fs -o f $U/missing", "1", "", ""), ("get -f -O $U/missing", "1", "", "404"),
    ("get -s --retry 0 $U/cut", "75", "half", ""),
  ]

  @Test(arguments: silences)
  func `a request can fail in silence, and its exit code stays`(
    _ line: String, _ exit: String, _ output: String, _ says: String
  ) throws {
    let server = try Self.server()
    let result = try shell("U=\(server.url); $F \(line)")
    #expect("\(result.exit ?? -1)" == exit, "\(result.stderr)")
    #expect(result.output == output)
    #expect(says.isEmpty ? result.stderr.isEmpty : result.stderr.contains(says), "\(result.stderr)")
  }

  private static let contradictions: [(String, String)] = [
    ("post --json -i -d a $U/", "--json and -i"), ("post --json -w x -d a $U/", "--json and -w"),
    ("post --json -D - -d a $U/", "--json and -D -"), ("get --json -I $U/", "--json and -I"),
    ("post -I -d a $U/", "sends no body"),
    ("post -G -F a=b $U/", "-G puts"), ("post -G -T words $U/", "-G puts"),
    ("get -d a $U/", "-G puts the data into the URL"), ("get -C - -o f -i $U/", "-C -"),
    ("get -J -i $U/", "-J names"), ("post -f --output-any-status -o f -d a $U/", "-f prints"),
    ("post -D '' -d a $U/", "-D needs"), ("get --url $U/ -T a", "makes a body"),
    ("post -G --data-binary $'\\xff' $U/", "UTF-8"),
  ]

  @Test(arguments: contradictions)
  func `flags that contradict each other are errors`(_ line: String, _ says: String) throws {
    let server = try Self.server()
    let result = try shell("U=\(server.url); $F \(line)")
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  private static let places: [(String, String, String, String)] = [
    ("-G -d 'a=b c' -d @words", "/?x&a=b%20c&words", "GET", ""),
    (
      "-G --data-urlencode 'a=é&' --url-query 'b=/' --query c=d", "/?x&c=d&b=%2F&a=%C3%A9%26",
      "GET", ""
    ),
    ("--url-query @words --url-query +%20 -d a", "/?x&words%0A&%20", "POST", "a"),
    ("-G --data-raw 'a=#1%20' --data-raw $'\\t'", "/?x&a=%231%20&%09", "GET", ""),
    ("--json 1", "/?x", "POST", "1"), ("--json -- ", "/?x", "POST", ""),
    ("--json '[' --json '1' --json ']'", "/?x", "POST", "[1]"),
    ("--json=true", "/?x", "POST", "true"),
    ("--json '{\"a\":' --json @words --json ' }'", "/?x", "POST", "{\"a\":words\n }"),
    ("-X PURGE", "/?x", "PURGE", ""),
  ]

  @Test(arguments: places)
  func `data goes where curl puts it`(
    _ flags: String, _ target: String, _ method: String, _ body: String
  ) throws {
    let server = try Self.server()
    let result = try shell("echo words > words; $F post \(flags) '\(server.url)/?x'")
    #expect(result.exit == 0, "\(result.stderr)")
    let request = try #require(server.requests.last)
    #expect([request.method, request.target] == [method, target])
    #expect(String(decoding: request.body, as: UTF8.self) == body)
  }
}
