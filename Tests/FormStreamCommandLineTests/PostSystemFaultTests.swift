import FormStreamTestSupport
import Testing

/// `formstream post` if a single system call fails: strace injects the failures.
@Suite struct PostSystemFaultTests {
  /// A system call, its error, and which of its calls fail.
  private static let faults: [(call: String, error: String, numbers: [Int])] = [
    ("clone3", "EAGAIN", [1, 2, 3]),
    ("read", "EIO", [20]),
    ("pread64", "EIO", [1, 2, 3]),
    ("openat", "EMFILE", [45, 50, 52]),
    ("socket", "EMFILE", [1, 2]),
    ("connect", "ENETUNREACH", [1]),
    ("sendto", "ECONNRESET", [1, 2, 3]),
    ("recvfrom", "ECONNRESET", [1, 2]),
    ("poll", "ENOMEM", [1, 3]),
    ("write", "EIO", [1]),
  ]

  @Test(arguments: faults.map(\.call))
  func `a failed system call never causes a false success, a crash or a hang`(call: String) throws {
    let fault = try #require(Self.faults.first { $0.call == call })
    let place = try TemporaryDirectory()
    try place.write("f.bin", noise(700_000))
    let server = try ScriptedServer { _ in .good(body: "thanks") }
    let arguments = ["post", "--boundary", "B", "--file", "f=f.bin", "--type", "a/b"]
    let well = try run("formstream", arguments + ["\(server.url)/well"], in: place)
    #expect(well.exit == 0, "\(well.stderr)")
    let body = try #require(server.requests.first?.body)
    for number in fault.numbers {
      let target = "/\(call)-\(number)"
      let result = try run(
        program: "/usr/bin/strace",
        [
          "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=\(call)", "-e",
          "inject=\(call):error=\(fault.error):when=\(number)", builtBinary("formstream"),
        ] + arguments + [server.url + target], in: place, environment: underStrace)
      #expect(result.signal == nil, "\(target): \(result.stderr)")
      if result.exit == 0 {
        let got = server.requests.filter { $0.target == target }
        #expect(got.count == 1, "\(target)")
        #expect(got.first?.body == body, "\(target)")
        #expect(result.output == "thanks", "\(target): \(result.stderr)")
      }
    }
    #expect(server.waitForEnds())
    #expect(server.faults(except: .cutShort).isEmpty)
  }

  /// libcurl keeps the first message of a transfer. It said that the server's address could not be asked for, and the reset that followed
  /// was taken for a lack of encryption.
  @Test func `a reset that came before libcurl asked for the server's address is a reset`() throws {
    var options = ScriptedServer.Options()
    // The server only ends its stream: a reset could come before the connection is made. strace says the rest, as after a reset.
    options.onConnect = { _ in [.closeWrite, .finish] }
    let server = try ScriptedServer(options) { _ in [.unexpected] }
    let url = "https://127.0.0.1:\(server.port)/"
    let result = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=getpeername", "-e",
        "inject=getpeername:error=ENOTCONN", builtBinary("formstream"), "post", "--data", "x", url,
      ], environment: underStrace)
    #expect(result.exit == 75, "\(result.stderr)")
    #expect(result.stderr.contains("reset"), "\(result.stderr)")
  }
}
