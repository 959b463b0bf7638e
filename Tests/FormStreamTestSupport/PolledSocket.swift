import Glibc
import FormStreamPlatform

/// A connected socket of a server of the tests. All waiting ends when the server is stopped.
final class PolledSocket {
  private let descriptor: Int32
  private let stopping: Gate
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  /// - Parameter descriptor: a non-blocking socket, which this object owns.
  init(_ descriptor: Int32, stopping: Gate) {
    self.descriptor = descriptor
    self.stopping = stopping
  }

  deinit { buffer.deallocate() }

  /// Closes the socket. To be called once.
  func close(resetting: Bool) {
    if resetting {
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
    Glibc.close(descriptor)
  }

  /// Stops sending, or both sending and receiving.
  func shutdown(both: Bool = false) {
    Glibc.shutdown(descriptor, Int32(both ? SHUT_RDWR : SHUT_WR))
  }

  /// Waits for bytes, and appends at most `most` of them to `bytes`. Returns 0 if the client sends no more.
  func receive(into bytes: inout [UInt8], most: Int) throws -> Int {
    // Without gates there is always a count.
    try receive(into: &bytes, most: most, orOpeningOf: []) ?? 0
  }

  /// Waits for bytes as `receive(into:most:)` does, or until a gate is open; then returns nil.
  func receive(into bytes: inout [UInt8], most: Int, orOpeningOf gates: [Gate]) throws -> Int? {
    while true {
      if let count = try receiveWaiting(into: &bytes, most: most) { return count }
      if try wait(for: Int16(POLLIN), or: gates).isOpen { return nil }
    }
  }

  /// Appends the bytes that have arrived to `bytes`. Returns nil if there are none.
  func receiveWaiting(into bytes: inout [UInt8], most: Int = .max) throws -> Int? {
    while true {
      let count = recv(descriptor, buffer.baseAddress, min(most, buffer.count), 0)
      if count >= 0 {
        bytes.append(contentsOf: buffer[..<count])
        return count
      }
      if errno == EINTR { continue }
      if errno == EAGAIN { return nil }
      throw ScriptedConnection.Ended(how: .resetByClient)
    }
  }

  /// Sends all bytes, however long it takes, and reports the size of each piece.
  func send(_ bytes: [UInt8], sent: (Int) -> Void) throws {
    var place = 0
    while place < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
        return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        place += count
        sent(count)
      } else if errno == EAGAIN {
        try wait(for: Int16(POLLOUT))
      } else if errno != EINTR {
        throw ScriptedConnection.Ended(how: .resetByClient)
      }
    }
  }

  /// Waits for that time.
  func pause(_ time: Duration) throws {
    var watched = stopping.pollable
    let milliseconds = time / .milliseconds(1)
    if pollAgain(&watched, 1, milliseconds: Int(milliseconds.rounded(.up))) > 0 {
      throw ScriptedConnection.Ended(how: .serverStopped)
    }
  }

  /// Waits until the client closes or resets. Bytes that it sent before may stay unread.
  func waitForPeersEnd() throws {
    let hungUp = Int16(0x2000)  // POLLRDHUP, which Swift's Glibc does not have
    throw ScriptedConnection.Ended(
      how: try wait(for: hungUp) & Int16(POLLERR) != 0 ? .resetByClient : .closedByClient)
  }

  /// Waits until the gate is open, or the client closes or resets.
  func waitForOpening(of gate: Gate) throws {
    let hungUp = Int16(0x2000)
    let (events, isOpen) = try wait(for: hungUp, or: [gate])
    if isOpen { return }
    throw ScriptedConnection.Ended(
      how: events & Int16(POLLERR) != 0 ? .resetByClient : .closedByClient)
  }

  @discardableResult
  private func wait(for events: Int16) throws -> Int16 { try wait(for: events, or: []).events }

  private func wait(for events: Int16, or gates: [Gate]) throws -> (events: Int16, isOpen: Bool) {
    var watched = [stopping.pollable, pollfd(fd: descriptor, events: events, revents: 0)]
    watched += gates.map(\.pollable)
    pollAgain(&watched, watched.count, milliseconds: -1)
    if watched[0].revents != 0 { throw ScriptedConnection.Ended(how: .serverStopped) }
    return (watched[1].revents, watched.dropFirst(2).contains { $0.revents != 0 })
  }
}
