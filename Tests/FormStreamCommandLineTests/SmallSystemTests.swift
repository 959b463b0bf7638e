import FormStreamTestSupport
import Testing

/// Systems that have less than usual: no `/proc`, little memory, few descriptors; and a command line that has nothing.
@Suite struct SmallSystemTests {
  /// Regression: all command lines were empty ones.
  @Test(.enabled(if: sanitizer != "address", "it reads its options in /proc"))
  func `arguments are read without /proc`() throws {
    let result = try shell(
      """
      printf 'words' > f
      # Root may mount without a name space for users, which can't be made where the root directory was changed.
      unshare $([ "$(id -u)" = 0 ] && echo -m || echo -rm) sh -c 'mount -t tmpfs none /proc && "$F" --version && "$F" encode --boundary B -F a=@f -F $0=b' é
      """)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output.hasPrefix("formstream 0."), "\(result.output)")
    #expect(result.output.contains("\r\n\r\nwords\r\n"))
    #expect(result.output.contains("name=\"é\""))
  }

  /// Regression: libdispatch waited for ever for a thread.
  @Test(.enabled(if: sanitizer == nil, "a sanitizer needs terabytes of addresses"))
  func `with little memory a command works, or ends with a sentence`() throws {
    let server = try ScriptedServer { _ in .good() }
    // The smallest limit at which the program is loaded.
    let line = """
      v=40000; until (ulimit -v $v; "$F" --version > /dev/null 2>&1); do v=$((v + 4000)); done
      for more in 0 4000 8000 12000 16000 20000 24000 32000 64000 128000; do
        (ulimit -v $((v + more)); timeout 60 "$F" post -d a \(server.url) 2>&1); echo " $?"
      done
      """
    let result = try shell(line)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count >= 10, "\(result.output)")
    for line in lines where !line.hasPrefix("formstream: The limit for memory leaves no room") {
      #expect([" 74", " 0"].contains(line), "\(line)")
    }
    #expect(lines.last == " 0")
  }

  /// Regression: memory for threads took most of the addresses, so that a command crashed for want of them, or waited for ever.
  @Test(
    .enabled(if: sanitizer == nil, "a sanitizer needs terabytes of addresses"),
    arguments: [
      "post -F f=@g U", "put g U/g", "get -o o U/g", "send U d", "send -j 20 --put U/{path} d",
    ])
  func `with any limit for memory a command works, or ends with a sentence`(_ line: String) throws {
    let place = try TemporaryDirectory()
    try place.write("g", noise(300_000))
    _ = try shell("mkdir d; for n in {1..40}; do cp g d/$n; done", in: place)
    let server = try ScriptedServer { request in
      request.method == "GET" ? [.respond(200, bytes: noise(300_000))] : .good()
    }
    let typed = line.replacing("U", with: server.url)
    let result = try shell(
      """
      ulimit -c 0
      v=40000; until (ulimit -v $v; "$F" --version > /dev/null 2>&1); do v=$((v + 4000)); done
      for more in 0 8000 16000 24000 32000 40000 48000 56000 {64000..180000..6000} 220000 260000 300000 400000; do
        (ulimit -v $((v + more)); timeout -s KILL 60 "$F" \(typed) > out 2>&1); exit=$?
        echo "$exit $more"; [ $exit = 0 ] || head -c 300 out
        [ $exit -lt 128 ] || break
      done
      """, in: place)
    let lines = result.output.split(separator: "\n")
    for line in lines where !line.hasPrefix("formstream: The limit for memory leaves no room") {
      #expect(line.hasPrefix("0 ") || line.hasPrefix("74 "), "\(line)")
    }
    #expect(lines.last == "0 400000", "\(result.output.suffix(1000))")
  }

  @Test func `a small post needs few descriptors, and says how many if there are fewer`() throws {
    let server = try ScriptedServer { _ in .good() }
    for (count, exit) in [(8, Int32(74)), (24, 0), (32, 0)] {
      // The parent process may have left others open.
      let result = try shell(
        "for n in {3..250}; do eval \"exec $n>&-\"; done; ulimit -n \(count); \"$F\" post -d a \(server.url)"
      )
      #expect(result.exit == exit, "\(count): \(result.stderr)")
      #expect(
        result.stderr.contains("allow 24 or more with ulimit -n") == (exit != 0),
        "\(result.stderr)")
    }
  }

  /// Regression: libdispatch ended the process with SIGILL. With three, no library can be loaded.
  @Test(
    .enabled(if: sanitizer == nil, "a sanitizer needs descriptors of its own"), arguments: 4...11)
  func `with hardly any descriptors a command works, or says how many it needs`(_ count: Int) throws {
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      echo text > f; mkdir d; echo a > d/a; $F encode -q --boundary B -F a=@f -o body; ulimit -c 0
      for n in {3..250}; do eval "exec $n>&-"; done; ulimit -n \(count)
      for line in 'sniff f d/a' 'encode -F a=@f -o o' 'parse --boundary B body' 'parse --boundary B --into p body' \
        'plan d -o m' 'report d' 'post -d a http://127.0.0.1:1/' 'get http://127.0.0.1:1/' 'send http://127.0.0.1:1/ f' \
        'receive --listen 0 --once' 'bench --size 1K --rounds 1' '--version'
      do timeout -s KILL 60 $F $line > out 2> err; exit=$?; echo "$exit $line"; [ $exit = 0 ] || tail -1 err; done
      """, in: place)
    let lines = result.output.split(separator: "\n")
    #expect(lines.last == "0 --version")
    for line in lines where line.first?.isNumber == true {
      #expect(
        ["0 ", "64 report", "66 ", "74 ", "75 "].contains { line.hasPrefix($0) },
        "\(line): \(result.output)")
    }
    if count < 10 {
      #expect(
        result.output.contains("74 sniff f d/a\nformstream: Too few files can be open at once to"))
    }
  }

  /// Regression: it crashed. With less, no library can be loaded.
  @Test(
    .enabled(if: sanitizer == nil, "a sanitizer needs more"),
    arguments: [100, 128, 200, 256, 400, 511])
  func `with a small stack a command says how much it needs`(_ size: Int) throws {
    for line in ["post -d a http://127.0.0.1:1/", "--version", "sniff /etc/hostname"] {
      let result = try shell("ulimit -c 0; ulimit -Hs unlimited; ulimit -s \(size); $F \(line)")
      #expect(result.exit == 74, "\(line): \(result.stderr)")
      #expect(
        result.stderr
          == "formstream: The limit for the stack is too small for this program: allow 512 KiB or more with ulimit -s.\n",
        "\(line)")
    }
  }

  @Test(.enabled(if: sanitizer == nil, "a sanitizer needs more"))
  func `with the smallest stack that is allowed, commands work`() throws {
    let server = try ScriptedServer { request in
      request.method == "GET" ? [.respond(200, bytes: noise(300_000))] : .good()
    }
    let place = try TemporaryDirectory()
    try place.write("f", noise(300_000))
    let result = try shell(
      """
      ulimit -c 0; mkdir d; cp f d/a; cp f d/b; ulimit -s 512; $F encode -q --boundary B -F a=@f -o body; echo $?
      for line in 'post -F f=@f U/' 'put f U/f' 'get -o o U/f' 'send -j 4 U/ d' 'send --put U/{name} --journal j d' \
        'report j' 'sniff f d/a' 'parse --boundary B --into p body' 'plan d -o m'
      do timeout -s KILL 60 $F ${line/U/\(server.url)} > out 2> err; echo $?; cat err >&2; done
      """, in: place)
    #expect(result.output == String(repeating: "0\n", count: 10), "\(result.stderr)")
  }

  @Test func `nothing typed prints the overview`() throws {
    let result = try formstream()
    #expect((result.exit, result.output) == (64, ""))
    #expect(result.stderr == (try formstream("--help").output))
  }

  @Test(arguments: [
    ("{a:1}", "--json-body", true), ("{\"a\":1", "--json", true),
    ("{\"a\":1}", "--json-body", false),
    ("[1,2]", "--json", false), ("", "--json-body", true), ("\"a\"", "--json-body", false),
  ])
  func `data that is not JSON is sent, and a note says so`(
    _ data: String, _ flag: String, _ isNoted: Bool
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try formstream("post", flag, data, server.url)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(
      result.stderr.contains("The data of \(flag) is not JSON") == isNoted, "\(result.stderr)")
    #expect(server.requests.first?.body == Array(data.utf8))
    #expect(try formstream("post", "-q", flag, data, server.url).stderr == "")
  }
}
