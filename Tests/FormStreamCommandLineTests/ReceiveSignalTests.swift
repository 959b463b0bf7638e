import Glibc
import FormStreamTestSupport
import Testing

/// How `formstream receive` ends: uploads in progress can finish, and no half-stored file is left.
@Suite struct ReceiveSignalTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `uploads in progress are finished and stored, and no new ones are accepted`(
    _ signal: Int32
  ) throws {
    let receiver = try Receiving("--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    // An idle connection must not delay the end.
    let idle = try RawClient.uploading(to: receiver, "/rest", size: 0, sent: 0)
    #expect(try receiver.record().contains(#""complete":true"#))
    receiver.signal(signal)
    try receiver.waitUntilClosed()
    try held.send("0123456789")
    #expect(try held.response().hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(try idle.response().contains("}\nHTTP/1.1 503 "))
    let end = try receiver.wait()
    // SIGTERM is how a service manager ends a server; after the others, a loop of the shell must end, too.
    #expect(signal == SIGTERM ? end.exit == 0 : end.signal == signal, "\(end.stderr)")
    #expect(end.output.contains(#""stored_as":"held""#), "\(end.output)")
    #expect(try receiver.shell("cat kept/held").output == "xxxxxxxxxx0123456789")
    #expect(try receiver.names(in: "kept") == ["held", "rest"])
  }

  /// This takes ten seconds.
  @Test func `a client that stops sending is cut off after the grace period, and reported`() throws {
    let receiver = try Receiving("--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    let end = try receiver.end()
    #expect(end.exit == 0, "\(end.stderr)")
    #expect(end.output.contains(#""complete":false"#), "\(end.output)")
    #expect(end.output.contains(#""code":"stopping""#), "\(end.output)")
    #expect(try !held.response().contains(" 200 "))
    #expect(try receiver.names(in: "kept") == [])
  }

  /// Regression: half-stored files were left.
  @Test(arguments: [SIGINT, SIGTERM])
  func `a second signal cuts off at once, and leaves no half-stored file`(_ second: Int32) throws {
    let receiver = try Receiving("--into", "kept")
    let held = try (0..<5).map {
      try RawClient.uploading(to: receiver, "/\($0)", size: 20, sent: $0 * 4 + 1)
    }
    try receiver.wait(for: 5, in: "kept")
    receiver.signal(SIGINT)
    try receiver.waitUntilClosed()
    receiver.signal(second)
    let end = try receiver.wait()
    #expect(end.signal == SIGINT, "\(end.stderr)")
    #expect(
      end.output.split(separator: "\n").count { $0.contains("\"content_length\":20,") } == 5,
      "\(end.output)")
    #expect(try held.allSatisfy { try !$0.response().contains(" 200 ") })
    #expect(try receiver.names(in: "kept") == [])
  }

  @Test func `with --once, SIGTERM is no success before an upload was accepted`() throws {
    let end = try Receiving("--once").end()
    #expect(end.signal == SIGTERM, "\(end.stderr)")
  }

  /// Regression: the upload was stored and answered with 200, and the end was that of the signal.
  @Test func `with --once, an upload that is accepted after SIGTERM makes it a success`() throws {
    let receiver = try Receiving("--once", "--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    receiver.signal(SIGTERM)
    try receiver.waitUntilClosed()
    try held.send("0123456789")
    #expect(try held.response().hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(try receiver.wait().exit == 0)
    #expect(try receiver.names(in: "kept") == ["held"])
  }

  /// Regression: clients were judged by the clock, before what they had sent was read.
  @Test func `after a pause of the receiver, what arrived meanwhile is accepted`() throws {
    let receiver = try Receiving("--head-time", "12", "--into", "kept")
    let clients = try (0..<20).map { _ in try RawClient(.ip("127.0.0.1", port: receiver.port)) }
    for (number, client) in clients.enumerated() {
      try client.send("PUT /\(number) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n")
    }
    receiver.signal(SIGSTOP)
    for client in clients { try client.send("Content-Length: 1\r\n\r\nx") }
    // Longer than the limit.
    _ = clients.last?.canReceive(within: .seconds(14))
    receiver.signal(SIGCONT)
    for client in clients {
      #expect((try? client.response())?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
    }
    #expect(try receiver.names(in: "kept").count == clients.count)
  }

  @Test func `after a second SIGTERM, the end is no success`() throws {
    let receiver = try Receiving("--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    receiver.signal(SIGTERM)
    try receiver.waitUntilClosed()
    let end = try receiver.end()
    #expect(end.signal == SIGTERM, "\(end.stderr)")
    #expect(try !held.response().contains(" 200 "))
  }

  @Test(arguments: [SIGQUIT, SIGKILL])
  func `a receiver that is killed, or told to quit twice, leaves no file of an upload`(
    _ signal: Int32
  ) throws {
    let receiver = try Receiving("--into", "kept")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    receiver.signal(signal)
    if signal == SIGQUIT {
      try receiver.waitUntilClosed()
      receiver.signal(signal)
    }
    _ = try? receiver.wait()
    #expect(try !held.response().contains(" 200 "))
    #expect(try receiver.names(in: "kept") == [])
  }

  @Test func `ignored signals stay ignored`() throws {
    let receiver = try Receiving(
      shell: "bash -c \"trap '' INT; exec $F receive --json --listen 0\"")
    receiver.signal(SIGINT)
    #expect(try receiver.post("-d", "a=b").exit == 0)
    #expect(try receiver.end().exit == 0)
  }
}
