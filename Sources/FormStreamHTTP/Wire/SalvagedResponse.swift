import FormStreamMultipart

/// A response that was still unread in a socket when writing to the socket failed. A server that refuses a body early
/// sends a response and closes the connection. A client that is still sending notices the closed connection before the
/// response.
enum SalvagedResponse {
  /// Feeds the unread bytes to a collector, as libcurl would have done. Returns whether they included the complete
  /// head of a final response.
  static func feed(_ bytes: [UInt8], to collector: ResponseCollector) -> Bool {
    // RFC 9112 §2.1: a message begins with its start-line, and there is nothing before it.
    guard !collector.hasResponse, !collector.isInHead, bytes.starts(with: "HTTP/1.".utf8) else {
      return false
    }
    return bytes.withUnsafeBytes { all in
      var rest = all[...]
      while !collector.hasResponse {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        guard collector.receive(headLine: UnsafeRawBufferPointer(rebasing: rest[...end])) else {
          return false
        }
        rest = rest[(end + 1)...]
      }
      feedBody(UnsafeRawBufferPointer(rebasing: rest), to: collector)
      return true
    }
  }

  /// Feeds the part of the body that has arrived. The body may be incomplete: people read it, and programs don't rely
  /// on it.
  private static func feedBody(_ rest: UnsafeRawBufferPointer, to collector: ResponseCollector) {
    let length = collector.headers["Content-Length"].flatMap { Int($0) }
    // Only the status matters, so a body in chunks is not decoded.
    guard !collector.headers.contains("Transfer-Encoding") else { return collector.truncate() }
    let expected = length.map { rest.prefix(max($0, 0)) } ?? rest[...]
    // The body fits into the collector's buffer, which is empty.
    let body = UnsafeRawBufferPointer(rebasing: expected)
    if case .later = collector.receive(body: body) { collector.keepUntilChoice(body) }
    // Without a length it is unknown whether more would have followed.
    if rest.count < length ?? .max { collector.truncate() }
  }
}
