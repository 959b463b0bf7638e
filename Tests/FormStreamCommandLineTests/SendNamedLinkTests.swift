import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send` and `plan`: links on the command line, and `..` in lists.
@Suite struct SendNamedLinkTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory
  /// The responses to files, by name.
  private let statuses = Guarded<[String: Int]>([:])

  init() throws {
    server = try ScriptedServer(byName: statuses)
    place = try TemporaryDirectory()
    _ = try shell(
      """
      mkdir -p t/sub o; echo a > t/a; echo far > o/far; echo top > a
      ln -s a t/link; ln -s ../o/far t/away; ln -s ../o t/dir
      """, in: place)
  }

  private func run(_ line: String) throws -> Invocation {
    try shell(line.replacing("URL", with: server.url), in: place)
  }

  /// Regression: it was sent under the name of the file that it leads to, and only one of both was sent.
  @Test(arguments: [
    "$F send -q URL t/link t/a t/away", "$F send -q --journal j URL t/link t/a t/away",
    "$F plan -q -o m t/link t/a t/away && $F send -q --manifest m URL",
    "$F plan -q --sort -o m t/link t/a t/away && $F send -q --manifest m --journal j URL",
    "$F send -q --together URL t/link t/a t/away",
  ])
  func `a link on the command line is a file of its own, with its own name`(_ line: String) throws {
    let sent = try run(line)
    #expect(sent.exit == 0, "\(sent.stderr)")
    let files = [SentFile("a", "a\n"), SentFile("away", "far\n"), SentFile("link", "a\n")]
    if line.contains("--together") {
      let names = try #require(server.requests.first).body.split(separator: UInt8(ascii: "\n"))
        .compactMap { String(decoding: $0, as: UTF8.self).firstMatch(of: /filename="(?<name>[^"]*)"/) }.map { String($0.name) }
      #expect(names == ["link", "a", "away"])
    } else {
      #expect(server.sentFiles.count == 3 && Set(server.sentFiles) == Set(files), "\(server.sentFiles)")
    }
  }

  @Test func `a link has its own name in URLs`() throws {
    let sent = try run("$F send -q --put URL/ t/link t/a t/away")
    #expect(sent.exit == 0, "\(sent.stderr)")
    #expect(server.requests.map(\.target).sorted() == ["/a", "/away", "/link"])
  }

  @Test(arguments: ["", "--max-failures 1 -j 1 "])
  func `a link stays one in the next runs`(_ flags: String) throws {
    let send = "$F send --json --retry 0 --journal j URL t/link t/a t/away"
    statuses.withLock { $0 = ["away": 503] }
    #expect(try run(send.replacing("--json", with: "-q \(flags)")).exit == 75)
    statuses.withLock { $0 = [:] }
    let second = try run("\(send); \(send)")
    #expect(second.exit == 0, "\(second.stderr)")
    #expect(second.output.contains(#""again":0,"unchanged":3"#), "\(second.output)")
    let third = try run("echo other > o/b; ln -sfn ../o/b t/away; \(send); $F report j")
    #expect(third.exit == 0 && third.output.contains(#""changed":1,"again":0,"unchanged":2"#), "\(third.output)")
    #expect(server.sentFiles.filter { $0.name == Array("away".utf8) }.last == SentFile("away", "other\n"))
  }

  /// Regression: "leads out of its directory".
  @Test func `a path with .. in a list is read if it stays below the root`() throws {
    let list = "printf '%s\\n' t/sub/../a t/a t/dir/../a t/../../x t/sub/.. > list"
    let sent = try run("\(list); S() { $F send --json --retry 0 --journal j --files-from list URL; }; S; S")
    let codes = sent.output.matches(of: /"error":\{"code":"(?<code>[a-z-]*)"/).map { String($0.code) }
    #expect(sent.exit == 66 && Set(codes) == ["not-a-file", "outside-root"], "\(sent.output)")
    #expect(server.sentFiles == [SentFile("a", "a\n")])
    #expect(sent.output.contains(#""again":2,"unchanged":1"#), "\(sent.output)")
    #expect(sent.stderr.contains("1 repeated name left out") && sent.stderr.contains("1 directory of a list left out"))
    // The path in the URL has no "..", and two files that would have one path are noticed.
    let put = try run("echo t/sub/../a > one; $F send -q --put URL/ --files-from one; echo $?")
    #expect(put.output == "0\n" && server.requests.last?.target == "/t/a", "\(put.stderr)")
    let both = try run("printf '%s\\n' t/sub/../a t/dir/../a > two; $F send -q --follow-symlinks --put URL/ --files-from two")
    #expect(both.exit == 64 && both.stderr.contains("would both be sent to"), "\(both.stderr)")
    let followed = try run("$F send -q --follow-symlinks --files-from two URL")
    #expect(followed.exit == 0 && server.sentFiles.contains(SentFile("a", "top\n")), "\(followed.stderr)")
  }
}
