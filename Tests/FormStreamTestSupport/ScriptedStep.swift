import FormStreamMultipart

/// One thing that a `ScriptedServer` does.
public enum ScriptedStep: Sendable {
  /// Reads the body to its end, or up to so many of its bytes in all, at most at `rate` bytes a second.
  case read(upTo: Int, rate: Int?)
  /// Sends these bytes, whatever they are.
  case sendBytes([UInt8])
  /// Sends these bytes one by one, each after such a time.
  case sendSlowly([UInt8], each: Duration)
  /// Sends an answer.
  case answer(ScriptedResponse)
  /// Sends `100 Continue` where the request waits for it, or always.
  case sendContinue(always: Bool)
  /// Sends an answer that isn't final, so many times.
  case informational(Int, headers: [(String, String)] = [], times: Int = 1)
  /// Does nothing until the client goes away.
  case stall
  /// Does nothing until the test opens the gate, or the client goes away.
  case waitFor(Gate)
  /// Opens a gate, for the test to see.
  case open(Gate)
  /// Takes it that no more of the body comes, as when a client that waits to go on is refused: what
  /// comes next is a request.
  case skipBody
  /// Sends no more; goes on reading.
  case closeWrite
  /// Closes at once, as a program does that ends: where bytes are unread, the system resets.
  case close
  /// Sends no more, reads until the client closes, and closes. What is read is surplus, where the body
  /// was whole before.
  case finish
  /// Resets the connection.
  case reset
  /// Notes a fault, and closes: there is no script for this request.
  case unexpected
  /// Does what is decided now, knowing the request as far as it came.
  case decide(@Sendable (RecordedRequest) -> [ScriptedStep])

  /// Reads all of the body.
  public static var readBody: Self { .read(upTo: .max, rate: nil) }
  /// Reads the body to its end, or up to so many of its bytes in all, at most at `rate` bytes a second.
  public static func readBody(upTo count: Int = .max, rate: Int? = nil) -> Self {
    .read(upTo: count, rate: rate)
  }
  /// Sends text, whatever it says.
  public static func send(_ text: String) -> Self { .sendBytes(Array(text.utf8)) }
  /// Sends bytes, whatever they are.
  public static func send(_ bytes: [UInt8]) -> Self { .sendBytes(bytes) }
  /// Sends `100 Continue`.
  public static var continue100: Self { .sendContinue(always: true) }
  /// Sends `100 Continue` where the request waits for it.
  public static var continueIfExpected: Self { .sendContinue(always: false) }
  /// Sends an answer.
  public static func respond(
    _ status: Int, headers: [(String, String)] = [], body: String = "",
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    respond(status, headers: headers, bytes: Array(body.utf8), framing: framing)
  }
  /// Sends an answer.
  public static func respond(
    _ status: Int, headers: [(String, String)] = [], bytes: [UInt8],
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    .answer(ScriptedResponse(status: status, headers: headers, body: bytes, framing: framing))
  }
}

extension [ScriptedStep] {
  /// What a good server does: bids the client go on where it waits, reads the body, and answers.
  public static func good(
    _ status: Int = 200, headers: [(String, String)] = [], body: String = "",
    framing: ScriptedResponse.Framing = .contentLength
  ) -> Self {
    [
      .continueIfExpected, .readBody,
      .respond(status, headers: headers, body: body, framing: framing),
    ]
  }
}

/// An answer, and how its body is framed.
public struct ScriptedResponse: Sendable {
  /// How an answer says where its body ends.
  public enum Framing: Sendable, Hashable {
    /// By its Content-Length, which is true.
    case contentLength
    /// By a Content-Length that is not. The connection is closed behind it.
    case announced(Int)
    /// By chunks of so many bytes, with trailers behind the last.
    case chunks(of: Int, trailers: [RecordedHeader])
    /// By the end of the connection.
    case close

    /// By one chunk.
    public static var chunked: Self { .chunks(of: .max, trailers: []) }
    /// By chunks, with trailers behind the last.
    public static func chunked(of size: Int = .max, trailers: [(String, String)]) -> Self {
      .chunks(of: size, trailers: trailers.map { RecordedHeader(name: $0.0, value: $0.1) })
    }
  }

  var status: Int
  var headers: [(String, String)]
  var body: [UInt8]
  var framing: Framing

  /// Whether nothing can follow on the connection.
  var closes: Bool {
    switch framing {
    case .close, .announced: true
    case .contentLength, .chunks:
      headers.contains { $0.0.lowercased() == "connection" && $0.1.lowercased() == "close" }
    }
  }

  /// The bytes to send.
  ///
  /// - Parameter toHead: whether HEAD was asked: then the body is announced, and left out.
  func bytes(toHead: Bool) -> [UInt8] {
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
    return Array(head.utf8) + [13, 10] + (toHead ? [] : content)
  }

  private static func chunks(_ body: [UInt8], of size: Int, _ trailers: [RecordedHeader]) -> [UInt8]
  {
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
