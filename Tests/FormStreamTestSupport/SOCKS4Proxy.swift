import Glibc
import FormStreamPlatform

/// A proxy of SOCKS4 and SOCKS4a that connects each client to one server, whatever it asks for, and records what it asked.
public final class SOCKS4Proxy: Sendable {
  /// The port.
  public var port: UInt16 { listener.port }
  /// The requests of the clients, as bytes.
  public var requests: [[UInt8]] { asked.withLock(\.self) }

  private let listener: LoopbackListener
  private let asked = Guarded<[[UInt8]]>([])

  /// Starts a proxy on a free port.
  ///
  /// - Parameters:
  ///   - port: the server's, on 127.0.0.1.
  ///   - code: the response: 0x5A grants the request, 0x5B to 0x5D refuse it.
  public init(to port: UInt16, answering code: UInt8 = 0x5A) throws {
    let listener = try LoopbackListener(.local)
    self.listener = listener
    let asked = self.asked
    listener.start { client in
      {
        let client = PolledSocket(client, stopping: listener.stopping)
        do {
          let request = try Self.request(from: client)
          asked.withLock { $0.append(request) }
          try client.send([0, code] + [UInt8](repeating: 0, count: 6)) { _ in }
          guard code == 0x5A else { return client.close(resetting: false) }
          let server = try connected(to: .ip("127.0.0.1", port: port))
          _ = fcntl(server, F_SETFL, O_NONBLOCK)
          pass(
            client, PolledSocket(server, stopping: listener.stopping), rate: 1 << 40, Guarded(0))
        } catch {
          client.close(resetting: true)
        }
      }
    }
  }

  deinit { listener.stop() }

  /// Version, command, port and address, then a user up to a NUL; with an address of 0.0.0.x a name up to another one.
  private static func request(from client: PolledSocket) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while !isComplete(bytes) {
      guard try client.receive(into: &bytes, most: 1) > 0 else {
        throw SystemError(number: ECONNRESET)
      }
    }
    return bytes
  }

  private static func isComplete(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 8, bytes.last == 0 else { return false }
    let hasName = bytes[4...6] == [0, 0, 0] && bytes[7] != 0
    return bytes[8...].count { $0 == 0 } == (hasName ? 2 : 1)
  }
}
