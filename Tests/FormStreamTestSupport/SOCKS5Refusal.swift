import FormStreamPlatform
import Glibc

/// A proxy of SOCKS5 that refuses each request, or one that speaks something else.
public final class SOCKS5Refusal: Sendable {
  /// The port.
  public var port: UInt16 { listener.port }

  private let listener: LoopbackListener

  /// Starts a proxy on a free port.
  ///
  /// - Parameter code: the reply to each request (RFC 1928 §6); nil if it speaks HTTP.
  public init(_ code: UInt8?) throws {
    let listener = try LoopbackListener(.local)
    self.listener = listener
    listener.start { client in
      {
        let client = PolledSocket(client, stopping: listener.stopping)
        do {
          try Self.receive(3, from: client)
          guard let code else {
            try client.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)) { _ in }
            return client.close(resetting: false)
          }
          // No user is demanded.
          try client.send([5, 0]) { _ in }
          // Version, command, a reserved byte, and the kind of the address.
          let head = try Self.receive(4, from: client)
          let length = head.last == 3 ? Int(try Self.receive(1, from: client)[0]) : 4
          try Self.receive(length + 2, from: client)
          try client.send([5, code, 0, 1, 0, 0, 0, 0, 0, 0]) { _ in }
          client.close(resetting: false)
        } catch {
          client.close(resetting: true)
        }
      }
    }
  }

  deinit { listener.stop() }

  @discardableResult
  private static func receive(_ count: Int, from client: PolledSocket) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard try client.receive(into: &bytes, most: count - bytes.count) > 0 else {
        throw SystemError(number: ECONNRESET)
      }
    }
    return bytes
  }
}
