import FormStreamTestSupport
import Testing

/// Secrets in names, URLs, responses and wrong command lines: a canary in each place appears in no output.
@Suite struct PostMaskingTests {
  private static let ways = [["-v"], ["--json"], ["--json", "-v"], ["--dry-run"], ["--to-curl"]]

  /// Runs `post` in each way, and returns everything that was printed.
  private func printed(
    _ arguments: [String], _ url: String?, in place: TemporaryDirectory? = nil
  ) throws -> String {
    try Self.ways.map { way in
      let result = try run(
        "formstream", ["post", "-d", "a"] + arguments + way + (url.map { [$0] } ?? []), in: place)
      return "\(way): \(result.output)\(result.stderr)"
    }
    .joined(separator: "\n")
  }

  static let secretHeaders = [
    "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Access-Key", "X-Jwt", "X-Passwd", "X-Key",
    "Private-Key", "X-Amz-Security-Token", "X-Hub-Signature-256", "Cf-Access-Jwt-Assertion", "DPoP",
    "X-CSRF", "x_user_pwd", "X-Pin", "X-Sig", "X-Sas", "X-JFrog-Art-Api", "Jenkins-Crumb",
    "X-2FA-Code", "X-Mfa", "X-Sign", "X-WSSE", "X-Verification-Code", "PRIVATE-TOKEN", "JOB-TOKEN",
    "X-Auth-Email", "X-Vault-Token", "X-Shopify-Access-Token", "DD-API-KEY", "apikey",
    "Circle-Token", "X-Goog-Api-Key", "X-Plex-Token", "X-Emby-Authorization", "X-GitHub-OTP",
  ]

  @Test(arguments: secretHeaders)
  func `headers with the names of secrets are masked`(_ name: String) throws {
    let server = try ScriptedServer { _ in .good(headers: [(name, "canary")]) }
    let all = try printed(["-H", "\(name): canary"], server.url)
    #expect(!all.contains("canary"), "\(all)")
    #expect(server.requests.first?.header(name) == "canary")
    #expect(all.contains("> \(name): ***") && all.contains("< \(name): ***"), "\(all)")
  }

  @Test func `headers with other names are shown`() throws {
    let plain = [
      "X-Monk", "X-Inside", "X-Status-Code", "Idempotency-Key", "X-Considered", "X-Breadcrumb",
      "X-Design", "X-Error-Code", "X-Assigned-To", "X-Api-Version", "X-Country-Code", "X-Art-Id",
      "X-Amz-Date", "X-Request-Id", "X-Signed-Off",
    ]
    let server = try ScriptedServer { _ in .good(headers: plain.map { ($0, "plain-\($0)") }) }
    let result = try formstream("post", "-v", "--idempotency-key", "k", "-d", "a", server.url)
    for name in plain {
      #expect(result.stderr.contains("< \(name): plain-\(name)\n"), "\(result.stderr)")
    }
    #expect(result.stderr.contains("> Idempotency-Key: \"k\"\n"))
  }

  /// Regression: the continuation of a header was taken for a header's name, which is not masked.
  @Test func `a header that a server folds is unfolded, and masked`() throws {
    let server = try ScriptedServer { _ in
      [
        .readBody,
        .send(
          "HTTP/1.1 200 OK\r\nX-A: one\r\n \t two\r\nSet-Cookie: a=canary;\r\n b: canary\r\n"
            + "\tcanary\r\nX-Token:\r\n canary: x\r\nContent-Length: 0\r\n\r\n"),
      ]
    }
    let all = try printed([], server.url)
    #expect(!all.contains("canary"), "\(all)")
    #expect(all.contains("< X-A: one two\n< Set-Cookie: ***\n< X-Token: ***\n"), "\(all)")
    #expect(all.contains(#"[["X-A","one two"],["Set-Cookie","***"],["X-Token","***"],"#), "\(all)")
  }

  @Test(arguments: [
    "http://me:canary@elsewhere.example/", "//me:canary@elsewhere.example/x",
    "http://elsewhere.example/?token=canary&a=b", "http://elsewhere.example/#access_token=canary",
    "http://me:can/canary@elsewhere.example/", "/next?X-Amz-Signature=canary;key=canary",
    "ftp://me:canary?canary@elsewhere.example/",
  ])
  func `secrets in the URLs of a response are masked`(_ location: String) throws {
    for status in [200, 302, 307] {
      // A header of any name may hold a URL; text that is none is not recognized there.
      let next = location.contains("can/") || location.contains("ftp:") ? "/" : location
      let server = try ScriptedServer { request in
        guard request.target == "/" else { return .good(404) }
        return .good(
          status,
          headers: [("Location", location), ("X-Next", next), ("Link", "<\(next)>; rel=a")])
      }
      let all = try printed([], server.url)
      #expect(!all.contains("canary"), "\(all)")
    }
  }

  static let secretQueries = [
    "X-Amz-Signature=canary", "X-Amz-Credential=canary", "sig=canary", "token=canary", "key=canary",
    "code=canary", "access_token=canary", "api_key=canary", "password=canary", "a=b&SIG=canary",
    "a;auth=canary", "%74oken=canary", "user[password]=canary", "a=b&token=canary#canary",
  ]

  @Test(arguments: secretQueries)
  func `secrets in a query are masked, and sent`(_ query: String) throws {
    let server = try ScriptedServer { request in
      switch request.index {
      case 0: .good(503)
      case 1: .good(307, headers: [("Location", "http://127.0.0.2:9/?\(query)")])
      default: [.readBody, .close]
      }
    }
    let all =
      try printed(["-g"], "\(server.url)/p?\(query)")
      + printed(["-g"], "http://127.0.0.1:1/?\(query)")
    #expect(!all.contains("canary"), "\(all)")
    #expect(all.contains("=***"), "\(all)")
    #expect(all.contains("put the URL into a file for --url-file"), "\(all)")
    let sent = query.split(separator: "#")[0]
    #expect(server.requests.first?.target == "/p?\(sent)")
    let typed = try formstream("post", "--dry-run", "-d", "", "--query", query, "http://h/")
    #expect(!typed.output.contains("=canary") || query.contains("%"), "\(typed.output)")
  }

  @Test func `other values in a query are shown`() throws {
    let query = "X-Amz-Expires=60&X-Amz-SignedHeaders=host&page=2&monk=a&at=a@b&keyword=c"
    let result = try formstream("post", "--dry-run", "-d", "", "http://h.example/a@b/?\(query)")
    #expect(result.output.hasPrefix("POST http://h.example/a@b/?\(query)\n"), "\(result.output)")
  }

  /// Regression: a `/`, `?` or `#` in a password ended the place where it was looked for.
  @Test(arguments: [
    "http://me:pa/canary@h.example/", "http://me:pa?canary@h.example/",
    "http://me:pa#canary@h.example/", "http://me:canary@h.example:port/",
    "https://me:canary/@h.example:/x y", "me:canary@h.example", "canary",
  ])
  func `a URL that is not valid is shown without its password`(_ url: String) throws {
    let all = try printed([], url)
    #expect(!all.contains("canary"), "\(all)")
  }

  // MARK: --url-file

  @Test func `a URL in a file is shown by its origin alone`() throws {
    let server = try ScriptedServer { request in
      switch (request.target, request.number) {
      case ("/canary/hook?canary", 0): .good(307, headers: [("Location", "/canary/next")])
      case ("/canary/next", _): .good(302, headers: [("Location", "/canary/page")])
      default: .good(404, headers: [("Content-Location", "/canary")])
      }
    }
    let place = try TemporaryDirectory()
    for (url, says) in [
      ("\(server.url)/canary/hook?canary", "POST \(server.url)/***\n"),
      (
        "http://127.0.0.1:1/canary", "could not be sent: nothing is listening at http://127.0.0.1:1"
      ),
      ("http://me:canary@127.0.0.1:1/", "Authorization: Basic ***"),
      ("http://canary:canary/canary", "holds no URL that can be requested"),
      ("canary.example/", "holds no URL that can be requested"),
      ("ftp://canary/", "holds no URL that can be requested"),
    ] {
      try place.write("url", "\(url)\n")
      let all = try printed(["--url-file", "url"], nil, in: place)
      #expect(!all.contains("canary"), "\(all)")
      #expect(all.contains(says), "\(all)")
    }
    #expect(server.requests.first?.target == "/canary/hook?canary")
    #expect(server.faults.isEmpty)
  }

  @Test func `a URL in a file is used as it stands there, by curl too`() throws {
    let server = try ScriptedServer { _ in .good(201) }
    let place = try TemporaryDirectory()
    try place.write("url", "\(server.url)/canary/{a}/?b=1\n")
    let result = try shell(
      """
      $F put -T url --url-file url --query c=2; $F post -d a --url-file - < url
      $F post -d a --url-file url --to-curl | sh
      chmod 644 url; $F post -d a --url-file url
      """, in: place)
    #expect(
      server.requests.map(\.target) == [
        "/canary/%7ba%7d/url?b=1&c=2", "/canary/%7ba%7d/?b=1", "/canary/{a}/?b=1",
        "/canary/%7ba%7d/?b=1",
      ]
        || server.requests.map(\.target) == [
          "/canary/{a}/url?b=1&c=2", "/canary/{a}/?b=1", "/canary/{a}/?b=1", "/canary/{a}/?b=1",
        ], "\(server.requests.map(\.target)) \(result.stderr)")
    #expect(
      result.stderr.contains("Other users can read the secrets in \"url\" (--url-file)"),
      "\(result.stderr)")
  }

  // MARK: Wrong command lines

  static let wrong: [[String]] = [
    ["post", "-d", "", "canary"],
    ["post", "-d", "", "-H", "canary", "http://h/"],
    ["post", "-d", "", "-H", "can ary: canary", "http://h/"],
    ["post", "-d", "", "-X", "can ary", "http://h/"],
    ["post", "-d", "", "-u", "canary", "http://h/"],
    ["post", "-d", "", "--token-file", "canary", "http://h/"],
    ["post", "-d", "", "--user-file", "canary", "http://h/"],
    ["post", "-d", "", "--header-file", "canary", "http://h/"],
    ["post", "-d", "", "--url-file", "canary"],
    ["post", "-d", "", "--idempotency-key", "canary\u{7}", "http://h/"],
    ["post", "-F", "canary", "http://h/"], ["post", "-F", "a=b;canary", "http://h/"],
    ["post", "-F", "a=canary,\";x", "http://h/"], ["post", "-F", "a=b;type=canary", "http://h/"],
    ["post", "-F", "a=b;headers=canary", "http://h/"],
    ["post", "-F", "a=b", "--part-header", "can ary: canary", "http://h/"],
    ["post", "{\"canary\":1}"], ["canary"], ["https://canary.example/?canary"],
    ["encode", "canary"],
    ["receive", "canary"], ["receive", ":8canary"],
    ["--canary=x y", "post"], ["--\u{E9}canary"], ["post", "--can ary"],
    ["parse", "--content-type", "canary", "x"],
  ]

  @Test(arguments: wrong)
  func `an error about the command line names the place, and not what was typed`(
    _ arguments: [String]
  ) throws {
    let result = try run("formstream", arguments)
    let canaries = result.stderr.replacing("--canary is not a flag", with: "")
    #expect(!canaries.contains("canary") && !canaries.contains("can ary"), "\(result.stderr)")
    #expect(result.exit == 64 || result.exit == 66, "\(result.stderr)")
  }

  @Test func `an error about a configuration file names the line, and not what it holds`() throws {
    let place = try TemporaryDirectory()
    for line in [
      "canary", "token canary", "Authorization: canary", "-H canary", "--header=canary",
      "--user canary", "--retry canary", "--form canary", "--token-file canary", "--quiet canary",
    ] {
      try place.write("c", "# comment\n\(line)\n")
      let result = try formstream(
        "post", "--config", "c", "-d", "", "http://127.0.0.1:1/", in: place)
      #expect([64, 66].contains(result.exit), "\(result.stderr)")
      #expect(!result.stderr.contains("canary"), "\(result.stderr)")
      #expect(
        result.stderr.contains("c:2: ") || result.stderr.contains("(line 2 of \"c\")"),
        "\(result.stderr)")
    }
  }

  /// Values in place of others, as after a forgotten word. Flags that name files show the file. A boundary and a query are
  /// sent in the open, and shown if their names don't say that they are secrets.
  @Test(arguments: ["post", "put", "encode", "parse", "sniff", "receive"])
  func `no flag's error shows its value`(_ verb: String) throws {
    let lines = try formstream(verb, "--help").output.split(separator: "\n")
    let operands = ["post": "http://127.0.0.1:1/", "put": "http://127.0.0.1:1/", "parse": "x"]
    var count = 0
    for line in lines {
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(where: { $0.hasPrefix("--") }), index < 2,
        line.hasPrefix("  "), words.count > index + 1
      else { continue }
      let value = words[index + 1]
      guard value.allSatisfy({ $0.isUppercase || ",:=".contains($0) }),
        value.count > 1 || "SBN".contains(value),
        !["FILE", "PATH", "DIR"].contains(where: value.contains), value != "NAME=CONTENT",
        !["--boundary", "--query", "--url-query"].contains(words[index])
      else { continue }
      for wrong in ["canary", "canary\u{7}", "\u{7}canary=canary:canary"] {
        let result = try run(
          "formstream",
          [verb, String(words[index]), wrong, "--into", "/dev/null"].dropLast(
            verb == "receive" ? 0 : 2)
            + [operands[verb]].compactMap { $0 })
        #expect(!result.stderr.contains("canary"), "\(words[index]): \(result.stderr)")
      }
      count += 1
    }
    #expect(count >= ["post": 20, "put": 20, "receive": 4, "encode": 6][verb] ?? 1, "\(count)")
  }
}

/// Credentials over http.
@Suite struct InsecureAuthTests {
  @Test func `credentials that others can read cause a warning`() throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    try place.write("token", "canary\n")
    let far = ["--resolve", "h.example:\(server.port):127.0.0.1"]
    let url = "http://h.example:\(server.port)/"
    let basic = ["-u", "me:canary"]
    for (flags, url, isWarned) in [
      (far + basic, url, true), (far + ["--token-file", "token"], url, true),
      (far + ["-H", "Authorization: canary"], url, true),
      (far, url.replacing("//", with: "//me:canary@"), true), (far, url, false),
      (far + basic + ["--insecure-auth"], url, false), (far + basic + ["-q"], url, false),
      (basic, server.url, false), (basic, server.url(host: "localhost"), false),
    ] {
      let result = try run("formstream", ["post", "-d", "a"] + flags + [url], in: place)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(
        result.stderr
          == (isWarned
            ? "formstream: The credentials are sent to h.example without encryption, so others on the way can "
              + "read them: use https, or --insecure-auth if they may.\n" : ""))
    }
    #expect(server.requests.count == 9)
  }
}

/// What programs started by others can inherit.
@Suite struct InheritanceTests {
  /// `flags` of `/proc/PID/fdinfo` has the bit of `O_CLOEXEC`. Pipes come from the test runner.
  private static let inheritable = """
    inheritable() {
      for entry in /proc/$1/fdinfo/*; do
        [ ${entry##*/} -gt 2 ] || continue
        flags=$(awk '/^flags:/ { print $2 }' $entry)
        target=$(readlink /proc/$1/fd/${entry##*/})
        case $target in "$PWD"/*|socket:*) ;; *) continue;; esac
        [ $((0$flags & 02000000)) -ne 0 ] || echo $target
      done
    }
    # The pair of sockets that libcurl wakes itself up with is no connection.
    connections() { inheritable $1 | sed -n 's/socket:.\\(.*\\)./\\1/p' | while read inode; do
      grep -q " $inode " /proc/net/tcp /proc/net/tcp6 && echo $inode; done; }
    """

  @Test func `neither files nor connections are inherited`() throws {
    let server = try ScriptedServer { _ in [.readBody, .send("HTTP/1.1 200 OK\r\n\r\nx"), .stall] }
    let result = try shell(
      """
      \(Self.inheritable)
      echo words > words; mkdir kept
      $F post -v -F f=@words -o answer \(server.url) 2> result & pid=$!
      until grep -q '^< HTTP' result; do sleep 0.01; done
      inheritable $pid | grep -v socket; connections $pid; kill $pid
      $F receive --listen 0 --into kept 2> listening > log & pid=$!
      until grep -q Listening listening; do sleep 0.01; done
      port=$(sed -n 's/.*127.0.0.1:\\([0-9]*\\).*/\\1/p' listening)
      exec 4<> /dev/tcp/127.0.0.1/$port
      printf 'PUT /a HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 9\\r\\n\\r\\nx' >&4
      until ls -l /proc/$pid/fd | grep -q '/kept/[#.]'; do sleep 0.01; done
      inheritable $pid | grep -v socket; connections $pid; kill -9 $pid
      """)
    #expect(result.output == "", "\(result.output) \(result.stderr)")
  }
}
