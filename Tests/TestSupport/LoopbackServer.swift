import Glibc
import Multipart
import Synchronization

/// A server on a free port of the loopback that takes one connection and one request, notes all bytes,
/// answers 200 and closes.
public final class LoopbackServer: Sendable {
  /// The port.
  public let port: UInt16

  private let descriptor: Int32
  private let state = Mutex<[UInt8]>([])

  /// Starts to listen.
  public init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(number: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = descriptor
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        if bind(listening, pointer, size) < 0 || listen(listening, 8) < 0 { return Int32(-1) }
        return getsockname(listening, pointer, &size)
      }
    }
    guard result == 0 else { throw SystemError(number: errno) }
    port = UInt16(bigEndian: address.sin_port)
    onThread { self.serve() }
  }

  /// All that was received in the one request.
  public var received: [UInt8] { state.withLock(\.self) }

  private func serve() {
    defer { close(descriptor) }
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return }
    defer { close(connection) }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while !isWhole(received) {
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return }
      state.withLock { $0.append(contentsOf: buffer[..<count]) }
    }
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
  }

  private func isWhole(_ bytes: [UInt8]) -> Bool {
    ReceivedRequest(bytes) != nil
  }
}

/// A request, its body taken out of its framing (RFC 9112 §6).
public struct ReceivedRequest {
  /// The request line and the headers.
  public let head: String
  /// The body without its framing.
  public let body: [UInt8]

  /// Takes the bytes of a whole request; nil where they are not whole yet.
  public init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    guard let start = Self.take(&rest, upTo: [13, 10, 13, 10]) else { return nil }
    head = String(decoding: start, as: UTF8.self)
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      .flatMap { Int($0.dropFirst("Content-Length: ".count)) }
    if let length {
      guard rest.count >= length else { return nil }
      body = Array(rest)
    } else {
      guard let body = Self.dechunked(rest) else { return nil }
      self.body = body
    }
  }

  /// RFC 9112 §7.1: chunk = chunk-size CRLF chunk-data CRLF, up to a chunk of size 0.
  private static func dechunked(_ chunks: ArraySlice<UInt8>) -> [UInt8]? {
    var rest = chunks
    var body: [UInt8] = []
    while true {
      guard let line = take(&rest, upTo: [13, 10]),
        let size = Int(String(decoding: line, as: UTF8.self), radix: 16), rest.count >= size + 2
      else { return nil }
      body.append(contentsOf: rest.prefix(size))
      rest = rest.dropFirst(size + 2)
      if size == 0 { return body }
    }
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, upTo end: [UInt8]) -> [UInt8]? {
    var start = rest.startIndex
    while start + end.count <= rest.endIndex {
      if rest[start] == end[0], rest[start..<start + end.count].elementsEqual(end) {
        defer { rest = rest[(start + end.count)...] }
        return Array(rest[..<start])
      }
      start += 1
    }
    return nil
  }
}
