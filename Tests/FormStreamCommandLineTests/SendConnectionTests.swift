import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send` over HTTP/2, through proxies, and over a slow link: with a journal, each file arrives once.
@Suite struct SendConnectionTests {
  private let place: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in $(seq 30); do head -c $((n * 700)) /dev/zero > in/$n; done", in: place)
  }

  private func send(_ flags: String, to url: String) throws -> Invocation {
    try shell("$F send --json --journal j \(flags) \(url) in", in: place)
  }

  @Test func `over HTTP/2, each file arrives once`() throws {
    let server = try ScriptedHTTP2Server { _ in .good() }
    let run = try send("--http2-prior-knowledge --put", to: server.url + "/")
    #expect(run.exit == 0 && run.output.contains(#""ok":30,"#), "\(run.stderr)")
    #expect(server.requests.count == 30)
    let again = try send("--http2-prior-knowledge --put", to: server.url + "/")
    #expect(again.exit == 0 && server.requests.count == 30, "\(again.stderr)")
  }

  /// A stream that was refused before the server did anything is sent again, and isn't in doubt.
  @Test func `a refused stream is repeated, and no file is marked`() throws {
    let server = try ScriptedHTTP2Server { request in
      request.number % 7 == 0 && request.number < 30 ? [.resetStream(.refusedStream)] : .good()
    }
    let run = try send("--http2-prior-knowledge --retry-delay 0", to: server.url)
    #expect(run.exit == 0 && run.output.contains(#""ok":30,"#), "\(run.output) \(run.stderr)")
    #expect(!run.output.contains(#""maybe_duplicate":true"#))
    #expect(server.requests.count == 35)
  }

  @Test(arguments: [RealProxy.Kind.socks, .squid])
  func `through a proxy, each file arrives once`(_ kind: RealProxy.Kind) throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(200)] }
    let proxy = try RealProxy(kind)
    let scheme = kind == .socks ? "socks5h" : "http"
    let run = try send("-x \(scheme)://127.0.0.1:\(proxy.port)", to: server.url)
    #expect(run.exit == 0 && run.output.contains(#""ok":30,"#), "\(run.stderr)")
    #expect(server.requests.count == 30)
  }

  /// The server's response takes 38 ms, as over a long link.
  @Test func `where requests take long, more are sent at the same time`() throws {
    let server = try ScriptedServer { _ in
      [.readBody, .sendSlowly(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), each: .milliseconds(1))]
    }
    _ = try shell("for n in $(seq 400); do echo $n > in/x$n; done", in: place)
    let run = try send("", to: server.url)
    #expect(run.exit == 0 && run.output.contains(#""ok":430,"#), "\(run.stderr)")
    let jobs = try #require(run.output.firstMatch(of: /"jobs":(?<jobs>\d+)/).flatMap { Int($0.jobs) })
    #expect((5...128).contains(jobs), "\(jobs)")
    #expect(server.requests.count == 430)
  }
}
