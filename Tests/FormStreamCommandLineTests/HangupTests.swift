import FormStreamTestSupport
import Testing

/// SIGHUP, which comes when the terminal is closed or the connection to it breaks, ends commands in an orderly way, as SIGTERM
/// does. A terminal may cause several: one by the system, and one by the shell.
@Suite struct HangupTests {
  /// Waits until a signal is sent and has been taken, three times.
  private static let hangups = """
    for n in 1 2 3; do kill -HUP $pid; while grep -q 'ShdPnd:.*1$' /proc/$pid/status; do sleep 0.01; done; done 2> none

    """

  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir in; echo a > in/f1; echo b > in/f2", in: place)
    return place
  }

  /// Responds to uploads only after `/go` was requested.
  private static func server(in place: TemporaryDirectory) throws -> ScriptedServer {
    let go = try Gate()
    let reached = place.path("reached")
    return try ScriptedServer { request in
      request.target == "/go"
        ? [.readBody, .open(go), .respond(200)]
        : [
          .readBody, .call { _ = try? shell("touch '\(reached)'") }, .waitFor(go),
          .respond(200, body: "done"),
        ]
    }
  }

  /// Regression: the process died without a summary, and its journal said that the file may have been accepted.
  @Test func `send finishes the requests that are on their way, and says what is left`() throws {
    let place = try Self.place()
    let server = try Self.server(in: place)
    let result = try shell(
      """
      $F send -j 1 --journal j '\(server.url)/up' in 2> err & pid=$!
      until [ -e reached ]; do sleep 0.01; done
      \(Self.hangups)$F post -q -d a '\(server.url)/go'; wait $pid; echo $?; cat err
      """, in: place)
    #expect(result.output.hasPrefix("129\n"), "\(result.output)")
    #expect(result.output.contains("2 files: 1 ok, 1 not begun"), "\(result.output)")
    let next = try formstream("send", "-q", "--journal", "j", "\(server.url)/up", "in", in: place)
    #expect(next.exit == 0, "\(next.stderr)")
    #expect(server.requests.filter { $0.target == "/up" }.count == 2)
  }

  @Test(arguments: ["post -d a", "get -o answer", "put -d a"])
  func `a request is cancelled, and its record says what is known`(_ words: String) throws {
    let place = try TemporaryDirectory()
    let server = try Self.server(in: place)
    let result = try shell(
      """
      $F \(words) --json '\(server.url)/up' > out 2> err & pid=$!
      until [ -e reached ]; do sleep 0.01; done
      kill -HUP $pid; wait $pid; echo $?; cat out; ls answer* 2> none
      """, in: place)
    #expect(result.output.hasPrefix("129\n{"), "\(result.output)")
    #expect(result.output.contains("\"code\":\"cancelled\""), "\(result.output)")
    #expect(!result.output.contains("\nanswer\n"), "\(result.output)")
  }

  /// `nohup` ignores the signal.
  @Test(arguments: ["send -q -j 1 URL/up in", "post -q -o out -d a URL/up"])
  func `a hangup that is ignored ends nothing`(_ line: String) throws {
    let place = try Self.place()
    let server = try Self.server(in: place)
    let result = try shell(
      """
      trap '' HUP
      $F \(line.replacing("URL", with: server.url)) & pid=$!
      until [ -e reached ]; do sleep 0.01; done
      \(Self.hangups)$F post -q -d a '\(server.url)/go'; wait $pid; echo $?
      """, in: place)
    #expect(result.output == "0\n", "\(result.output) \(result.stderr)")
  }

  /// A shell sends one, too, so the second is no wish to end at once.
  @Test func `a second hangup cuts off no upload of a receiver`() throws {
    let receiver = try Receiving("--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    receiver.signal(1)
    try receiver.waitUntilClosed()
    receiver.signal(1)
    try held.send("0123456789")
    #expect(try held.response().hasPrefix("HTTP/1.1 200 OK\r\n"))
    let end = try receiver.wait()
    #expect(end.signal == 1, "\(end.stderr)")
    #expect(try receiver.names(in: "kept") == ["held"])
  }
}
