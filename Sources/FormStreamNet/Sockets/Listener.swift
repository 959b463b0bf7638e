package import FormStreamPlatform

/// A socket that listens for connections. It never blocks, and it is closed when it is released.
package final class Listener: Sendable {
  package let number: CInt
  /// Its address, with the port that the system chose if port 0 was asked for.
  package let address: SocketAddress

  /// - Parameter backlog: how many connections may wait to be accepted.
  ///
  /// C: `socket`, `setsockopt(SO_REUSEADDR, IPV6_V6ONLY)`, `bind`, `listen`, `getsockname`
  package init(at address: SocketAddress, backlog: Int32 = 1024) throws(SystemError) {
    let number = try openStreamSocket(address.family)
    do throws(SystemError) {
      if address.family != .unix { try setOption(number, .reuseAddress, 1) }
      // `::` accepts IPv4 connections too.
      if address.family == .ipv6 { try setOption(number, .onlyIPv6, 0) }
      try bindSocket(number, address)
      try listenOnSocket(number, backlog: backlog)
      self.address = try localAddress(of: number) ?? address
    } catch {
      closeSocket(number)
      throw error
    }
    self.number = number
  }

  /// C: `close`
  deinit { closeSocket(number) }

  /// Accepts a connection; nil if none waits. A connection that ended while it waited is passed over.
  ///
  /// The loop reports waiting connections once, so the caller accepts until there are none. After a failure, such as too many open
  /// files, connections may still wait, and the caller has to try again later.
  ///
  /// C: `accept4`, `setsockopt(TCP_NODELAY)`
  package func accept() throws(SystemError) -> (socket: Socket, from: SocketAddress?)? {
    while true {
      do throws(SystemError) {
        guard let (number, client) = try acceptConnection(number) else { return nil }
        let socket = Socket(owning: number, address.family)
        // A connection that was reset meanwhile refuses the option, and says why when it is read.
        if address.family != .unix { try? setOption(number, .withoutDelay, 1) }
        return (socket, client)
      } catch  where error.isOfAcceptedConnection {
        // accept(2): "treat … network errors … like EAGAIN by retrying".
        continue
      }
    }
  }
}
