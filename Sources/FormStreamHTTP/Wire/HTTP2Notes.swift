/// Facts about HTTP/2 that libcurl reports only in its verbose output.
///
/// Other versions of libcurl may use other words. Fewer facts are then known, and errors claim less.
struct HTTP2Notes {
  /// The protocol that the server chose with ALPN, empty if it chose none; nil if that isn't known.
  private(set) var chosenProtocol: String?
  /// Whether the server has not processed the request (REFUSED_STREAM or GOAWAY).
  private(set) var isRefused = false
  /// Whether the server demands HTTP/1.1 for the request.
  private(set) var requiresHTTP11 = false
  /// Whether the server ended the stream without an error before it had the complete request. It has sent a response
  /// (RFC 9113 §8.1), but libcurl drops a response that arrives together with the end of the stream.
  private(set) var hasEndedEarly = false
  /// Whether libcurl has released the connection for other requests.
  private(set) var isConnectionFree = false
  /// Whether the connection was made with TLS 1.2, whose records don't hide their types.
  private(set) var hasOpenRecordTypes = false
  /// The request's stream; nil if it has none yet.
  private var stream: Int?
  /// Whether libcurl has moved the request to another connection.
  private var hasLeft = false

  /// Begins a request: forgets all notes except the notes about the connection itself.
  mutating func beginRequest() {
    self = HTTP2Notes(chosenProtocol: chosenProtocol, hasOpenRecordTypes: hasOpenRecordTypes)
  }

  /// Notes a line of libcurl's output. If the line is a GOAWAY on the request's connection, returns the last stream
  /// that the server handles; otherwise nil.
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
    // RFC 9113 §8.7: the server has not processed a stream that it refused.
    case "REFUSED_STREAM": isRefused = true
    // libcurl 7.88 misspells "received".
    case "received" where words.dropFirst().first == "GOAWAY",
      "recveived" where words.dropFirst().first == "GOAWAY":
      // Before the request has a stream, the line may be about another connection that libcurl checks.
      guard stream != nil, !hasLeft,
        let last = words.last?.split(separator: "=").last.flatMap({ Int($0) })
      else { return nil }
      noteGoAway(lastStream: last)
      return last
    // libcurl continues with another connection.
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
