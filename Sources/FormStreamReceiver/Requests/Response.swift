import FormStreamMultipart

/// A response of the receiver.
struct Response: Sendable {
  var status: Int
  var headers: HTTPHeaders
  var body: [UInt8]
  /// Whether the connection is closed after the response.
  var closes = false

  private init(status: Int, type: String, body: [UInt8]) {
    self.status = status
    self.body = body
    headers = [
      "Content-Type": type, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
    ]
  }

  /// A page for browsers.
  static func page(_ html: String, status: Int = 200) -> Response {
    var response = Response(
      status: status, type: "text/html; charset=utf-8", body: Array(html.utf8))
    response.headers.append("Content-Security-Policy", UploadPage.contentSecurityPolicy)
    // For browsers that don't know `frame-ancestors`.
    response.headers.append("X-Frame-Options", "DENY")
    response.headers.append("Referrer-Policy", "same-origin")
    return response
  }

  /// The response of a handler.
  init(_ response: UploadResponse) {
    (status, headers, body) = (response.status, response.headers, response.body)
  }

  /// A response that was kept.
  init(kept status: Int, headers: HTTPHeaders, body: [UInt8]) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// A response without a body about a resumable upload.
  static func uploads(_ status: Int, _ headers: HTTPHeaders) -> Response {
    var all: HTTPHeaders = ["Cache-Control": "no-store"]
    for header in headers { all.append(header) }
    return Response(kept: status, headers: all, body: [])
  }

  /// The record of a request.
  static func json(_ line: [UInt8], status: Int) -> Response {
    Response(status: status, type: "application/json", body: line)
  }

  /// The sentence of a refusal.
  static func text(_ sentence: String, for refusal: UploadRefusal) -> Response {
    var response = Response(
      status: refusal.status, type: "text/plain; charset=utf-8", body: Array("\(sentence)\n".utf8))
    response.addHeaders(of: refusal)
    return response
  }

  /// Adds the headers that tell the client what to do about the refusal.
  mutating func addHeaders(of refusal: UploadRefusal) {
    switch refusal.status {
    case 401: for challenge in AccessControl.challenges { headers.append(challenge) }
    case 405: headers.append("Allow", "GET, HEAD, POST, PUT")
    // RFC 9110 §10.2.3: "how long the service is expected to be unavailable", in seconds.
    case 503: headers.append("Retry-After", refusal.code == .stopping ? "5" : "1")
    default: break
    }
  }

  /// The response as it is sent under TLS. RFC 6797 §6.1: a browser that got it under a name with a valid certificate never again
  /// asks for that name without TLS. A handler may have set the header itself.
  var underTLS: Response {
    let name = "Strict-Transport-Security"
    guard !headers.contains(where: { $0.name.isSameHeaderName(as: name) }) else { return self }
    var response = self
    response.headers.append(name, "max-age=31536000")
    return response
  }

  /// The response's bytes on the wire, for responses that libmicrohttpd can't send. Such a response ends the
  /// connection.
  func bytes(reason: String, date: String, hasBody: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(reason)\r\nDate: \(date)\r\n"
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    head += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    return Array(head.utf8) + (hasBody ? body : [])
  }
}
