/// A response and the framing of its body.
public struct ScriptedResponse: Sendable {
  /// How a response marks the end of its body.
  public enum Framing: Sendable, Hashable {
    /// A correct Content-Length.
    case contentLength
    /// A wrong Content-Length. The connection is closed after the response.
    case announced(Int)
    /// Chunks of that many bytes, and trailers.
    case chunks(of: Int, trailers: [RecordedHeader])
    /// The end of the connection.
    case close

    /// One chunk.
    public static var chunked: Self { .chunks(of: .max, trailers: []) }
    /// Chunks and trailers.
    public static func chunked(of size: Int = .max, trailers: [(String, String)]) -> Self {
      .chunks(of: size, trailers: trailers.map { RecordedHeader(name: $0.0, value: $0.1) })
    }
  }

  var status: Int
  var headers: [(String, String)]
  var body: [UInt8]
  var framing: Framing

  /// Whether the connection is closed after it.
  var closes: Bool {
    switch framing {
    case .close, .announced: true
    case .contentLength, .chunks:
      headers.contains { $0.0.lowercased() == "connection" && $0.1.lowercased() == "close" }
    }
  }

  /// The bytes to send.
  ///
  /// - Parameter isToHEAD: whether the request was HEAD. Then the body is announced and not sent.
  func bytes(toHEAD isToHEAD: Bool) -> [UInt8] {
    // RFC 9110 §8.6: no Content-Length with 1xx or 204.
    let hasNoBody = status < 200 || status == 204
    var head = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    var content: [UInt8] = hasNoBody || status == 304 ? [] : body
    switch framing {
    case _ where hasNoBody: break
    case .contentLength: head += "Content-Length: \(body.count)\r\n"
    case .announced(let count): head += "Content-Length: \(count)\r\n"
    case .close: head += "Connection: close\r\n"
    case .chunks(let size, let trailers):
      head += "Transfer-Encoding: chunked\r\n"
      content = Self.chunks(content, of: size, trailers)
    }
    return Array(head.utf8) + [13, 10] + (isToHEAD ? [] : content)
  }

  private static func chunks(_ body: [UInt8], of size: Int, _ trailers: [RecordedHeader]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = body[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(max(size, 1))
      rest = rest.dropFirst(chunk.count)
      result += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10]
    }
    let lines = trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
    return result + Array("0\r\n\(lines)\r\n".utf8)
  }

  private static func reason(_ status: Int) -> String {
    [
      100: "Continue", 102: "Processing", 103: "Early Hints", 200: "OK", 201: "Created",
      204: "No Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
      304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
      400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
      413: "Content Too Large", 416: "Range Not Satisfiable", 417: "Expectation Failed",
      429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
      503: "Service Unavailable", 507: "Insufficient Storage",
    ][status] ?? "Status"
  }
}
