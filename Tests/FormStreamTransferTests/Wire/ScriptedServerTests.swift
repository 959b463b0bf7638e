import FormStream
import Foundation
import Glibc
import FormStreamTestSupport
import Testing

/// The scripted server that other tests rely on.
@Suite struct ScriptedServerTests {
  @Test func `a body is recorded as it was sent`() throws {
    let server = try ScriptedServer { _ in .good(201, body: "made") }
    let said = try curl("--data-binary", "hello", "\(server.url)/there")
    #expect(said.output == "made")
    server.stop()
    #expect(server.faults == [])
    #expect(server.requests.map(\.target) == ["/there"])
    #expect(server.requests.map(\.framing) == [.contentLength(5)])
    #expect(server.requests.map(\.body) == [Array("hello".utf8)])
    #expect(server.requests.map(\.responseStatus) == [201])
    #expect(server.requests.first?.header("content-length") == "5")
    #expect(server.completeBodyCount == 1)
  }

  @Test func `a chunked body is decoded, whatever pieces it arrives in`() throws {
    let server = try ScriptedServer { _ in .good() }
    let bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nSum: 11\r\n\r\n"
    let client = try RawClient(server)
    for byte in bytes.utf8 { try client.send([byte]) }
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    try client.send(bytes)
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
    server.stop()
    #expect(server.faults == [])
    #expect(server.requests.count == 2)
    for request in server.requests {
      #expect(request.framing == .chunked)
      #expect(request.body == Array("hello world".utf8))
      #expect(request.chunkSizes == [5, 6])
      #expect(request.trailers == [RecordedHeader(name: "Sum", value: "11")])
      #expect(request.hasCompleteBody)
    }
  }

  @Test func `connections are kept, and each request has its script`() throws {
    let server = try ScriptedServer(requests: [.good(body: "one"), .good(body: "two")])
    let said = try curl("-d", "a", "\(server.url)/1", "--next", "-d", "b", "\(server.url)/2")
    #expect(said.output == "onetwo")
    #expect(try curl("-d", "c", server.url).exit == 52)
    server.stop()
    #expect(server.connections.map { $0.requests.map(\.target) } == [["/1", "/2"], ["/"]])
    #expect(server.connections.map(\.end) == [.closedByClient, .closedByServer])
    #expect(server.faults.map(\.kind) == [.unexpected])
  }

  @Test func `a client that waits for a 100 receives one, or none`() throws {
    let server = try ScriptedServer(requests: [
      .good(), [.respond(417), .skipBody], .good(),
    ])
    let arguments = ["-H", "Expect: 100-continue", "--expect100-timeout", "60", "-d", "abc"]
    let said = try run(
      program: "/usr/bin/env",
      ["curl", "-q", "-sS", "-o", "/dev/null", "-w", "%{http_code} "] + arguments
        + [server.url, "--next", "-sS", "-o", "/dev/null", "-w", "%{http_code} "] + arguments
        + [server.url])
    #expect(said.output == "200 200 ", "curl sends again after 417")
    server.stop()
    #expect(server.requests.map(\.expectsContinue) == [true, true, true])
    #expect(server.requests.map(\.bodyCount) == [3, 0, 3])
    #expect(server.requests[1].bodyCountAtResponse == 0)
    #expect(server.faults == [])
  }

  @Test func `responses have every framing`() throws {
    let server = try ScriptedServer(requests: [
      .good(body: "twelve bytes", framing: .chunked(of: 5, trailers: [("Sum", "12")])),
      .good(body: "twelve bytes", framing: .close),
      .good(body: "twelve bytes", framing: .announced(20)),
      [.readBody, .informational(103, times: 3), .respond(204)],
      [
        .readBody, .sendSlowly(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), each: .milliseconds(1)),
        .close,
      ],
    ])
    let chunked = try curl("-i", "--raw", server.url)
    #expect(
      chunked.output == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\ntwelv\r\n5\r\ne byt\r\n2\r\nes\r\n0\r\nSum: 12\r\n\r\n")
    #expect(try curl(server.url).output == "twelve bytes")
    let lied = try curl(server.url)
    #expect(lied.exit == 18, "curl: transfer closed with bytes remaining")
    #expect(lied.output == "twelve bytes")
    let informed = try curl("-i", server.url)
    #expect(
      informed.output == String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 3)
        + "HTTP/1.1 204 No Content\r\n\r\n")
    #expect(try curl("-w", "%{http_code}", server.url).output == "200")
    #expect(server.faults == [])
  }

  @Test func `a connection is reset, closed or held as the script says`() throws {
    let (reached, gate) = (try Gate(), try Gate())
    let server = try ScriptedServer(requests: [
      [.readBody, .reset], [.readBody, .close], [.open(reached), .waitFor(gate)] + .good(),
      [.readBody, .open(reached), .stall],
    ])
    #expect(try curl("-d", "a", server.url).exit == 56)
    #expect(try curl("-d", "a", server.url).exit == 52)
    runDetached {
      _ = reached.wait()
      gate.open()
    }
    #expect(try curl("-d", "a", server.url).exit == 0)
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(server.waitForRequests(4))
    client.reset()
    #expect(server.waitForEnds(4))
    #expect(
      server.connections.map(\.end) == [
        .resetByServer, .closedByServer, .closedByClient, .resetByClient,
      ])
    #expect(server.faults == [])
  }

  @Test func `after an early response, the rest of the body can be read`() throws {
    let server = try ScriptedServer(requests: [[.readBody(upTo: 3), .respond(413)], .good()])
    let client = try RawClient(server)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabcd")
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
    try client.send("efGET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.receive(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    server.stop()
    #expect(server.faults == [])
    #expect(server.requests.map(\.bodyCountAtResponse) == [3, 0])
    #expect(server.requests.first?.body == Array("abcdef".utf8))
  }

  @Test func `it listens on a Unix-domain socket, and on other loopback addresses`() throws {
    let directory = try TemporaryDirectory()
    let unix = try ScriptedServer(on: .unix(directory.local("s"))) { _ in .good(body: "unix") }
    let said = try curl("--unix-socket", directory.path("s"), "-d", "a", unix.url)
    #expect(said.output == "unix")
    let two = try ScriptedServer(on: .ip("127.0.0.2")) { _ in .good(body: "two") }
    #expect(try curl("-d", "a", two.url).output == "two")
    #expect(unix.faults + two.faults == [])
    if let six = try? ScriptedServer(on: .ip("::1"), script: { _ in .good(body: "six") }) {
      #expect(try curl("-d", "a", six.url).output == "six")
      // At its other address, this name may lead to another test's server with the same port.
      #expect(try curl("-6", "-d", "a", six.url(host: "localhost")).output == "six")
    }
  }

  /// Regression: the connections of a server whose port the system had chosen kept all others from it for a minute.
  @Test func `a server can listen where another's connections ended a moment ago`() throws {
    var failures: [String] = []
    // Between the two servers, another program may get the port.
    while failures.count < 5 {
      let address = LoopbackAddress.ip("127.0.0.1", port: try portOfEndedServer())
      do {
        let second = try ScriptedServer(on: address) { _ in .good(body: "b") }
        #expect(try curl("-d", "a", second.url).output == "b")
        return
      } catch { failures.append("\(error)") }
    }
    Issue.record("\(failures)")
  }

  /// The port of a server that is gone, and that has closed a connection before its client did: it waits for late packets.
  private func portOfEndedServer() throws -> UInt16 {
    let server = try ScriptedServer { _ in .good() + [.close] }
    let client = try RawClient(server)
    try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.receive().hasPrefix("HTTP/1.1 200 "))
    server.stop()
    return server.port
  }

  /// Regression: it listened at another port, and any other program could get its own meanwhile.
  @Test func `a server that stopped listening keeps its port, and listens there again`() throws {
    let server = try ScriptedServer { _ in .good(body: "again") }
    server.stopListening()
    #expect(throws: SystemError.self) { try RawClient(server) }
    #expect(sockets(of: server.port) == 1)
    server.startListening()
    #expect(try curl("-d", "a", server.url).output == "again")
  }

  @Test func `a reserved port is for those who ask for it, one after the other, at any address`() throws {
    let reserved = try ReservedPort()
    for host in ["127.0.0.1", "127.0.0.2", "127.0.0.1"] {
      let address = reserved.address(at: host)
      #expect(throws: SystemError.self) { try RawClient(address) }
      let server = try ScriptedServer(on: address) { _ in .good(body: host) }
      #expect(try curl("-d", "a", server.url).output == host)
      #expect(throws: SystemError.self) { try ScriptedServer(on: address) { _ in [] } }
    }
  }

  @Test func `two hundred clients at once are served`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let clients = try (0..<200).map { _ in try RawClient(server) }
    for (number, client) in clients.enumerated() {
      try client.send("POST /n\(number). HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
    }
    for (number, client) in clients.enumerated() {
      #expect(try client.receive(upTo: "/n\(number).").hasSuffix("\r\n\r\n/n\(number)."))
    }
    server.stop()
    #expect(server.completeBodyCount == 200)
    #expect(server.faults == [])
  }

  @Test func `a stopped server leaves neither a thread nor a descriptor`() throws {
    let server = try ScriptedServer { request in
      request.target == "/stall" ? [.stall] : [.readBody]
    }
    let port = server.port
    let clients = try (0..<20).map { _ in try RawClient(server) }
    for (number, client) in clients.enumerated() {
      let target = number % 2 == 0 ? "/stall" : "/"
      try client.send("POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n")
    }
    #expect(server.waitForRequests(20))
    #expect(try threads(of: port) == 21)
    let open = sockets(of: port)
    #expect(open == 21)
    server.stop()
    #expect(sockets(of: port) == 1, "the one that listens goes with the server")
    // A joined thread disappears from /proc a moment later.
    while try threads(of: port) > 0 { sched_yield() }
    #expect(server.connections.allSatisfy { $0.end == .serverStopped })
    server.stop()
  }

  @Test func `a released server is stopped`() throws {
    let client: RawClient
    do {
      let server = try ScriptedServer { _ in [.stall] }
      client = try RawClient(server)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(server.waitForRequests(1))
    }
    #expect(try client.receive() == "")
  }

  /// The number of this process's threads that serve a port.
  private func threads(of port: UInt16) throws -> Int {
    try names(in: "/proc/self/task").count { thread in
      // The thread may have ended meanwhile.
      let name = try? contents("/proc/self/task/\(thread)/comm")
      return name == "server-\(port)\n"
    }
  }

  /// The number of this process's sockets that are bound to a port.
  private func sockets(of port: UInt16) -> Int {
    openDescriptors().count { descriptor in
      var address = sockaddr_in()
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
      }
      return result == 0 && address.sin_family == AF_INET && address.sin_port == port.bigEndian
    }
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
  }

  private func contents(_ path: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
  }
}
