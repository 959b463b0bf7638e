import FormStreamMultipart
import FormStreamNet
import FormStreamPlatform
import FormStreamWire

/// A request as it is written to a socket.
extension WireRequest {
  /// The head. Its headers have the names and the order that the caller gave them, between the headers that are derived.
  var head: RequestHead {
    var lines = HTTPHeaders()
    lines.append("Host", bytes: Array((headers["Host"] ?? url.hostField).utf8))
    // The lengths that HTTP/1.1 derives from the body stand where libcurl writes them.
    let framing: RequestHead.Framing = announcesBody ? bodyLength.map { .length($0) } ?? .chunked : .none
    let framingIndex = framing == .chunked ? lines.count : .max
    if let cookieLine { lines.append("Cookie", bytes: cookieLine) }
    for field in headers.fields
    where !field.name.isSameHeaderName(as: "Host") && (cookieJar == nil || !field.name.isSameHeaderName(as: "Cookie")) {
      lines.append(field.name, bytes: field.bytes)
    }
    if awaitsContinue { lines.append("Expect", "100-continue") }
    if !headers.contains("Accept"), !options.omits("Accept") { lines.append("Accept", "*/*") }
    // Without this header a server may choose any coding (RFC 9110 §12.5.3).
    if !headers.contains("Accept-Encoding"), !options.omits("Accept-Encoding") {
      lines.append("Accept-Encoding", options.responseCompression == nil ? "identity" : "deflate, gzip")
    }
    return RequestHead(
      method: method.description, target: attempt.target ?? url.requestTarget, headers: lines, framing: framing,
      framingIndex: framingIndex)
  }

  /// Whether the head asks for 100. A body without bytes is not asked about (RFC 9110 §10.1.1).
  var awaitsContinue: Bool { expectTimeout != nil && announcesBody && bodyLength != 0 }

  /// The size of the pieces in which the body is written: the configured size, or less for a short body, because all bytes of a
  /// piece may be sent at once.
  var pieceSize: Int {
    let size = configuration.uploadBufferSize
    guard let length = bodyLength.map({ Int(clamping: $0) }) else { return size }
    return min(size, max(16 * 1024, min(length, 64 * 1024), length / 16)) + Connection.chunkEnd
  }

  /// Whether the request goes over a socket of our own; otherwise, libcurl sends it.
  var usesSocket: Bool {
    !libcurlIsChosen && proxy == nil && !isEncrypted && !hasPriorKnowledge
  }
}

/// Whether the environment asks for libcurl where sockets of our own do the same. Tests compare the two as long as there are two.
private let libcurlIsChosen = environmentVariable("FORMSTREAM_WIRE") == "libcurl"
