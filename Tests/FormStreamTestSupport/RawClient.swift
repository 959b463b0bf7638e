import Glibc
import FormStreamMultipart
import FormStreamPlatform

/// A client that sends exactly the given bytes, right or wrong.
public final class RawClient {
  /// The socket.
  public let descriptor: Int32
  private var isClosed = false

  /// Connects to an address.
  ///
  /// - Parameter receiveBuffer: the size of the system's receive buffer, or nil for the default.
  public init(_ address: LoopbackAddress, receiveBuffer: Int? = nil) throws {
    descriptor = try connected(to: address)
    if var size = receiveBuffer.map({ Int32($0) }) {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    // After a minute without a byte the test fails, and does not hang.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
  }

  /// Connects to a server of the tests.
  public convenience init(_ server: ScriptedServer) throws {
    try self.init(.ip("127.0.0.1", port: server.port))
  }

  deinit { close() }

  /// Sends text.
  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends all bytes.
  public func send(_ bytes: [UInt8]) throws {
    var place = 0
    while place < bytes.count {
      let count = bytes[place...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count >= 0 else { throw SystemError(number: errno) }
      place += count
    }
  }

  /// Receives text until it ends with `end`, or until the server closes.
  public func receive(upTo end: String? = nil) throws -> String {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, end == nil ? buffer.count : 1, 0)
      guard count >= 0 else { throw SystemError(number: errno) }
      all += buffer[..<count]
      let text = String(decoding: all, as: UTF8.self)
      if count == 0 { return text }
      if let end, text.utf8.elementsEqual(end.utf8) || text.hasSuffix(end) { return text }
    }
  }

  /// Receives the next response, and not a byte after it. Returns nil if the server closes or resets before it.
  ///
  /// - Parameter isToHEAD: whether the request was HEAD, so that the response has no body.
  /// - Throws: `UnreadableResponse`.
  public func receiveResponse(toHEAD isToHEAD: Bool = false) throws -> RecordedResponse? {
    var reader = HTTPMessageReader()
    return try RecordedResponse(&reader, toHEAD: isToHEAD) { bytes, missing in
      try self.receiveMore(into: &bytes, limit: missing)
    }
  }

  /// Receives all responses until the server closes or resets.
  ///
  /// - Parameter mayRepeatHead: see `RecordedResponse.all(in:mayRepeatHead:)`.
  /// - Throws: `UnreadableResponse`.
  public func receiveResponses(mayRepeatHead: Bool = false) throws -> [RecordedResponse] {
    var bytes: [UInt8] = []
    while try receiveMore(into: &bytes) {}
    return try RecordedResponse.all(in: bytes, mayRepeatHead: mayRepeatHead)
  }

  /// Appends the next bytes to `bytes`. Returns false if the server closed or reset the connection.
  public func receiveMore(into bytes: inout [UInt8], limit: Int = 16 * 1024) throws -> Bool {
    let place = bytes.count
    bytes += [UInt8](repeating: 0, count: min(limit, 16 * 1024))
    let count = bytes[place...].withUnsafeMutableBytes {
      recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    let error = errno
    bytes.removeLast(bytes.count - place - max(count, 0))
    if count < 0, error != ECONNRESET { throw SystemError(number: error) }
    return count > 0
  }

  /// Waits until there is something to receive, be it the end; returns false if there is nothing within the time.
  public func canReceive(within time: Duration) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, Int32(time / .milliseconds(1))) > 0
  }

  /// Sends no more.
  public func closeWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Closes the connection.
  public func close() {
    if !isClosed { Glibc.close(descriptor) }
    isClosed = true
  }

  /// Closes the connection with a reset.
  public func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close()
  }
}
