import FormStreamNet
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct ListenerTests {
  @Test func `connections are accepted in their order until none waits`() throws {
    let listener = try Listener(at: address("127.0.0.1"))
    #expect(try listener.accept() == nil)
    let clients = try (0..<5).map { _ in try Socket(.ipv4) }
    for client in clients { _ = try client.connect(to: listener.address) }
    for client in clients {
      wait(for: POLLIN, on: listener.number)
      let (socket, from) = try #require(try listener.accept())
      #expect(try from == client.localAddress)
      // It never blocks, and no other program inherits it.
      #expect(fcntl(socket.number, F_GETFL) & O_NONBLOCK != 0)
      #expect(fcntl(socket.number, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(try listener.accept() == nil)
  }

  @Test func `an IPv6 listener at all addresses accepts IPv4, and shows the client's address`() throws {
    guard hasIPv6 else { return }
    let listener = try Listener(at: address("::"))
    let client = try Socket(.ipv4)
    _ = try client.connect(to: address("127.0.0.1", port: try #require(listener.address.port)))
    wait(for: POLLIN, on: listener.number)
    let (_, from) = try #require(try listener.accept())
    #expect(from?.host == "::ffff:127.0.0.1")
    #expect(from?.isLoopback == true)
  }

  @Test func `a socket in the file system is found by its path`() throws {
    let directory = try TemporaryDirectory()
    let path = try #require(SocketAddress.UnixName(path: Array(directory.path("socket").utf8)))
    let listener = try Listener(at: .unix(path))
    let client = try Socket(.unix)
    guard case .connected = try client.connect(to: .unix(path)) else {
      Issue.record("There is no connection.")
      return
    }
    #expect(try client.peerAddress == .unix(path))
    #expect(try listener.accept() != nil)
  }

  /// A loop that is told again and again would use up a processor until a descriptor is free.
  @Test func `without a free descriptor a connection stays, and is reported once`() throws {
    let probe = try run(program: builtBinary("formstream-loop-probe"), ["full"])
    #expect(probe.output == "Too many open files, 1 event, then accepted\n", "\(probe.stderr)")
  }

  @Test func `a port that is free again can be used at once`() throws {
    var listener: Listener? = try Listener(at: address("127.0.0.1"))
    let place = try #require(listener?.address)
    var client: Socket? = try Socket(.ipv4)
    _ = try client?.connect(to: place)
    wait(for: POLLIN, on: listener?.number ?? -1)
    // The side that closes first keeps the port for a minute (TIME_WAIT).
    var accepted = try listener?.accept()?.socket
    accepted = nil
    listener = nil
    client = nil
    #expect(accepted == nil && client == nil)
    #expect(try Listener(at: place).address == place)
  }
}
