/// Facts about HTTP/2 that libcurl reports only in its verbose output.
///
/// Other versions of libcurl may use other words. Then fewer facts are known, and less is claimed.
struct HTTP2Notes {
  /// The protocol that the server chose with ALPN, empty if it chose none; nil if that isn't known.
  private(set) var chosenProtocol: String?
  /// Whether the server has not looked at the request.
  private(set) var isRefused = false
  /// Whether the server demands HTTP/1.1 for the request.
  private(set) var requiresHTTP11 = false
  /// Whether the server ended the stream without an error before it had the complete request. It has sent a response
  /// (RFC 9113 §8.1), but libcurl drops a response that arrives together with this end.
  private(set) var hasEndedEarly = false
  /// Whether libcurl has put the connection back, for other requests.
  private(set) var isConnectionFree = false
  /// Whether the connection was made with TLS 1.2, whose records don't hide their types.
  private(set) var hasOpenRecordTypes = false
  /// The request's stream; nil if it has none yet.
  private var stream: Int?
  /// Whether libcurl has taken the request off its connection.
  private var hasLeft = false

  /// Forgets all notes but those about the connection itself, because a request begins on it.
  mutating func beginRequest() {
    self = HTTP2Notes(chosenProtocol: chosenProtocol, hasOpenRecordTypes: hasOpenRecordTypes)
  }

  /// Notes a line. Returns the last stream that the server handles, if the line names it for the request's connection.
  mutating func note(_ bytes: UnsafeRawBufferPointer) -> Int? {
    // Most lines begin with other letters, and are skipped.
    guard let first = bytes.first, "ACDRSUrs".utf8.contains(first) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace || $0 == "," }
    switch words.first {
    case "ALPN:" where words.starts(with: ["ALPN:", "server", "accepted"]):
      chosenProtocol = words.last.map(String.init)
    case "ALPN:" where words.starts(with: ["ALPN:", "server", "did", "not", "agree"]):
      chosenProtocol = ""
    case "SSL" where words.starts(with: ["SSL", "connection", "using", "TLSv1.2"]):
      hasOpenRecordTypes = true
    case "Using" where words.starts(with: ["Using", "Stream", "ID:"]):
      stream = words.count > 3 ? Int(words[3]) : nil
    // RFC 9113 §8.7: the server has not processed such a stream.
    case "REFUSED_STREAM": isRefused = true
    // libcurl 7.88 misspells "received".
    case "received" where words.dropFirst().first == "GOAWAY",
      "recveived" where words.dropFirst().first == "GOAWAY":
      // Before the request has a stream, libcurl looks at connections that other requests have used.
      guard stream != nil, !hasLeft,
        let last = words.last?.split(separator: "=").last.flatMap({ Int($0) })
      else { return nil }
      noteGoAway(lastStream: last)
      return last
    // libcurl goes on with another connection.
    case "Connection" where words.starts(with: ["Connection", "died"]): hasLeft = true
    case "Connection" where words.suffix(2) == ["left", "intact"]: isConnectionFree = true
    case "Downgrades": requiresHTTP11 = true
    case "stream" where words.count == 3 && words[2] == "closed": hasEndedEarly = true
    default: break
    }
    return nil
  }

  /// Notes that the connection's server handles no streams after the given one (RFC 9113 §6.8).
  mutating func noteGoAway(lastStream: Int) {
    if let stream, lastStream < stream { isRefused = true }
  }
}
