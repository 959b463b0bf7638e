import FormStreamTestSupport
import Glibc
import Testing

/// Bodies from pipes, for servers that take only bodies whose length is announced.
@Suite struct PostFramingTests {
  /// Writes a file in pieces, each only when the one before was read: the reader finds the pipe empty before each.
  private static let slowWriter = """
    import fcntl, os, sys, termios, time
    contents = open(sys.argv[1], "rb").read()
    for place in range(0, len(contents), 10_000):
        while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):
            time.sleep(0.0005)
        os.write(1, contents[place:place + 10_000])

    """

  /// Ways to give the bytes of `file` to the command. Each writes many small pieces, or one.
  private static let pipes = [
    "$F FLAGS -T - URL < <(cat file)",
    "mkfifo pipe; cat file > pipe & $F FLAGS -T pipe URL; wait",
    "cat file | $F FLAGS -T - URL",
    "cat file | $F FLAGS --data-binary @- URL",
    "python3 slow.py file | $F FLAGS -T - URL",
    "mkfifo pipe; dd if=file of=pipe bs=1000 2> none & $F FLAGS --json-body @pipe URL; wait",
  ]

  private func expectArrival(
    _ line: String, at url: String, size: Int, _ flags: String = ""
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("file", noise(size))
    try place.write("slow.py", Self.slowWriter)
    let command = line.replacing("FLAGS", with: "post \(flags)").replacing("URL", with: url)
    let result = try shell("sha256sum < file | cut -d' ' -f1; \(command)", in: place)
    let digests = result.output.split(separator: "\n")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(digests.count == 2 && digests[0] == digests[1], "\(line): \(result.output)")
  }

  /// Such a server saw no byte of them.
  @Test(arguments: LengthOnlyServer.Kind.allCases)
  func `small bodies from pipes arrive at servers that know only lengths`(
    kind: LengthOnlyServer.Kind
  ) throws {
    let server = try LengthOnlyServer(kind)
    for line in Self.pipes { try expectArrival(line, at: server.url, size: 20_000) }
    try expectArrival(Self.pipes[0], at: server.url, size: 1 << 20)
    try expectArrival(Self.pipes[1], at: server.url, size: 0)
    let words = try shell(
      """
      echo '{"a":1}' | $F post --json-body @- \(server.url)
      $F post --json-body @- \(server.url) <<END
      {"a":1}
      END
      echo '{"a":1}' | sha256sum | cut -d' ' -f1
      """
    ).output.split(separator: "\n")
    #expect(words.count == 3 && Set(words).count == 1, "\(words)")
  }

  @Test(arguments: LengthOnlyServer.Kind.allCases)
  func `two megabytes from a pipe arrive if they are stored, or read further ahead`(
    kind: LengthOnlyServer.Kind
  ) throws {
    let server = try LengthOnlyServer(kind)
    for line in Self.pipes {
      try expectArrival(line, at: server.url, size: 2 << 20, "--spool")
    }
    try expectArrival(Self.pipes[3], at: server.url, size: 2 << 20, "--read-ahead 2M")
    // Without that it can't be known what arrived.
    let lost = try shell("head -c 2M /dev/zero | $F post -T - \(server.url)")
    #expect(lost.exit == 3, "\(lost.stderr)")
    #expect(lost.stderr.contains("--spool"), "\(lost.stderr)")
  }

  @Test(arguments: [true, false])
  func `they arrive behind nginx, whether it buffers requests or not`(_ buffers: Bool) throws {
    let server = try LengthOnlyServer(.wsgi)
    var options = RealServer.Options()
    options.buffersRequests = buffers
    let nginx = try RealServer(.nginx, to: server.port, nil, options)
    for line in Self.pipes {
      try expectArrival(line, at: nginx.url, size: 20_000)
      try expectArrival(line, at: nginx.url, size: 2 << 20, "--spool")
    }
    // nginx finds out the length itself.
    if buffers { try expectArrival(Self.pipes[2], at: nginx.url, size: 2 << 20) }
  }

  @Test func `a form with a part from a pipe has a length, and no Expect`() throws {
    let server = try ScriptedServer(requests: [.good(503), .good(), .good()])
    let result = try formstream(
      "post", "--boundary", "B", "--retry", "1", "-F", "f=@-;filename=x;type=a/b", server.url,
      standardInput: noise(300_000))
    #expect(result.exit == 0, "\(result.stderr)")
    let sent = server.requests
    #expect(sent.count == 2 && sent[0].body == sent[1].body)
    #expect(sent[0].header("Content-Length") == "\(sent[0].body.count)")
    #expect(sent[0].header("Expect") == nil)
    // What is longer goes out in chunks, as before.
    let long = try formstream(
      "post", "--read-ahead", "100K", "-T", "-", server.url, standardInput: noise(300_000))
    #expect(long.exit == 0, "\(long.stderr)")
    #expect(server.requests[2].framing == .chunked)
    #expect(server.requests[2].body == noise(300_000))
    #expect(server.faults == [])
  }

  @Test(arguments: [411, 501])
  func `a refusal of chunks names the flag, and with it the body is accepted`(
    _ status: Int
  ) throws {
    let server = try ScriptedServer { request in
      request.framing == .chunked ? [.respond(status), .skipBody] : .good()
    }
    let refused = try formstream(
      "post", "--read-ahead", "0", "-T", "-", server.url, standardInput: noise(1000))
    #expect(refused.exit == 1)
    #expect(refused.stderr.contains("(--spool)"), "\(refused.stderr)")
    let taken = try formstream(
      "post", "--read-ahead", "0", "--spool", "-T", "-", server.url, standardInput: noise(1000))
    #expect(taken.exit == 0, "\(taken.stderr)")
    #expect(server.requests.last?.body == noise(1000))
    // A compressed file can be read again.
    let again = try shell(
      "head -c 5000000 /dev/urandom > f; $F post --compressed-upload gzip -T f \(server.url)")
    #expect(again.exit == 0, "\(again.stderr)")
    #expect(server.requests.suffix(2).map { $0.framing == .chunked } == [true, false])
  }

  /// The thread sanitizer makes a file of its own in TMPDIR, and its program crashes if there is no room.
  @Test(.enabled(if: SmallDisk.isAllowed && sanitizer != "thread"))
  func `a full disk is named, and nothing is sent`() throws {
    let server = try ScriptedServer(requests: [])
    try SmallDisk.mounted(size: "64k", files: 10) { disk in
      for (directory, words) in [("\(disk)", "free some space"), ("/nosuch", "TMPDIR")] {
        let result = try run(
          "formstream", ["post", "--read-ahead", "0", "--spool", "-T", "-", server.url],
          standardInput: noise(200_000), environment: ["TMPDIR": directory])
        #expect(result.exit == 74)
        #expect(result.stderr.contains(words), "\(result.stderr)")
      }
    }
    #expect(server.faults == [])
  }

  @Test(arguments: [SIGINT, SIGTERM], ["", "--spool"])
  func `a signal ends the reading of a silent pipe`(_ signal: Int32, _ flag: String) throws {
    let server = try ScriptedServer(requests: [])
    let result = try shell(
      """
      set -m
      mkfifo pipe; exec 3<> pipe; echo beginning >&3
      $F post --progress json --json \(flag) -T pipe \(server.url) > out 2> result & pid=$!
      until grep -q '"phase":"reading","read":10,' result; do sleep 0.01; done
      kill -\(signal) $pid; wait $pid; echo $?
      grep -c '"outcome":"cancelled"' out
      """)
    #expect(result.output == "\(128 + signal)\n1\n", "\(result.output) \(result.stderr)")
  }

  @Test(arguments: ["", "--spool"])
  func `a time limit ends the reading of a silent pipe`(_ flag: String) throws {
    let server = try ScriptedServer(requests: [])
    let result = try shell(
      "mkfifo pipe; exec 3<> pipe; $F post --max-time 0.2 \(flag) -T pipe \(server.url)")
    #expect(result.exit == 75)
    #expect(result.stderr.contains("nothing was sent"), "\(result.stderr)")
    #expect(result.stderr.contains("--max-time"), "\(result.stderr)")
  }
}

/// Files that grow while they are sent.
@Suite struct PostGrowingTests {
  private static let size = 20_000_000

  /// Sends `log`, to which bytes are added while it is sent.
  private func post(_ flags: String...) throws -> (Invocation, RecordedRequest?) {
    let place = try TemporaryDirectory()
    let path = try place.sparse("log", size: Int64(Self.size))
    let server = try ScriptedServer { _ in
      [
        .continueIfExpected, .readBody(upTo: 100_000),
        .call { try? FileChange.grow.apply(to: path, size: Self.size) },
        .readBody, .respond(200),
      ]
    }
    let result = try run("formstream", ["post"] + flags + [server.url], in: place)
    return (result, server.requests.first)
  }

  @Test func `growing is an error, unless it is allowed`() throws {
    let refused = try post("-T", "log")
    #expect(refused.0.exit == 74)
    // That it grew, or that it was written to: the system changes a file's times before its size.
    #expect(
      refused.0.stderr.contains("has changed since the body was laid out"), "\(refused.0.stderr)")
    for flags in ["--growing", "--verify-growing"] {
      let (result, request) = try post(flags, "-T", "log")
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(request?.bodyCount == Self.size)
      #expect(request?.header("Content-Length") == "\(Self.size)")
    }
    let (form, _) = try post("--growing", "-F", "f=@log;type=a/b")
    #expect(form.exit == 0, "\(form.stderr)")
  }

  @Test func `a range with a length is not changed by growing`() throws {
    let (fixed, request) = try post("--file", "f=log", "--type", "a/b", "--range", "0:20000000")
    #expect(fixed.exit == 0, "\(fixed.stderr)")
    #expect(request?.hasCompleteBody == true)
    let (open, _) = try post("--file", "f=log", "--type", "a/b", "--range", "0:")
    #expect(open.exit == 74)
  }

  @Test(arguments: ["send", "plan"])
  func `commands that know files by their size say so`(_ verb: String) throws {
    let result = try formstream(verb, "--growing", "http://h.example", "f")
    #expect(result.exit == 64)
    #expect(result.stderr.contains("know files by their size and time"), "\(result.stderr)")
  }
}
