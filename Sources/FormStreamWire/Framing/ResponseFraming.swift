/// How the end of a response's body is found (RFC 9112 §6.3).
package enum ResponseFraming: Hashable, Sendable {
  /// There is no body.
  case none
  /// The body has this many bytes.
  case length(Int64)
  /// The body comes in chunks.
  case chunked
  /// The body ends with the connection.
  case untilClose
}

/// What the method of a request says about the body of its response.
enum ResponseRule: Sendable {
  /// A response may have a body.
  case ordinary
  /// A response never has a body (HEAD).
  case headOnly
  /// A response of the class 2xx never has a body (CONNECT): the bytes after it are those of the tunnel.
  case tunnel

  /// Methods are case-sensitive (RFC 9110 §9.1).
  init(method: String) {
    switch method {
    case "HEAD": self = .headOnly
    case "CONNECT": self = .tunnel
    default: self = .ordinary
    }
  }
}

extension ResponseHead {
  /// How the end of the body is found, and why the connection can't be used after it; nil if it can.
  func framing(_ rule: ResponseRule) throws(WireError) -> (ResponseFraming, ClosingReason?) {
    if rule == .tunnel, (200...299).contains(status) { return (.none, .tunnel) }
    let said = FramingHeaders(of: self)
    // RFC 9112 §6.3: "Any response to a HEAD request and any response with a 1xx (Informational), 204 (No Content), or 304 (Not
    // Modified) status code is always terminated by the first empty line after the header fields, regardless of the header
    // fields present in the message".
    guard rule != .headOnly, !isInterim, status != 204, status != 304 else {
      return (.none, isFaulty(said) || isBodyAnnounced(said, rule) ? .falseFraming : nil)
    }
    if let error = said.error { throw error }
    guard let coding = said.coding else {
      // RFC 9112 §6.3: "Otherwise, this is a response message without a declared message body length, so the message body
      // length is determined by the number of octets received prior to the server closing the connection."
      return said.length.map { (.length($0), nil) } ?? (.untilClose, .untilClose)
    }
    // RFC 9112 §6.3: "If a message is received with both a Transfer-Encoding and a Content-Length header field, the
    // Transfer-Encoding overrides the Content-Length."
    switch coding {
    case .chunked: return (.chunked, isFaulty(said) ? .falseFraming : nil)
    case .identity: return (.untilClose, .untilClose)
    }
  }

  /// Whether the framing is faulty, whether there is a body or not. RFC 9112 §6.3: a message with both headers "might indicate an
  /// attempt to perform request smuggling". §6.1: a client that receives a Transfer-Encoding in HTTP/1.0 "MUST treat the message as
  /// if the framing is faulty, even if a Content-Length is present, and close the connection after processing the message".
  private func isFaulty(_ said: FramingHeaders) -> Bool {
    said.coding != nil && (said.length != nil || minorVersion == 0)
  }

  /// Whether a response that has no body says that it has one: another program may wait for the body. In a response to HEAD and
  /// in a 304, the headers describe the response to a GET; a 1xx or 204 never has a body.
  private func isBodyAnnounced(_ said: FramingHeaders, _ rule: ResponseRule) -> Bool {
    if said.error != nil { return true }
    if status == 304 || rule == .headOnly && !isInterim && status != 204 { return false }
    return said.length ?? 0 > 0 || said.coding == .chunked
  }
}
