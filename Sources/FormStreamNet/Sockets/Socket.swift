package import FormStreamPlatform

/// The socket of a stream. It never blocks, and it is closed when it is released.
///
/// Every failure is a ``SystemError``. A broken connection never raises a signal.
package final class Socket: Sendable {
  package let number: CInt
  package let family: SocketAddress.Family

  /// Takes over a socket that doesn't block.
  init(owning number: CInt, _ family: SocketAddress.Family) { (self.number, self.family) = (number, family) }

  /// A new socket. Small writes of TCP leave at once.
  ///
  /// C: `socket`, `setsockopt(TCP_NODELAY)`
  package convenience init(_ family: SocketAddress.Family) throws(SystemError) {
    self.init(owning: try openStreamSocket(family), family)
    if family != .unix { try setOption(number, .withoutDelay, 1) }
  }

  /// C: `close`
  deinit { closeSocket(number) }

  /// What became of a call of `connect`.
  package enum Connect: Sendable {
    case connected
    /// The socket becomes writable when the connection is made or has failed.
    case underway
    /// The Unix-domain socket there has no room for another connection that waits to be accepted. The system does not tell when it has.
    case backlogFull
  }

  /// Begins a connection.
  ///
  /// C: `connect`
  package func connect(to address: SocketAddress) throws(SystemError) -> Connect {
    do throws(SystemError) {
      try connectSocket(number, address)
      return .connected
    } catch {
      if error.isInProgress { return .underway }
      if family == .unix, error.wouldBlock { return .backlogFull }
      throw error
    }
  }

  /// Whether the connection leads back to this socket. A port that nothing listens at may be the one that the system has just given to
  /// this socket; TCP then connects the socket with itself (RFC 9293 §3.5, "simultaneous open"), and everything sent comes back.
  ///
  /// C: `getsockname`
  package func isConnectedToItself(at address: SocketAddress) -> Bool {
    guard family != .unix, let local = try? localAddress else { return false }
    // 0.0.0.0 and :: connect to this machine, too.
    return local.port == address.port && (try? peerAddress) == local
  }

  /// Tells whether the other side is still there while nothing is sent.
  ///
  /// C: `setsockopt(SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL)`
  package func keepAlive(every time: Duration) throws(SystemError) {
    guard family != .unix else { return }
    // Linux allows 1 to 32767 seconds.
    let seconds = CInt(min(max(time.bounded.components.seconds, 1), 32767))
    try setOption(number, .keepAlive, 1)
    try setOption(number, .keepAliveIdle, seconds)
    try setOption(number, .keepAliveInterval, seconds)
  }

  /// Writes bytes, and returns how many; nil if the system takes none at present.
  ///
  /// C: `send(MSG_NOSIGNAL)`
  package func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? { try sendBytes(number, bytes) }

  /// Writes two runs of bytes in one call, such as a head and a body.
  ///
  /// C: `sendmsg(MSG_NOSIGNAL)`
  package func send(
    _ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
  ) throws(SystemError) -> Int? {
    if body.isEmpty { return try sendBytes(number, head) }
    if head.isEmpty { return try sendBytes(number, body) }
    return try sendBytes(number, head, body)
  }

  /// Reads bytes, and returns how many; 0 at the end, nil if there are none at present. The buffer must not be empty.
  ///
  /// C: `recv`
  package func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    try receiveBytes(number, buffer)
  }

  /// Whether there is something to read: bytes, or the end. Nothing is read.
  ///
  /// - Throws: the socket's failure, which the system then forgets.
  ///
  /// C: `recv(MSG_PEEK)`
  package func hasInput() throws(SystemError) -> Bool {
    var byte: UInt8 = 0
    return try withUnsafeMutableBytes(of: &byte) { buffer throws(SystemError) in
      try receiveBytes(number, buffer, keepingThem: true) != nil
    }
  }

  /// Sends the end of the stream. Bytes can still be read.
  ///
  /// C: `shutdown(SHUT_WR)`
  package func endSending() throws(SystemError) { try FormStreamNet.endSending(number) }

  /// Makes the end of this object reset the connection: what was not sent yet is dropped, and the other side sees a failure.
  ///
  /// C: `setsockopt(SO_LINGER)`
  package func resetAtClose() { setResettingAtClose(number) }

  /// The socket's failure, which the system then forgets; nil if there is none.
  ///
  /// C: `getsockopt(SO_ERROR)`
  package func takeFailure() -> SystemError? { FormStreamNet.takeFailure(of: number) }

  /// This side's address; nil if it is of an unknown family.
  ///
  /// C: `getsockname`
  package var localAddress: SocketAddress? { get throws(SystemError) { try FormStreamNet.localAddress(of: number) } }

  /// The other side's address; nil if it is of an unknown family.
  ///
  /// C: `getpeername`
  package var peerAddress: SocketAddress? { get throws(SystemError) { try FormStreamNet.peerAddress(of: number) } }

  /// How many bytes were written, but not yet acknowledged by the other side's system; after ``endSending()``, one more until the end is
  /// acknowledged. Nil for a Unix-domain socket, whose bytes nobody acknowledges.
  ///
  /// C: `ioctl(SIOCOUTQ)`
  package var unacknowledgedBytes: Int64? {
    family == .unix ? nil : FormStreamNet.unacknowledgedBytes(of: number)
  }

  /// What the system says of the connection; nil if it says nothing, as of a Unix-domain socket.
  ///
  /// C: `getsockopt(TCP_INFO)`
  package var traffic: Traffic? { family == .unix ? nil : FormStreamNet.traffic(of: number) }
}
