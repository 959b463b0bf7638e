import Glibc
import FormStreamMultipart
import Synchronization

/// A server on a free port of the loopback. It takes one connection after the other with one request
/// each, notes all bytes, gives the answers that it was made with, byte for byte, and closes.
public final class LoopbackServer: Sendable {
  /// The answer that all is well.
  public static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

  /// The port.
  public let port: UInt16

  private let descriptor: Int32
  private let state = Mutex<[[UInt8]]>([])

  /// Starts to listen.
  ///
  /// - Parameter answers: one a connection. With none, nobody is let in; see `hasCaller`.
  public init(answers: [String] = [LoopbackServer.ok]) throws {
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
    if !answers.isEmpty { runDetached { for answer in answers { self.serve(answer) } } }
  }

  deinit { close(descriptor) }

  /// What was received on each connection, whole or not.
  public var requests: [[UInt8]] { state.withLock(\.self) }

  /// All that was received on the first connection.
  public var received: [UInt8] { requests.first ?? [] }

  /// Whether a connection waits to be let in. The system takes connections for us, so nobody who has
  /// tried is missed.
  public var hasCaller: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) > 0
  }

  private func serve(_ answer: String) {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return }
    defer { close(connection) }
    let index = state.withLock { requests in
      requests.append([])
      return requests.count - 1
    }
    var request: [UInt8] = []
    var hasBidden = false
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while ReceivedRequest(request) == nil {
      let count = recv(connection, &buffer, buffer.count, 0)
      if count <= 0 { return }
      request.append(contentsOf: buffer[..<count])
      state.withLock { [request] in $0[index] = request }
      // RFC 9110 §10.1.1: who sends this waits for leave to send the body.
      if !hasBidden, ReceivedRequest.head(of: request)?.contains("Expect: 100-continue") == true {
        hasBidden = true
        send("HTTP/1.1 100 Continue\r\n\r\n", to: connection)
      }
    }
    send(answer, to: connection)
  }

  private func send(_ text: String, to connection: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
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
    // RFC 9112 §6.3: "If a message is received with both a Transfer-Encoding and a Content-Length
    // header field, the Transfer-Encoding overrides the Content-Length." Without either there is none.
    if Self.header("Transfer-Encoding", in: head) == "chunked" {
      guard let body = Self.dechunked(rest) else { return nil }
      self.body = body
    } else {
      let length = Self.header("Content-Length", in: head).flatMap { Int($0) } ?? 0
      guard rest.count >= length else { return nil }
      body = Array(rest)
    }
  }

  /// The value of the first header of that name, which is compared without regard to case.
  public func header(_ name: String) -> String? { Self.header(name, in: head) }

  private static func header(_ name: String, in head: String) -> String? {
    let prefix = name.lowercased() + ": "
    return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
  }

  /// The request line and the headers, once they are whole.
  static func head(of bytes: [UInt8]) -> String? {
    var rest = bytes[...]
    return take(&rest, upTo: [13, 10, 13, 10]).map { String(decoding: $0, as: UTF8.self) }
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
