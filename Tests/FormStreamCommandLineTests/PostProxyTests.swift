import FormStreamTestSupport
import Testing

/// Proxies as curl's users name them: by flags and by the environment.
@Suite struct PostProxyTests {
  private func post(
    _ arguments: [String], _ variables: [String: String] = [:], in place: TemporaryDirectory? = nil
  ) throws -> Invocation {
    try run("formstream", ["post", "-d", "a"] + arguments, in: place, environment: variables)
  }

  @Test func `the environment names proxies and exceptions, and flags come first`() throws {
    let proxy = try ScriptedServer { _ in .good(body: "proxy") }
    let other = try ScriptedServer { _ in .good(body: "other") }
    let server = try ScriptedServer { _ in .good(body: "server") }
    let address = "127.0.0.1:\(proxy.port)"
    for (variables, flags, expected) in [
      (["http_proxy": address], [], "proxy"), (["all_proxy": address], [], "proxy"),
      (["ALL_PROXY": "http://\(address)/"], [], "proxy"), (["HTTP_PROXY": address], [], "server"),
      (["https_proxy": address, "HTTPS_PROXY": address], [], "server"),
      (["http_proxy": address, "no_proxy": "a.example 127.0.0.1"], [], "server"),
      (["http_proxy": address, "NO_PROXY": "127.0.0.0/8"], [], "server"),
      (["http_proxy": address, "no_proxy": "", "NO_PROXY": "*"], [], "server"),
      (["http_proxy": address, "no_proxy": "*"], ["--noproxy", ""], "proxy"),
      (["http_proxy": address], ["-x", ""], "server"),
      (["http_proxy": address], ["--noproxy", "*"], "server"),
      (["http_proxy": address], ["-x", "127.0.0.1:\(other.port)"], "other"),
      (["no_proxy": "127.0.0.1"], ["-x", address], "server"),
      ([:], ["-x", "http://\(address)"], "proxy"), ([:], [], "server"),
    ] as [([String: String], [String], String)] {
      let result = try post(flags + [server.url], variables)
      #expect(
        (result.exit, result.output, result.stderr) == (0, expected, ""),
        "\(variables) \(flags) \(result)")
      // curl agrees.
      let curled = try run(
        program: "/usr/bin/env", ["curl", "-q", "-sS", "-d", "a"] + flags + [server.url],
        environment: variables)
      #expect(curled.output == expected, "\(variables) \(flags) \(curled)")
    }
    #expect(proxy.faults == [] && other.faults == [] && server.faults == [])
  }

  @Test func `a variable of a developer's environment does not concern the tests`() throws {
    let result = try run(
      program: "/usr/bin/env", ["sh", "-c", "echo \"$http_proxy$all_proxy$no_proxy\""])
    #expect(result.output == "\n")
  }

  @Test func `a proxy over a socket is an error, if it is not only the environment's`() throws {
    let place = try TemporaryDirectory()
    let local = try ScriptedServer(on: .unix(place.local("socket"))) { _ in .good(body: "local") }
    let flags = ["--unix-socket", "socket", "http://h/"]
    let typed = try post(["-x", "p"] + flags, in: place)
    #expect(typed.exit == 64)
    #expect(typed.stderr.contains("--unix-socket"), "\(typed.stderr)")
    let set = try post(flags, ["http_proxy": "127.0.0.1:1"], in: place)
    #expect((set.exit, set.output) == (0, "local"), "\(set.stderr)")
    #expect(local.requests.count == 1)
  }

  @Test func `a dry run names the proxy`() throws {
    let result = try post(
      ["--dry-run", "http://h.example/"], ["http_proxy": "http://me:canary@p.example"])
    #expect(
      result.stderr
        == "formstream: The request would go through the proxy http://p.example:1080.\n")
    #expect(!result.output.contains("canary"))
    let direct = try post(["--dry-run", "-x", "", "http://h/"], ["http_proxy": "p"])
    #expect(direct.stderr == "")
  }

  @Test func `the proxy's credentials that others can read cause a warning, if they were typed`()
    throws
  {
    let user = ["-U", "me:canary"]
    for (flags, variables, isWarned) in [
      (["-x", "http://me:canary@p.example"], [:], true), (["-x", "p.example"] + user, [:], true),
      (["--socks5", "p.example"] + user, [:], true),
      (user, ["http_proxy": "p.example"], true),
      (["-x", "p.example"], [:], false), (["-x", "https://p.example"] + user, [:], false),
      (["-x", "127.0.0.1"] + user, [:], false),
      (["-x", "p.example", "--insecure-auth"] + user, [:], false),
      ([], ["http_proxy": "me:canary@p.example"], false),
    ] as [([String], [String: String], Bool)] {
      let result = try post(["--dry-run", "http://h.example/"] + flags, variables)
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(
        result.stderr.contains("p.example:1080 are sent to it without encryption") == isWarned,
        "\(flags) \(result.stderr)")
      #expect(!result.stderr.contains("canary"))
    }
  }

  @Test(arguments: [
    (["-x", "canary://h"], "-x"), (["--proxy", "http://h:canary"], "--proxy"),
    (["--socks5", "canary/x"], "--socks5"), (["--socks5-hostname", "a b"], "--socks5-hostname"),
    (["-U", "canary"], "-U"), (["-U", "a:b", "--proxy-user-file", "x"], "one of them"),
  ])
  func `what is not a proxy is an error`(_ flags: [String], _ says: String) throws {
    let result = try post(flags + ["http://h/"])
    #expect(result.exit == 64)
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(!result.stderr.contains("canary"), "\(result.stderr)")
    let environment = try post(["http://h/"], ["http_proxy": "canary://canary"])
    #expect(environment.exit == 64)
    #expect(environment.stderr.contains("http_proxy") && !environment.stderr.contains("canary"))
  }

  @Test(arguments: ["typed", "file", "url", "variable"])
  func `the proxy's password is sent to the proxy, and shown nowhere`(_ way: String) throws {
    let place = try TemporaryDirectory()
    try place.write("user", "me:canary\n")
    let refusing = try ScriptedServer { request in
      request.header("Proxy-Authorization") == "Basic bWU6Y2FuYXJ5" ? .good(403) : .good(407)
    }
    let address = "127.0.0.1:\(refusing.port)"
    var (flags, variables): ([String], [String: String]) = (["-x", address], [:])
    switch way {
    case "typed": flags += ["-U", "me:canary"]
    case "file": flags += ["--proxy-user-file", "user"]
    case "url": flags = ["-x", "http://me:canary@\(address)"]
    default:
      (flags, variables) = (
        [], ["https_proxy": "me:canary@\(address)", "http_proxy": "me:canary@\(address)"]
      )
    }
    for url in ["https://h.example/", "http://h.example/"] {
      for more in [["-v"], ["--json"], ["--dry-run"], ["--to-curl"]] {
        let result = try post(flags + more + [url], variables, in: place)
        let all = result.output + result.stderr
        for secret in ["canary", "bWU6"] { #expect(!all.contains(secret), "\(all)") }
        if more == ["-v"] {
          #expect(all.contains("> Proxy-Authorization: ***"), "\(all)")
          #expect(result.exit == 1)
        }
      }
    }
    #expect(!refusing.requests.isEmpty)
    #expect(
      refusing.requests.allSatisfy { $0.header("Proxy-Authorization") == "Basic bWU6Y2FuYXJ5" })
  }

  @Test func `a refused tunnel says so, and the exit code says whether to try again`() throws {
    for (status, exit) in [(407, 1), (403, 1), (503, 75)] as [(Int, Int32)] {
      let proxy = try ScriptedServer { _ in .good(status) }
      let result = try post(["--json", "-x", "127.0.0.1:\(proxy.port)", "https://h.example/"])
      #expect(result.exit == exit, "\(result.stderr)")
      #expect(result.output.contains("\"code\":\"proxy-refused\""), "\(result.output)")
      #expect(result.output.contains("\"status\":null"), "\(result.output)")
      #expect(
        result.stderr.contains("the proxy http://127.0.0.1:\(proxy.port) made no connection")
          && result.stderr.contains("\(status) to CONNECT"), "\(result.stderr)")
      #expect(result.stderr.contains("--proxy-user-file") == (status == 407))
    }
  }

  /// Regression: the password was dropped without a word. SOCKS4 has a user, and nothing else.
  @Test(arguments: ["socks4", "socks4a"])
  func `a password for a proxy of SOCKS4 is refused, and a user alone is sent`(
    _ scheme: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let proxy = try SOCKS4Proxy(to: server.port)
    let place = try TemporaryDirectory()
    try place.write("both", "joe:canary\n")
    try place.write("user", "joe\n")
    let address = "127.0.0.1:\(proxy.port)"
    for flags in [
      ["--\(scheme)", address, "-U", "joe:canary"],
      ["--\(scheme)", address, "--proxy-user-file", "both"],
      ["-x", "\(scheme)://joe:canary@\(address)"],
      ["-x", "\(scheme)://\(address)", "-U", "joe:canary"],
    ] {
      let result = try post(flags + [server.url], in: place)
      #expect(result.exit == 64, "\(flags) \(result.stderr)")
      #expect(
        result.stderr.contains("SOCKS4") && result.stderr.contains("leave the password out"),
        "\(result.stderr)")
      #expect(!result.stderr.contains("canary"))
    }
    #expect(proxy.requests.isEmpty)
    for (number, flags) in [
      ["--\(scheme)", address, "-U", "joe"], ["--\(scheme)", address, "-U", "joe:"],
      ["--\(scheme)", address, "--proxy-user-file", "user"],
      ["-x", "\(scheme)://joe@\(address)"],
    ].enumerated() {
      let result = try post(flags + [server.url], in: place)
      #expect((result.exit, result.output) == (0, "thanks"), "\(flags) \(result.stderr)")
      #expect(proxy.requests.count == number + 1)
      #expect(
        proxy.requests.last?.dropFirst(8).starts(with: "joe\0".utf8) == true)
    }
    // What is set for all commands ends none of them.
    let set = try post([server.url], ["http_proxy": "\(scheme)://joe:canary@\(address)"])
    #expect((set.exit, set.output) == (0, "thanks"), "\(set.stderr)")
    #expect(set.stderr.contains("SOCKS4") && !set.stderr.contains("canary"), "\(set.stderr)")
    // A proxy that is not used gets no password.
    let direct = try post(
      ["--\(scheme)", address, "-U", "joe:canary", "--noproxy", "*", server.url])
    #expect((direct.exit, direct.stderr) == (0, ""))
  }
}
