import Glibc

/// A proxy of plain bytes that takes what a client sends at a given rate, and passes it on; the other way
/// it is as fast as it can be. With a small receive buffer, the client's own buffers fill: what it has
/// handed to its system is then far from what was receivedCount.
public final class SlowProxy: Sendable {
  /// The port.
  public var port: UInt16 { listener.port }
  /// Where it listens, for a URL: `http://127.0.0.1:40123`, without a slash at its end.
  public var url: String { "http://127.0.0.1:\(port)" }
  /// How many bytes were receivedCount from clients so far.
  public var receivedCount: Int { count.withLock(\.self) }

  private let listener: LoopbackListener
  private let count = Guarded(0)

  /// Starts a proxy on a free port.
  ///
  /// - Parameters:
  ///   - port: the server's, on 127.0.0.1.
  ///   - bytesPerSecond: for each connection.
  ///   - receiveBuffer: the `SO_RCVBUF` towards clients; the system's where nil.
  public init(to port: UInt16, bytesPerSecond rate: Int, receiveBuffer: Int? = 4096) throws {
    let listener = try LoopbackListener(.local, receiveBuffer: receiveBuffer)
    self.listener = listener
    let count = self.count
    listener.start { client in
      {
        let client = PolledSocket(client, stopping: listener.stopping)
        do {
          let server = try connected(to: .ip("127.0.0.1", port: port))
          _ = fcntl(server, F_SETFL, O_NONBLOCK)
          pass(client, PolledSocket(server, stopping: listener.stopping), rate: rate, count)
        } catch {
          // Who can't reach the server has nothing to say to the client.
          client.close(resetting: true)
        }
      }
    }
  }

  deinit { stop() }

  /// Ends all connections, and returns when no thread and no descriptor of them is left.
  public func stop() { listener.stop() }

  /// Waits until so many bytes were receivedCount; false where they aren't within a minute.
  public func wait(untilReceived bytes: Int) -> Bool { count.wait(within: 60) { $0 >= bytes } }
}

/// Both ways of a connection: this thread takes from the client, another gives back to it.
private func pass(
  _ client: PolledSocket, _ server: PolledSocket, rate: Int, _ count: Guarded<Int>
) {
  nonisolated(unsafe) let (client, server) = (client, server)
  let back = startJoinableThread {
    var bytes: [UInt8] = []
    // A reset is no end: it is passed on when both are closed below, and hangs up the other way at once.
    while (try? server.receive(into: &bytes, most: .max)) ?? 0 > 0 {
      if (try? client.send(bytes, sent: { _ in })) == nil { break }
      bytes = []
    }
    client.shutdown()
  }
  var isReset = false
  do {
    let most = min(max(rate / 20, 1), 64 << 10)
    var bytes: [UInt8] = []
    while try client.receive(into: &bytes, most: most) > 0 {
      count.withLock { $0 += bytes.count }
      try server.send(bytes) { _ in }
      try client.pause(.seconds(Double(bytes.count) / Double(max(rate, 1))))
      bytes = []
    }
    server.shutdown()
  } catch {
    isReset = true
    server.shutdown(both: true)
  }
  pthread_join(back, nil)
  client.close(resetting: isReset)
  server.close(resetting: isReset)
}
