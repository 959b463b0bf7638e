import FormStreamTestSupport
import Foundation
import Testing

/// `bench`: what is measured, what is printed, and what goes wrong.
@Suite struct BenchTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory() }

  private func bench(_ flags: String) throws -> Invocation {
    try shell("mkdir -p tmp; TMPDIR=$PWD/tmp $F bench \(flags); code=$?; ls -A tmp >&2; exit $code", in: place)
  }

  private func record(_ flags: String) throws -> [String: Any] {
    let result = try bench("-q --json \(flags)")
    #expect(result.exit == 0 && result.stderr.isEmpty, "\(result.stderr)")
    return try #require(
      JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any], "\(result.output)")
  }

  private func programs(_ record: [String: Any]) throws -> [[String: Any]] {
    try #require(record["programs"] as? [[String: Any]])
  }

  @Test func `the record has each run of each program, and the first apart`() throws {
    let record = try record("--size 3M,64K --rounds 5 --count 2 --with curl,formstream")
    #expect(record["schema"] as? String == "formstream.bench/1")
    #expect(record["own_receiver"] as? Bool == true)
    #expect(record["count"] as? Int == 2 && record["rounds"] as? Int == 5)
    let programs = try programs(record)
    #expect(programs.map { $0["name"] as? String } == ["formstream", "curl", "formstream"])
    for program in programs {
      #expect(program["error"] is NSNull && program["missing"] as? Bool == false)
      let sizes = try #require(program["sizes"] as? [[String: Any]])
      #expect(sizes.map { $0["size"] as? Int } == [65536, 3 << 20])
      for size in sizes {
        let runs = try #require(size["runs"] as? [[String: Any]])
        #expect(runs.count == 5)
        for run in runs + [try #require(size["first"] as? [String: Any])] {
          let seconds = try #require(run["seconds"] as? Double)
          let processor = try #require(run["processor_seconds"] as? Double)
          #expect(seconds > 0 && processor >= 0)
        }
        let ratio = try #require(size["ratio"] as? [String: Any])
        let range = try ["low", "median", "high"].map { try #require(ratio[$0] as? Double) }
        #expect(range == range.sorted())
      }
    }
  }

  /// curl needs less than this program, and a program that holds the body needs more than it has bytes.
  @Test func `the memory is that of the program, and its slope shows what holds the body`() throws {
    let hoarder = """
      import sys, urllib.request
      body = open(sys.argv[2], 'rb').read()
      urllib.request.urlopen(urllib.request.Request(sys.argv[1], data=body, headers={'Content-Type': 'a/b'}))
      """
    try place.write("hoarder.py", hoarder)
    let record = try record("--size 1M,96M --rounds 3 --with curl -- python3 hoarder.py {url} {file}")
    let programs = try programs(record)
    func slope(_ index: Int) throws -> Int { try #require(programs[index]["peak_per_gib"] as? Int) }
    #expect(try slope(0) < 100 << 20)
    #expect(try slope(1) < 100 << 20)
    #expect(try slope(2) > 900 << 20)
    let sizes = try #require(programs[2]["sizes"] as? [[String: Any]])
    let runs = try #require(sizes.last?["runs"] as? [[String: Any]])
    #expect(try runs.allSatisfy { try #require($0["peak"] as? Int) > 96 << 20 })
    // What was allocated is only known at some moments.
    #expect(try runs.allSatisfy { try #require($0["anonymous"] as? Int) <= #require($0["peak"] as? Int) })
  }

  @Test func `the table has a row for each program, and says what is not counted`() throws {
    let result = try bench("--size 100K --rounds 2 --with curl")
    #expect(result.exit == 0, "\(result.stderr)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("100 KiB in a form to http://127.0.0.1:"))
    #expect(lines[0].hasSuffix(", a receiver of this program: the medians of 2 rounds"))
    #expect(lines[1].hasPrefix("program "))
    #expect(lines[2].hasPrefix("formstream  0.") && lines[2].hasSuffix("  1"))
    #expect(lines[3].hasPrefix("curl        0."))
    #expect(result.output.contains("\nThe first round, which is not counted: formstream 0."))
    #expect(result.output.contains("\nWith fewer than 5 rounds, nothing can be said about chance.\n"))
    for note in ["Warming up, 100 KiB", "Round 1 of 2, 100 KiB", "Round 2 of 2, 100 KiB"] {
      #expect(result.stderr.contains("formstream: \(note)\n"))
    }
  }

  @Test(arguments: ["--size 200K", "--size 64K,1M"])
  func `the picture is a valid SVG that needs nothing else`(_ sizes: String) throws {
    let result = try bench("-q \(sizes) --rounds 1 --with curl,formstream --plot out.svg")
    #expect(result.exit == 0, "\(result.stderr)")
    let text = try String(contentsOfFile: place.path("out.svg"), encoding: .utf8)
    let check = try shell(
      """
      python3 -c "
      import xml.etree.ElementTree as t
      r = t.parse('out.svg').getroot()
      texts = [e.text for e in r.iter() if e.tag.endswith('}text')]
      print(r.get('viewBox'), len([e for e in r.iter() if e.tag.endswith('}polyline')]), 'curl' in texts, 'formstream (2)' in texts)"
      """, in: place)
    #expect(check.output.hasPrefix("0 0 700 400 "), "\(check.stderr)")
    #expect(text.contains(">Memory (logarithmic)</text>"))
    // Viewers that don't know variables of CSS drew black on black.
    for foreign in ["<script", "<image", "@import", "url(", "var("] { #expect(!text.contains(foreign)) }
    #expect(!text.replacing("http://www.w3.org/2000/svg", with: "").contains("http"))
    if sizes.contains(",") {
      #expect(check.output == "0 0 700 400 3 True True\n")
      #expect(text.contains(">64 KiB<") && text.contains(">1.0 MiB<"))
    }
  }

  @Test func `a given file is sent to a server of the user, as a form`() throws {
    let server = try ScriptedServer { _ in .good() }
    try place.write("words", "some words")
    let result = try bench("-q --from words --rounds 1 \(server.url)/form -- curl -sS -F file=@{file} {url}")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.count == 4)
    for request in server.requests {
      #expect(request.target == "/form" && String(decoding: request.body, as: UTF8.self).contains("some words"))
    }
    #expect(result.output.hasPrefix("10 B in a form to \(server.url)/form: the medians of 1 round\n"))
  }

  @Test func `secrets of the URL are sent, and not printed`() throws {
    let server = try ScriptedServer { _ in .good() }
    for flags in ["--json", ""] {
      let result = try bench("--size 1K --rounds 1 \(flags) '\(server.url)/?token=hush'")
      #expect(result.exit == 0 && result.output.contains("/?token=***"), "\(result.output)")
      #expect(!result.output.contains("hush") && !result.stderr.contains("hush"))
    }
    #expect(server.requests.count == 4 && server.requests.allSatisfy { $0.target == "/?token=hush" })
  }

  @Test(arguments: [
    ("sh -c 'curl -sS -F f=@/etc/hostname {url} # {file}'", "it ended with 0, and the receiver got "),
    ("true {url} {file}", "it ended with 0, and the receiver got nothing, not 65536 bytes"),
    ("sh -c 'echo last words >&2; exit 7' {url} {file}", "it ended with 7: last words"),
    ("sh -c 'kill -9 $$' {url} {file}", "it ended with 137"),
  ]) func `an upload that isn't complete counts for nothing`(_ command: String, _ reason: String) throws {
    let result = try bench("-q --size 64K --rounds 2 -- \(command)")
    #expect(result.exit == 1, "\(result.output)")
    #expect(result.stderr.contains(reason), "\(result.stderr)")
    #expect(result.output.contains(/\n(sh|true) +failed\n/), "\(result.output)")
    // The others are measured all the same.
    #expect(result.output.contains("\nformstream  0."), "\(result.output)")
  }

  @Test func `what isn't installed is named as missing`() throws {
    let result = try shell(
      "mkdir bin; ln -s $(command -v true) bin/true; PATH=$PWD/bin $F bench -q --size 64K --rounds 1 --with curl,requests --json; echo $?",
      in: place)
    #expect(result.output.contains(#""error":"it is not installed","missing":true"#), "\(result.stderr)")
    #expect(result.output.hasSuffix("\n66\n"))
    #expect(result.stderr == "formstream: curl: it is not installed.\nformstream: requests: it is not installed.\n")
  }

  /// Regression: httpx imported a file `h2.py` of the working directory. The libraries don't have to be installed here.
  @Test func `Python imports no module from the working directory`() throws {
    for module in ["requests", "requests_toolbelt", "httpx", "aiohttp", "h2"] {
      try place.write("\(module).py", "open('imported', 'a').write(__name__ + ' ')")
    }
    let result = try bench("-q --size 64K --rounds 1 --with requests,toolbelt,httpx,aiohttp")
    #expect(result.output.contains("\nformstream  0."), "\(result.output) \(result.stderr)")
    #expect(try shell("cat imported", in: place).output == "")
  }

  @Test(arguments: [
    ("--size 0", "something that is no size"), ("--size 1M,", "something that is no size"),
    ("--size big", "something that is no size"), ("--rounds 0", "choose a number from 1"),
    ("--count 0", "choose a number from 1"), ("--size 8000000T --count 1000", "is too large"),
    ("--with wget", "a name that is not known"), ("--from f --size 1M", "leave out --size"),
    ("x://h/", "can't be used"), ("http://a:b@h/", "has a user"), ("-- curl {url}", "no command with {url} and {file}"),
    ("--json --plot -", "both go to standard output"), ("--plot ''", "needs the name of a file"),
  ]) func `wrong flags are named before anything runs`(_ flags: String, _ says: String) throws {
    let result = try bench(flags)
    #expect(result.exit == 64 && result.stderr.contains(says), "\(result.stderr)")
  }

  @Test(arguments: [("--from missing", "of --from can't be read: No such file"), ("--from .", "no regular file")])
  func `a file that can't be sent is named`(_ flags: String, _ says: String) throws {
    let result = try bench("-q \(flags)")
    #expect(result.exit == 66 && result.stderr.contains(says), "\(result.stderr)")
  }

  /// Files in memory can have so many bytes.
  @Test func `a file that is too large for the count is refused`() throws {
    let result = try shell(
      """
      huge=$(mktemp -p /dev/shm); trap 'rm $huge' EXIT
      truncate -s 7E $huge; $F bench -q --from $huge --count 1000
      """, in: place)
    #expect(result.exit == 64 && result.stderr.contains("is too large for --count 1000"), "\(result.stderr)")
  }

  @Test func `a program that failed has no figures, and each one is named`() throws {
    try place.write("flaky.sh", "echo x >> n; [ $(wc -l < n) -lt 3 ] || { echo 'no luck.' >&2; exit 9; }; curl -sS -F f=@$2 $1")
    let result = try bench("-q --size 64K --rounds 5 --plot - -- sh flaky.sh {url} {file}")
    #expect(result.exit == 1 && result.stderr.contains("formstream: sh: it ended with 9: no luck.\n"), "\(result.stderr)")
    // The picture goes to standard output, and the table to standard error.
    #expect(result.output.hasPrefix("<svg ") && result.output.hasSuffix("</svg>\n"))
    #expect(result.stderr.contains(/\nsh +failed\n/), "\(result.stderr)")
    let missing = try bench("-q --size 64K --rounds 1 --json -- ./nowhere {url} {file}")
    #expect(missing.exit == 66 && missing.output.contains(#""missing":true"#), "\(missing.stderr)")
  }

  @Test func `a word of the program with secrets of the URL is not repeated`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try bench(
      "-q --size 1K --rounds 1 --json '\(server.url)/?token=hush' -- sh -c 'echo no {url} >&2; exit 1' {file}")
    #expect(result.exit == 1 && result.output.contains("no http://"), "\(result.output)")
    #expect(!result.output.contains("hush") && !result.stderr.contains("hush"))
  }

  @Test func `text fields beside the file don't count, and a file that changes ends the measurement`() throws {
    let result = try bench("-q --size 64K --rounds 1 -- curl -sS -F a=b -F file=@{file} {url}")
    #expect(result.exit == 0, "\(result.stderr)")
    try place.write("words", "some words")
    let changed = try bench("-q --from words --rounds 1 -- sh -c 'curl -sS -F f=@$1 $0; echo >> words' {url} {file}")
    #expect(changed.exit == 74 && changed.stderr.contains("has changed during the measurement"), "\(changed.stderr)")
  }

  @Test func `proxies of the environment and curl's own file don't count at the own receiver`() throws {
    try place.write(".curlrc", "limit-rate = 1\n")
    let result = try shell(
      "HOME=$PWD http_proxy=http://127.0.0.1:1 $F bench -q --size 64K --rounds 1 --with curl", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
  }

  @Test func `what a program leaves behind ends with it`() throws {
    let result = try shell(
      """
      $F bench -q --size 64K --rounds 1 -- sh -c 'sleep 60 & echo $! > left; curl -sS -F f=@$1 $0' {url} {file}
      # Nobody may have waited for it yet.
      case $(sed -n 's/^State:[^A-Z]*\\([A-Z]\\).*/\\1/p' /proc/$(cat left)/status 2> /dev/null) in
        '' | Z) echo gone;; *) echo there;;
      esac
      """, in: place)
    #expect(result.output.hasSuffix("\ngone\n"), "\(result.output)")
  }

  /// Regression: the system forgot how the program had ended, and it counted as a success.
  @Test func `an ignored signal of ended children makes no success`() throws {
    let server = try ScriptedServer { _ in .good() }
    let ignoring =
      "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    let result = try shell(
      "python3 -c '\(ignoring)' $F bench -q --size 1K --rounds 1 \(server.url) -- sh -c 'exit 7' {url} {file}", in: place)
    #expect(result.exit == 1 && result.stderr.contains("sh: it ended with 7."), "\(result.output) \(result.stderr)")
  }

  /// Regression: it was four times as much.
  @Test func `the slope is for a GiB of the form, not of one of its files`() throws {
    try place.write(
      "hoarder.py",
      """
      import sys, urllib.request
      body = b''.join([open(name, 'rb').read() for name in sys.argv[2:]])
      urllib.request.urlopen(urllib.request.Request(sys.argv[1], data=body, headers={'Content-Type': 'a/b'}))
      """)
    let programs = try programs(record("--size 1M,33M --count 4 --rounds 1 -- python3 hoarder.py {url} {file}"))
    let slope = try #require(programs[1]["peak_per_gib"] as? Int)
    #expect((900 << 20..<3 << 30).contains(slope), "\(slope)")
  }

  @Test func `a program with any name leaves the picture and the table valid`() throws {
    let result = try shell(
      """
      name=$(printf './a\\001<&b'); cp "$(command -v curl)" "$name"
      $F bench -q --size 64K --rounds 1 --plot out.svg -- "$name" -sS -F f=@{file} {url}; echo $?
      python3 -c "import xml.etree.ElementTree as t; print(len(list(t.parse('out.svg').getroot())) > 5)"
      """, in: place)
    #expect(result.output.hasSuffix("0\nTrue\n"), "\(result.output) \(result.stderr)")
    #expect(!result.output.contains("\u{1}"))
  }

  @Test func `Ctrl-C ends the program that is measured, and leaves nothing behind`() throws {
    let result = try shell(
      """
      mkdir tmp; set -m
      TMPDIR=$PWD/tmp $F bench -q --size 64K -- sh -c 'echo $$ > pid; exec sleep 60' {url} {file} & bench=$!
      until [ -s pid ]; do sleep 0.05; done
      kill -INT $bench; wait $bench; echo $?
      kill -0 $(cat pid) 2> /dev/null; echo $?; ls -A tmp
      """, in: place)
    #expect(result.output == "130\n1\n", "\(result.output) \(result.stderr)")
    // Regression: it waited for an upload that didn't come, and left its directory behind.
    let waiting = try shell(
      """
      rm -r tmp pid; mkdir tmp; set -m
      TMPDIR=$PWD/tmp $F bench -q --size 64K -- sh -c 'echo $$ > pid' {url} {file} & bench=$!
      until [ -s pid ]; do sleep 0.05; done
      sleep 0.3; kill -INT $bench; wait $bench; echo $?; ls -A tmp
      """, in: place)
    #expect(waiting.output == "130\n", "\(waiting.output) \(waiting.stderr)")
  }
}
