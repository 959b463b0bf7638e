import FormStreamTestSupport
import Testing

/// Flags of `receive`: each one in the help is run here and must have its effect.
@Suite struct ReceiveFlagTests {
  private struct Effect {
    let flags: [String]
    /// A line of shell that is run against the receiver.
    let line: String
    /// What the first line of output, the shell's output or the messages contain because of the flag; with `!` before
    /// it, what they don't contain.
    let expected: String
  }

  private static let effects: [String: Effect] = [
    "listen": Effect(flags: ["--listen", "127.0.0.2:0"], line: "", expected: "http://127.0.0.2:"),
    "once": Effect(
      flags: ["--once"],
      line:
        "$F post -d a=b $U > first; for i in {1..500}; do curl -s $U > page || break; sleep 0.01; done; echo runs $i",
      expected: "!runs 500"),
    "tls-cert": Effect(
      flags: ["--tls-cert", "cert", "--tls-key", "key"], line: "", expected: "https://127.0.0.1:"),
    "tls-key": Effect(
      flags: ["--tls-cert", "cert", "--tls-key", "key"], line: "", expected: "https://127.0.0.1:"),
    "max-body": Effect(flags: ["--max-body", "3"], line: "\(curl) -d a=bc $U", expected: "413"),
    "limit": Effect(
      flags: ["--limit", "parts=1"], line: "\(curl) -F a=b -F c=d $U", expected: "413"),
    "token-file": Effect(
      flags: ["--token-file", "token"], line: "\(curl) -d a=b $U", expected: "401"),
    "connections": Effect(
      flags: ["--connections", "1"],
      // The idle connection makes room.
      line:
        "exec 3<> /dev/tcp/127.0.0.1/${U##*:}; curl -sS -m 60 -d a=b $U; cat <&3; echo made room",
      expected: "made room"),
    "connections-per-address": Effect(
      flags: ["--connections-per-address", "1", "--min-rate", "0"],
      line:
        "exec 3<> /dev/tcp/127.0.0.1/${U##*:}; "
        + "printf 'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\n\\r\\n' >&3; "
        + "until curl -s $U | grep -q overloaded; do sleep 0.01; done; echo one is enough",
      expected: "one is enough"),
    // A connection that sends nothing is closed.
    "head-time": Effect(
      flags: ["--head-time", "0.1"],
      line: "exec 3<> /dev/tcp/127.0.0.1/${U##*:}; cat <&3; echo closed", expected: "closed"),
    // So is one that doesn't read: 2000 pages don't fit into the buffers of two sockets.
    "response-time": Effect(
      flags: ["--response-time", "0.1"],
      line: "exec 3<> /dev/tcp/127.0.0.1/${U##*:}; trap '' PIPE; "
        + "yes $'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r' >&3 2> /dev/null; echo closed",
      expected: "closed"),
    "into": Effect(
      flags: ["--into", "kept"], line: "$F post -F 'f=x;filename=n' $U > r; cat kept/n; echo !",
      expected: "x!"),
    "keep-paths": Effect(
      flags: ["--into", "kept", "--keep-paths"], line: "$F post -F 'f=x;filename=a/b' $U",
      expected: "\"stored_as\":\"a/b\""),
    "overwrite": Effect(
      flags: ["--into", "kept", "--overwrite"],
      line: "for i in 1 2; do $F post -F \"f=$i;filename=n\" $U > r; done; grep -H . kept/*",
      expected: "kept/n:2\n"),
    // Traced here; in `ReceiveSyncTests`, the order of all calls is.
    "sync": Effect(
      flags: ["--into", "kept", "--sync"], line: "$F post -F 'f=x;filename=n' $U",
      expected: "\"stored_as\":\"n\""),
    // What becomes of resumable uploads is tested in `ReceiveResumableTests`.
    "no-resumable": Effect(
      flags: ["--into", "kept", "--no-resumable"], line: "\(curl) -X OPTIONS $U", expected: "405"),
    "max-store": Effect(
      flags: ["--into", "kept", "--max-store", "3M"], line: "curl -sSi -X OPTIONS $U",
      expected: "max-size=3145728,"),
    "upload-age": Effect(
      flags: ["--into", "kept", "--upload-age", "90"], line: "curl -sSi -X OPTIONS $U",
      expected: "max-age=90"),
    "no-digest": Effect(
      flags: ["--no-digest"], line: "$F post -F a=b $U", expected: "\"sha256\":null"),
    "answer": Effect(
      flags: ["--answer", "418"], line: "\(curl) -d a=b $U", expected: "418"),
    // How long it waits, and that it ends early, is tested in `ReceiveAnswerTests`.
    "delay": Effect(
      flags: ["--delay", "0.1"], line: "\(curl) -d a=b $U", expected: "200"),
    "verbose": Effect(
      flags: ["-v"], line: "\(curl) -d a=b $U", expected: " > POST / HTTP/1.1\n"),
    "escaping": Effect(
      flags: ["--escaping", "browser"], line: "$F post --field 'a\"=b' $U",
      expected: #""name":"a\"""#),
    "json": Effect(
      flags: ["--json"], line: "", expected: "{\"schema\":\"formstream.listening/1\","),
    "quiet": Effect(flags: ["-q"], line: "", expected: "!Listening at"),
  ]

  /// The effect of `--min-rate` takes a minute; the receiver's own tests measure it.
  @Test func `every flag in the help is run here`() throws {
    #expect(try flags(inHelpOf: "receive").subtracting(["min-rate"]) == Set(Self.effects.keys))
  }

  @Test(arguments: effects.keys.sorted())
  func `each flag has its effect`(_ flag: String) throws {
    let effect = try #require(Self.effects[flag])
    let place = try TemporaryDirectory()
    let made = try TestCertificates()
    try place.write("token", "t\n")
    _ = try shell("cp '\(made.server.certificate)' cert; cp '\(made.server.key)' key", in: place)
    let receiver = try Receiving(effect.flags, in: place)
    let result = try receiver.shell(effect.line)
    let end = try receiver.end()
    let seen = [receiver.listening, result.output, end.output, end.stderr].joined(separator: "\n")
    if effect.expected.hasPrefix("!") {
      #expect(!seen.contains(effect.expected.dropFirst()), "\(seen)")
    } else {
      #expect(seen.contains(effect.expected), "\(seen)")
    }
  }
}
