import FormStreamTestSupport
import Testing

/// `send --put` with `{path}` and `{relative}`: one rule for the paths in URLs, and no belief in what manifests say of theirs.
@Suite struct SendPathURLTests {
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir -p A/x B/x; echo one > A/x/f; echo two > B/x/f; echo g > A/x/g", in: place)
  }

  /// What arrived, as a server stores it that takes two slashes for one.
  private var stored: [String: Set<String>] {
    server.requests.reduce(into: [:]) { stored, request in
      let merged = request.target.replacing(#//{2,}/#, with: "/")
      stored[merged, default: []].insert(String(decoding: request.body, as: UTF8.self))
    }
  }

  /// Regression: with a journal or a manifest a path was absolute, and otherwise as it was typed.
  @Test(arguments: [
    "send --put URL A", "send --journal j --put URL A", "send --put URL \"$PWD/A\"",
    "send --put URL --files-from relative", "send --put URL --files-from absolute",
    "send --journal j --put URL --files-from relative", "send --put URL A/x/f A/x/g",
    "send --put URL ./A//x", "send --put URL --manifest m", "send --put URL --manifest s",
  ])
  func `a path is absolute in URLs, however it is typed or listed`(_ line: String) throws {
    for (template, begin) in [("/{path}", ""), ("/up{path}", "/up"), ("/up/{path}", "/up")] {
      let done = server.requests.count
      let run = try shell(
        """
        rm -rf j m s; find A -type f > relative; find "$PWD/A" -type f > absolute
        $F plan A -o m; $F plan --files-from absolute -o s; pwd
        cd . && $F \(line.replacing("URL", with: "'\(server.url)\(template)'"))
        """, in: place)
      #expect(run.exit == 0, "\(run.stderr)")
      let here = try #require(run.output.split(separator: "\n").first)
      #expect(
        Set(server.requests[done...].map(\.target)) == [
          "\(begin)\(here)/A/x/f", "\(begin)\(here)/A/x/g",
        ])
    }
  }

  @Test func `in a query and in forms, a path is absolute, too`() throws {
    let run = try shell(
      "pwd; $F send --put '\(server.url)/q?p={path}' A/x/f; $F send --filename '{path}' \(server.url) A/x/f",
      in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    let here = try #require(run.output.split(separator: "\n").first)
    #expect(
      server.requests.first?.target == "/q?p=\(here.replacing("/", with: "%2F"))%2FA%2Fx%2Ff")
    #expect(server.sentFiles.last?.name == Array("\(here)/A/x/f".utf8))
  }

  /// Regression: their URLs differed in one slash, which many servers drop.
  @Test(arguments: [
    "\"$PWD/f\" \"${PWD#/}/f\"", "\"${PWD#/}/f\" \"$PWD/f\"", "--files-from l",
    "--journal j --files-from l",
    "--manifest m", "--manifest e",
  ])
  func `an absolute and a relative path of two files never give one URL`(_ words: String) throws {
    for template in ["/{path}", "/{relative}", "/up/{path}", "/a{path}"] {
      let done = server.requests.count
      let run = try shell(
        """
        rm -rf j m e; mkdir -p ".$PWD"; echo outer > f; echo inner > ".$PWD/f"; printf '%s\\n' "$PWD/f" "${PWD#/}/f" > l
        $F plan --files-from l -o m
        # A manifest of another program: relative to the current directory.
        { head -n 1 m | sed 's/"root":"[^"]*"/"root":null/'; tail -n +2 m; } > e
        $F send --put '\(server.url)\(template)' \(words)
        """, in: place)
      if run.exit == 64 {
        #expect(run.stderr.contains("would both be sent to"), "\(run.stderr)")
        #expect(server.requests.count == done)
      } else {
        #expect(run.exit == 0, "\(run.stderr)")
        #expect(server.requests.count == done + 2)
      }
    }
    for (target, bodies) in stored { #expect(bodies.count == 1, "\(target)") }
  }

  /// Regression: two files went to one URL, and both were ok.
  @Test(arguments: [
    "\"$PWD/B/./x/f\"", "\"$PWD/B/x/f\"", "../B/./x/f", "../B/x/f", "x/./f", "A/./B/./x/f",
  ])
  func `a manifest whose paths are not below its one root is refused`(_ path: String) throws {
    let run = try shell(
      """
      mkdir -p A/A/B/x; echo three > A/A/B/x/f; echo four > A/f
      $F plan A/x/f -o f; $F plan A -o m; grep -c one_root m
      line=$(tail -n 1 f | sed 's/"path":"[^"]*"/"path":"PATH"/'); path=\(path)
      { head -n 1 m; echo "${line/PATH/x/f}$(printf '%300s' '')"; echo "${line/PATH/$path}"; } > e
      touch -r A/x/f B/x/f A/A/B/x/f A/f
      for n in 1/2 2/2; do $F send -j 1 --put '\(server.url)/' --manifest e --shard $n; echo $?; done
      $F send -j 1 --put '\(server.url)/' --manifest e
      """, in: place)
    #expect(run.exit == 66, "\(run.stderr)")
    #expect(run.output == "1\n0\n66\n", "\(run.stderr)")
    #expect(run.stderr.contains("is malformed in the line"), "\(run.stderr)")
    #expect(run.stderr.contains("one_root"), "\(run.stderr)")
    for (target, bodies) in stored { #expect(bodies.count == 1, "\(target)") }
  }
}
