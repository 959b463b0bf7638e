import FormStreamMultipart
import FormStreamTestSupport
import Glibc
import Testing

/// Where `formstream receive` listens, and where it stores files.
@Suite struct ReceivePlaceTests {
  @Test(
    arguments: [
      ("0", "http://127.0.0.1:"), (":0", "http://localhost:"), ("127.0.0.1:0", "http://127.0.0.1:"),
      ("127.0.0.2:0", "http://127.0.0.2:"), ("[::1]:0", "http://[::1]:"),
      ("localhost:0", "http://localhost:"),
      ("0.0.0.0:0", "http://localhost:"), ("[::]:0", "http://localhost:"),
    ].filter { hasIPv6 || $0.0 != "[::1]:0" })
  func `it listens at the given address, and its URL can be reached`(
    _ place: String, _ url: String
  ) throws {
    let receiver = try Receiving("--listen", place)
    #expect(receiver.url.hasPrefix(url), "\(receiver.url)")
    let result = try receiver.post("-F", "a=b")
    #expect(result.exit == 0, "\(result.stderr)")
    let isOpenToAll = [":0", "0.0.0.0:0", "[::]:0"].contains(place)
    #expect(
      try receiver.end().stderr.contains("Everyone who can reach this machine") == isOpenToAll)
  }

  @Test func `all addresses are those of IPv4 and IPv6`() throws {
    let receiver = try Receiving("--listen", ":0")
    for host in ["127.0.0.1"] + (hasIPv6 ? ["[::1]"] : []) {
      let result = try formstream("post", "-d", "a=b", "http://\(host):\(receiver.port)/")
      #expect(result.exit == 0, "\(result.stderr)")
    }
  }

  static let bad: [BadInput] = [
    BadInput(64, "names no port", "receive", "--listen", ""),
    BadInput(64, "names no port", "receive", "--listen", "localhost"),
    BadInput(64, "names no port", "receive", "--listen", "127.0.0.1"),
    BadInput(64, "names no port", "receive", "--listen", "127.0.0.1:"),
    BadInput(64, "a port is at most 65535", "receive", "--listen", "127.0.0.1:65536"),
    BadInput(64, "names no port", "receive", "--listen", "127.0.0.1:-0"),
    BadInput(64, "names no port", "receive", "--listen", "+80"),
    BadInput(64, "names no port", "receive", "--listen", "[::1]"),
    BadInput(64, "has no numeric address", "receive", "--listen", "::1:8080"),
    BadInput(64, "has no numeric address", "receive", "--listen", "[::1:8080"),
    BadInput(64, "has no numeric address", "receive", "--listen", "[127.0.0.1]:8080"),
    BadInput(64, "has no numeric address", "receive", "--listen", "example.org:8080"),
    BadInput(64, "has no numeric address", "receive", "--listen", "http://127.0.0.1:8080"),
    BadInput(64, "needs a value: --listen ADDR:PORT", "receive", "--listen"),
    BadInput(74, "Can't listen on", "receive", "--listen", "192.0.2.1:0"),
    BadInput(64, "needs the name of a directory", "receive", "--into", ""),
    BadInput(64, "need --into DIR", "receive", "--keep-paths"),
    BadInput(64, "need --into DIR", "receive", "--overwrite"),
    BadInput(64, "need --into DIR", "receive", "--sync"),
    BadInput(74, "needs a directory, and this is a file", "receive", "--into", "/dev/null"),
    BadInput(74, "its parent does not exist", "receive", "--into", "no/such"),
    BadInput(64, "need each other", "receive", "--tls-cert", "x"),
    BadInput(64, "need each other", "receive", "--tls-key", "x"),
    BadInput(66, "of --tls-cert can't be read", "receive", "--tls-cert", "x", "--tls-key", "y"),
    BadInput(66, "of --token-file (argument 3) can't be read", "receive", "--token-file", "x"),
    BadInput(64, "--max-body (argument 3) is not a size", "receive", "--max-body", "much"),
    BadInput(64, "--max-body (argument 3) is not a size", "receive", "--max-body", "-1"),
    BadInput(64, "--min-rate (argument 3) is not a rate", "receive", "--min-rate", "0.5"),
    BadInput(64, "is not a rate", "receive", "--min-rate", "9000000T"),
    // Without the refusal, these would go on and fail to listen.
    BadInput(
      64, "--head-time (argument 3) is too short: the least is 0.1 seconds.", "receive",
      "--head-time", "0.0001", "--listen", "192.0.2.1:0"),
    BadInput(
      64, "--response-time (argument 3) is too short", "receive", "--response-time", "0.09",
      "--listen", "192.0.2.1:0"),
    BadInput(64, "is too short", "receive", "--head-time", "0"),
    BadInput(74, "Can't listen on", "receive", "--head-time", "0.1", "--listen", "192.0.2.1:0"),
    BadInput(64, "--answer (argument 3) is not the status", "receive", "--answer", "199"),
    BadInput(64, "write a number from 200 to 599", "receive", "--answer", "600"),
    BadInput(64, "write a number from 200 to 599", "receive", "--answer", "+200"),
    BadInput(64, "write a number from 200 to 599", "receive", "--answer", ""),
    BadInput(64, "--delay (argument 3) is not a time", "receive", "--delay", "soon"),
    BadInput(64, "--delay (argument 3) is not a time", "receive", "--delay", "-1"),
    BadInput(64, "--answer STATUS", "receive", "--status", "503"),
    BadInput(64, "--delay S", "receive", "--latency", "3"),
    BadInput(64, "Did you mean parts?", "receive", "--limit", "part=1"),
    BadInput(64, "is not a flag of \"receive\"", "receive", "--retry", "1"),
    BadInput(64, "is not a flag of \"post\"", "post", "--once", "http://h/"),
    BadInput(64, "--into DIR names the directory", "receive", "kept"),
    BadInput(64, "--listen ADDR:PORT sets", "receive", ":8080"),
    BadInput(64, "--listen ADDR:PORT", "receive", "--port", "8080"),
    BadInput(64, "--listen ADDR:PORT", "receive", "--host=::"),
    BadInput(64, "--listen ADDR:PORT", "receive", "-p", "8080"),
    BadInput(64, "--into DIR", "receive", "--directory", "x"),
    BadInput(64, "-o is not a flag of \"receive\": --into DIR", "receive", "-o", "x"),
    BadInput(64, "-d is not a flag of \"receive\": --into DIR", "receive", "-d", "x"),
    BadInput(64, "--max-body N", "receive", "--max-size", "1M"),
    BadInput(64, "--token-file FILE", "receive", "--token", "canary"),
    BadInput(64, "--tls-cert FILE", "receive", "--cert", "x"),
    BadInput(64, "--tls-key FILE", "receive", "--key", "x"),
    BadInput(
      64, #"-z is not a flag of "receive"; see "formstream receive --help""#, "receive", "-z"),
    BadInput(64, "see \"formstream receive --help\"", "receive", "--nonsensical"),
    BadInput(64, "-F is not a flag of \"receive\"; see", "receive", "-F", "a=b"),
    BadInput(64, "takes no value", "receive", "--once=yes"),
  ]

  @Test(arguments: bad)
  func `an error ends with its exit code and one sentence`(_ bad: BadInput) throws {
    let result = try run("formstream", bad.arguments)
    #expect(result.exit == bad.exit, "\(result.stderr)")
    #expect(result.stderr.contains(bad.says), "\(result.stderr)")
    #expect(result.stderr.hasPrefix("formstream: "))
    #expect(result.stderr.split(separator: "\n").count == 1, "one sentence: \(result.stderr)")
    #expect(result.stdout.isEmpty, "\(result.output)")
  }

  /// The command line is right, and may work at another time, so this is not 64.
  @Test func `a port that is taken ends with 74`() throws {
    let receiver = try Receiving()
    let result = try formstream("receive", "--json", "--listen", "\(receiver.port)")
    #expect((result.exit, result.output) == (74, ""))
    #expect(
      result.stderr
        == "formstream: Can't listen on 127.0.0.1:\(receiver.port): Address already in use. Choose another "
        + "address or port; port 0 means any free port.\n")
  }

  @Test func `a directory is made if it does not exist`() throws {
    let place = try TemporaryDirectory()
    try makeDirectory(place.local("there"))
    try place.write("there/old", "old")
    for name in ["there", "new", "there/new"] {
      let receiver = try Receiving("--into", name, in: place)
      #expect(try receiver.post("-F", "f=x;filename=old").exit == 0)
      try receiver.end()
    }
    #expect(
      try shell("find . -type f | LC_ALL=C sort", in: place).output
        == "./new/old\n./there/new/old\n./there/old\n./there/old-2\n")
  }

  @Test func `a directory need not be UTF-8`() throws {
    let arguments =
      ["receive", "--json", "--listen", "0", "--into"].map { Array($0.utf8) } + [[0x61, 0xFF]]
    let receiver = try Receiving(program: builtBinary("formstream"), arguments, in: nil)
    #expect(
      receiver.listening.hasSuffix("\"directory\":\"a\u{FFFD}\",\"directory_b64\":\"Yf8=\"}"),
      "\(receiver.listening)")
    #expect(try receiver.post("-F", "f=x;filename=n").exit == 0)
    #expect(try receiver.shell("cat $'a\\xff/n'").output == "x")
  }

  /// Something else takes the place of the directory while it is used. (Permissions don't stop root.)
  @Test
  func
    `the response to a storage error is a 500, and only the receiver's messages name the reason`()
    throws
  {
    let receiver = try Receiving("--into", "kept")
    let result = try receiver.shell(
      "rmdir kept; touch kept; \(curl) -F f=@/dev/null $U; grep -c 'the receiver.s log says why' answer; grep -c '\"kept' answer"
    )
    #expect(result.output == "500\n1\n0\n")
    #expect(try receiver.record().contains(#""code":"handling-failed""#))
    let end = try receiver.end()
    #expect(
      end.stderr.contains("A file in the directory \"kept\" could not be made"), "\(end.stderr)")
  }

  @Test func `a directory that was replaced is named as the reason`() throws {
    let receiver = try Receiving("--into", "kept")
    #expect(
      try receiver.shell("rmdir kept; mkdir kept; \(curl) -F f=@/dev/null $U").output == "500\n")
    let end = try receiver.end()
    #expect(
      end.stderr.contains(
        "The directory was removed or moved, and another one is at its path: start this program again"
      ),
      "\(end.stderr)")
    #expect(!end.stderr.contains("Check that the directory exists"))
  }

  @Test(.enabled(if: !isSuperuser))
  func `if the directory can't be written to, the response is a 500`() throws {
    let place = try TemporaryDirectory()
    try makeDirectory(place.local("kept"))
    setPermissions(place.local("kept"), 0o500)
    let receiver = try Receiving("--into", "kept", in: place)
    #expect(try receiver.shell("\(curl) -F f=@/dev/null $U").output == "500\n")
  }
}
