package import FormStreamPlatform

/// What uses a ``WatchedSocket``. Its functions are called on the loop's thread.
package protocol SocketUser: AnyObject {
  /// The socket may give or take more than at the last time.
  func isReady(_ socket: WatchedSocket)

  /// The loop ends. The socket is closed already.
  func loopEnds(_ socket: WatchedSocket)
}

/// A socket on an ``EventLoop``: it remembers what the system has said, so that no call is made in vain, and it counts each byte where
/// it is written and read. All of it belongs to the loop's thread.
package final class WatchedSocket {
  /// What one read has brought.
  package enum Reading: Hashable, Sendable {
    case bytes(Int)
    /// The other side has ended its stream, and everything before the end has been read.
    case end
    /// Nothing at present. The user is told when there is something.
    case nothing
  }

  /// Who is told about the socket. It is released when the socket is closed.
  package var user: (any SocketUser)?

  /// The bytes that the system has accepted.
  package private(set) var sentBytes: Int64 = 0
  /// The bytes that were read.
  package private(set) var receivedBytes: Int64 = 0
  /// The first failure of the connection. The system itself forgets a failure as soon as it has reported it, and then makes it look
  /// like an orderly end.
  package private(set) var failure: SystemError?
  /// Whether a read may bring something, and a write may be accepted.
  package private(set) var mayRead = false
  package private(set) var mayWrite = false

  private let loop: EventLoop
  private var socket: Socket?
  private var place: WatchPlace?
  /// What the system has said since the beginning.
  private var seen: Readiness = []
  private var hasEndedSending = false
  private let isUnix: Bool

  /// Takes over a socket that is connected, or that is being connected. Nobody else may keep it, or it stays open.
  package init(_ socket: Socket, on loop: EventLoop, for user: any SocketUser) throws(SystemError) {
    (self.socket, self.loop, self.user) = (socket, loop, user)
    isUnix = socket.family == .unix
    place = try loop.watch(socket.number, self)
  }

  /// Closed sockets have neither.
  package var isOpen: Bool { socket != nil }
  /// Whether the system has reported the end of the other side's stream, or of the connection. Bytes may still be unread.
  package var hasHungUp: Bool { !seen.isDisjoint(with: [.ended, .closed, .failed]) }
  /// Whether the system has reported a failure, or the end of both directions.
  var hasFailedOrClosed: Bool { !seen.isDisjoint(with: [.closed, .failed]) }

  /// Reads bytes into a buffer. An empty buffer gets nothing.
  ///
  /// What arrived before a failure is read before the failure is thrown. A failure is never taken for the end.
  ///
  /// C: `recv`
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Reading {
    guard let socket else { throw .notOpen }
    // The system would return the number that means the end.
    if buffer.isEmpty { return .bytes(0) }
    if mayRead {
      do throws(SystemError) {
        if let count = try socket.receive(into: buffer) { return try note(count, of: buffer.count) }
      } catch {
        note(error)
        throw failure ?? error
      }
      mayRead = false
    }
    if let failure { throw failure }
    return .nothing
  }

  /// Counts what a read has brought.
  private func note(_ count: Int, of size: Int) throws(SystemError) -> Reading {
    if count == 0 {
      // After a failure, the system pretends that the connection had ended in order.
      if let failure { throw failure }
      return .end
    }
    receivedBytes += Int64(count)
    if count < size { mayRead = isMoreExpected }
    return .bytes(count)
  }

  /// Whether there may be something after a read that did not fill its buffer (epoll(7): normally, there is nothing). A read also stops
  /// before urgent data, and on a Unix-domain socket between messages with descriptors. The end is not reported once more.
  private var isMoreExpected: Bool { isUnix || hasHungUp || seen.contains(.urgent) || failure != nil }

  /// Writes bytes, and returns how many the system has accepted. The user is told when it may accept the rest.
  ///
  /// C: `send(MSG_NOSIGNAL)`
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
    try write(bytes, UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Writes two runs of bytes, such as a head and a body, in one call.
  ///
  /// C: `sendmsg(MSG_NOSIGNAL)`
  package func write(
    _ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer
  ) throws(SystemError) -> Int {
    guard let socket else { throw .notOpen }
    if let failure { throw failure }
    guard mayWrite else { return 0 }
    do throws(SystemError) {
      let count = try socket.send(head, body) ?? 0
      sentBytes += Int64(count)
      // Fewer bytes than given means that the system's buffer is full.
      mayWrite = count == head.count + body.count
      return count
    } catch {
      note(error)
      throw error
    }
  }

  /// Keeps the first failure.
  private func note(_ error: SystemError) {
    failure = failure ?? error
    // Bytes that were received before it can still be read.
    mayRead = true
  }

  /// Asks the system whether there is something to read: bytes, the end, or a failure. Nothing is read.
  ///
  /// C: `recv(MSG_PEEK)`
  package func hasInput() -> Bool {
    guard failure == nil, let socket else { return true }
    do throws(SystemError) {
      return try socket.hasInput()
    } catch {
      // A failure is input: the socket is no longer what it was.
      note(error)
      return true
    }
  }

  /// How many of the bytes in ``sentBytes`` the other side's system has not acknowledged; nil if that can't be known.
  ///
  /// C: `ioctl(SIOCOUTQ)`
  package var unacknowledgedBytes: Int64? {
    // The end counts as one byte.
    socket?.unacknowledgedBytes.map { max(0, hasEndedSending ? $0 - 1 : $0) }
  }

  /// Whether the other side's system has acknowledged all bytes and, after them, the end; nil if that can't be known. A connection that
  /// was reset keeps what it knew.
  ///
  /// C: `ioctl(SIOCOUTQ)`
  package var isEndAcknowledged: Bool? { socket?.unacknowledgedBytes.map { hasEndedSending && $0 == 0 } }

  /// What the system says of the connection; nil if it says nothing.
  ///
  /// C: `getsockopt(TCP_INFO)`
  package var traffic: Traffic? { socket?.traffic }

  /// C: `getsockname`
  package var localAddress: SocketAddress? { get throws(SystemError) { try socket?.localAddress } }

  /// C: `getpeername`
  package var peerAddress: SocketAddress? { get throws(SystemError) { try socket?.peerAddress } }

  /// Sends the end of the stream. Bytes can still be read.
  ///
  /// C: `shutdown(SHUT_WR)`
  package func endSending() throws(SystemError) {
    guard let socket else { throw .notOpen }
    if let failure { throw failure }
    do throws(SystemError) {
      try socket.endSending()
      hasEndedSending = true
    } catch {
      note(error)
      throw error
    }
  }

  /// Closes the socket, and tells its user nothing more. Bytes that the system has accepted are still sent.
  ///
  /// C: `close`
  package func close() {
    if let place = place.take() { loop.forget(place) }
    socket = nil
    (mayRead, mayWrite) = (false, false)
    // The user may close the socket at its own end, which may be here.
    withExtendedLifetime(user.take()) {}
  }

  /// Closes the socket so that the other side sees a failure. Bytes that were not sent yet are dropped.
  ///
  /// C: `setsockopt(SO_LINGER)`, `close`
  package func reset() {
    socket?.resetAtClose()
    close()
  }

  /// The failure of a connection that is being made; nil if the connection is made.
  ///
  /// C: `getsockopt(SO_ERROR)`, `getsockname`
  func connectFailure(at address: SocketAddress) -> SystemError? {
    guard let socket else { return .notOpen }
    if hasFailedOrClosed {
      if let failure = socket.takeFailure() { return failure }
      if seen.contains(.failed) { return .connectionRefused }
    }
    if socket.isConnectedToItself(at: address) {
      socket.resetAtClose()
      return .connectionRefused
    }
    return nil
  }
}

extension WatchedSocket: EventHandler {
  package func isReady(_ events: Readiness) {
    seen.formUnion(events)
    // A failure is found out by the next read.
    if !events.isDisjoint(with: [.readable, .ended, .closed, .failed, .urgent]) { mayRead = true }
    if !events.isDisjoint(with: [.writable, .closed, .failed]) { mayWrite = true }
    user?.isReady(self)
  }

  package func loopEnds() {
    let user = user
    close()
    user?.loopEnds(self)
  }
}
