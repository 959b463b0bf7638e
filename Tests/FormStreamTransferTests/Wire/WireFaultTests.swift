import FormStream
import Synchronization
import FormStreamTestSupport
import Testing

/// The scripted server records everything that no client should send.
@Suite struct WireFaultTests {
  private static let start = "POST / HTTP/1.1\r\nHost: a\r\n"

  @Test(
    arguments: [
      ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", .framing),
      ("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nab\r\n0\r\n\r\n", .framing),
      ("Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", .framing),
      ("Content-Length: 2, 2\r\n\r\nab", .framing),
      ("Content-Length: +2\r\n\r\nab", .framing),
      ("Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .framing),
      ("Content-Length: 2\n\r\nab", .syntax),
      ("Content-Length : 2\r\n\r\nab", .syntax),
      ("X: a\r\n b\r\nContent-Length: 2\r\n\r\nab", .syntax),
      ("Host: b\r\nContent-Length: 2\r\n\r\nab", .syntax),
      ("Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n", .syntax),
      ("Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", .syntax),
      ("Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n", .syntax),
      ("Content-Length: 2\r\n\r\nabc", .surplus),
      ("Content-Length: 2\r\n\r\nab\r\n", .surplus),
      ("Content-Length: 2\r\n\r\nabP", .surplus),
      ("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\nx", .surplus),
      ("\r\nx", .surplus),
      ("Content-Length: 3\r\n\r\nab", .cutShort),
      ("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", .cutShort),
    ] as [(String, WireFault.Kind)])
  func `each fault is found`(rest: String, kind: WireFault.Kind) throws {
    let server = try ScriptedServer { _ in .good() }
    let client = try RawClient(server)
    try client.send(Self.start + rest)
    client.closeWrite()
    _ = try? client.receive()
    client.close()
    #expect(server.waitForEnds())
    #expect(Set(server.faults.map(\.kind)).contains(kind), "\(server.faults)")
    let others = server.faults.filter { $0.kind != kind }
    #expect(others.allSatisfy { kind == .syntax && $0.kind == .surplus || $0.kind == .cutShort })
  }

  @Test func `bytes after a body are recorded as surplus, early or late`() throws {
    let server = try ScriptedServer { _ in .good() }
    let body = "Content-Length: 2\r\n\r\nab"
    let client = try RawClient(server)
    try client.send(Self.start + body)
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    try client.send("late" + Self.start + body + "soon")
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
    try client.send("last")
    client.closeWrite()
    #expect(server.waitForEnds())
    #expect(server.requests.map(\.surplus) == [Array("late".utf8), Array("soonlast".utf8)])
    #expect(server.requests.map(\.bodyCount) == [2, 2])
    #expect(server.faults.map(\.kind) == [.surplus, .surplus, .surplus])
  }

  @Test func `a pipelined request is not surplus`() throws {
    let server = try ScriptedServer { _ in .good() }
    let client = try RawClient(server)
    let request = Self.start + "Content-Length: 2\r\n\r\nab"
    try client.send(request + request)
    client.closeWrite()
    #expect(try client.receive().count { $0 == "\r\n" } == 6)
    server.stop()
    #expect(server.requests.count == 2)
    #expect(server.faults == [])
  }

  @Test func `bytes that are not a request are recorded`() throws {
    let server = try ScriptedServer { _ in .good() }
    let client = try RawClient(server)
    try client.send("what")
    client.close()
    #expect(server.waitForEnds())
    #expect(server.connections.first?.stray == Array("what".utf8))
    #expect(server.faults.map(\.kind) == [.surplus])
  }

  @Test func `a client that leaves after an early response does nothing wrong`() throws {
    let server = try ScriptedServer { _ in [.readBody(upTo: 1), .respond(413)] }
    let client = try RawClient(server)
    try client.send(Self.start + "Content-Length: 5\r\n\r\nabc")
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
    client.close()
    #expect(server.waitForEnds())
    #expect(server.faults == [])
    #expect(server.requests.first?.bodyIsComplete == false)
    #expect(server.requests.first?.body == Array("abc".utf8))
    #expect(server.completeBodyCount == 0)
  }

  @Test func `the start of a long body is kept, and all of it is counted and passed on`() throws {
    let total = Total()
    var options = ScriptedServer.Options()
    options.keptBodyLimit = 10
    options.onBody = { _, bytes in total.count.add(bytes.count, ordering: .relaxed) }
    let server = try ScriptedServer(options) { _ in .good() }
    let directory = try TemporaryDirectory()
    try directory.write("body", noise(300_000))
    let said = try curl("--data-binary", "@\(directory.path("body"))", server.url)
    #expect(said.exit == 0)
    #expect(server.requests.first?.bodyCount == 300_000)
    #expect(server.requests.first?.body == Array(noise(300_000).prefix(10)))
    #expect(total.count.load(ordering: .relaxed) == 300_000)
  }
}

/// A sum that threads share.
private final class Total: Sendable {
  let count = Atomic(0)
}
