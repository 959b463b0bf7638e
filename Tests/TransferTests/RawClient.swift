import FormStream
import Glibc
import TestSupport

/// A client that sends exactly what it is told, right or wrong.
final class RawClient {
  private let descriptor: Int32
  private var isClosed = false

  init(_ address: LoopbackAddress) throws { descriptor = try connected(to: address) }

  convenience init(_ server: ScriptedServer) throws {
    try self.init(.ip("127.0.0.1", port: server.port))
  }

  deinit { close() }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var place = 0
    while place < bytes.count {
      let count = bytes[place...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count >= 0 else { throw SystemError(number: errno) }
      place += count
    }
  }

  /// Receives until `end` stands at the end of it, or the server closes.
  func receive(upTo end: String? = nil) throws -> String {
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

  /// Sends no more.
  func closeWrite() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() {
    if !isClosed { Glibc.close(descriptor) }
    isClosed = true
  }

  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close()
  }
}

/// Runs curl, quietly, without a configuration of the user's.
func curl(_ arguments: String...) throws -> Invocation {
  try run(program: "/usr/bin/env", ["curl", "-q", "-sS"] + arguments)
}
