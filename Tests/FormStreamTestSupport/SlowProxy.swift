import Glibc
import FormStreamPlatform

/// A proxy of plain bytes that receives from clients at a given rate. In the other direction it is as fast as
/// possible. Its receive buffer is small, so that the client's own buffers fill: many bytes are handed over to the
/// client's system and not received yet.
public final class SlowProxy: Sendable {
  /// The port.
  public var port: UInt16 { listener.port }
  /// The URL, without a slash at its end: `http://127.0.0.1:40123`.
  public var url: String { "http://127.0.0.1:\(port)" }
  /// How many bytes were received from clients so far.
  public var receivedCount: Int { count.withLock(\.self) }

  private let listener: LoopbackListener
  private let count = Guarded(0)

  /// Starts a proxy on a free port.
  ///
  /// - Parameters:
  ///   - port: the server's, on 127.0.0.1.
  ///   - bytesPerSecond: the rate of each connection.
  public init(to port: UInt16, bytesPerSecond rate: Int) throws {
    let listener = try LoopbackListener(.local)
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
          // The server can't be reached, so the client gets a reset.
          client.close(resetting: true)
        }
      }
    }
  }

  deinit { stop() }

  /// Ends all connections, and returns when their threads and descriptors are gone.
  public func stop() { listener.stop() }

  /// Waits until that many bytes were received. Returns false after a minute.
  public func wait(untilReceived bytes: Int) -> Bool { count.wait(within: 60) { $0 >= bytes } }
}

/// Forwards both directions of a connection: this thread from the client, another one to it.
func pass(
  _ client: PolledSocket, _ server: PolledSocket, rate: Int, _ count: Guarded<Int>
) {
  nonisolated(unsafe) let (client, server) = (client, server)
  let back = startJoinableThread {
    var bytes: [UInt8] = []
    // A reset is passed on when both sockets are closed below.
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
