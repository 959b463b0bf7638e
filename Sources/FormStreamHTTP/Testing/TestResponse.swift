public import FormStreamMultipart

/// The response of a test; see ``TransferSession/init(_:answering:)``.
///
/// ```swift
/// .json(#"{"id": 7}"#, status: 201)  // what a server would send
/// .status(503)                       // a server that is overloaded
/// .lost                              // the client can't know whether the server acted: `unknown` for a POST
/// .text("a long text").cut(after: 3) // the connection ends in the middle of the response
/// ```
public struct TestResponse: Sendable {
  /// The status.
  public var status: Int
  /// The headers. A `Content-Length` is added if it is missing. If it differs from the length of the body, the connection ends
  /// after the body.
  public var headers: HTTPHeaders
  /// The body.
  public var body: [UInt8]
  /// How many bytes of the body are sent in a second; nil sends the body at once.
  public var bytesPerSecond: Int?
  /// Whether the request's body is read before the response is sent. If not, the response is early, and the connection ends after
  /// it. After ``silent`` without the body, a request of 1 MiB or more waits in the middle of its body.
  public var followsBody = true
  var ending = Ending.complete

  enum Ending: Sendable {
    case complete
    case cut(after: Int)
    case lost
    case silent
  }

  /// Creates a response.
  public init(status: Int = 200, headers: HTTPHeaders = [:], body: some Sequence<UInt8> = []) {
    self.status = status
    self.headers = headers
    self.body = Array(body)
  }

  /// A response without a body.
  public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> TestResponse {
    TestResponse(status: status, headers: headers)
  }

  /// A response with text.
  public static func text(
    _ text: String, status: Int = 200, headers: HTTPHeaders = [:]
  ) -> TestResponse {
    TestResponse(status: status, headers: headers, body: text.utf8)
      .withType("text/plain; charset=utf-8")
  }

  /// A response with JSON as text.
  public static func json(
    _ text: String, status: Int = 200, headers: HTTPHeaders = [:]
  ) -> TestResponse {
    TestResponse(status: status, headers: headers, body: text.utf8).withType("application/json")
  }

  /// A redirect to another URL, which is absolute or relative.
  public static func redirect(to location: String, status: Int = 307) -> TestResponse {
    TestResponse(status: status, headers: ["Location": location])
  }

  /// No response: the connection ends. If the function that answers has not read the request's body, nobody reads it. But the system
  /// takes small bodies before the connection ends, and then the client can't know that nobody read them.
  public static let lost = TestResponse(ending: .lost)

  /// No response, and no end of the connection: the request is read, and goes on until it is cancelled, or until a time limit ends
  /// it.
  public static let silent = TestResponse(ending: .silent)

  private init(ending: Ending) {
    self.init()
    self.ending = ending
  }

  /// This response, but the connection ends after so many bytes of the body.
  public func cut(after count: Int) -> TestResponse {
    var response = self
    response.ending = .cut(after: max(count, 0))
    return response
  }

  /// This response, but its body is sent slowly.
  public func slowed(to bytesPerSecond: Int) -> TestResponse {
    var response = self
    response.bytesPerSecond = bytesPerSecond
    return response
  }

  package func withType(_ type: String) -> TestResponse {
    var response = self
    if !headers.contains("Content-Type") { response.headers.append("Content-Type", type) }
    return response
  }
}

extension TestResponse {
  /// The response to a request that could not be answered.
  init(failure: any Error) {
    self = .text("The test did not answer: \(failure)\n", status: 500)
  }

  /// This response, or one that says why it can't be sent.
  var checked: TestResponse {
    guard (200...999).contains(status) else {
      return .text("The test's status \(status) is not that of a response.\n", status: 500)
    }
    for header in headers
    where !HTTPSyntax.isToken(header.name.utf8) || !HTTPSyntax.isFieldValue(header.bytes) {
      return .text("The test's header \(header.name.quoted) is not valid.\n", status: 500)
    }
    return self
  }

  /// The bytes of the head.
  var head: [UInt8] {
    var head = Array("HTTP/1.1 \(status) \r\n".utf8)
    for header in headers { head += Array("\(header.name): ".utf8) + header.bytes + Array("\r\n".utf8) }
    if !isWithoutBody, !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding") {
      head += Array("Content-Length: \(body.count)\r\n".utf8)
    }
    return head + Array("\r\n".utf8)
  }

  /// Whether the client finds the end of the body by the headers. If the test has framed the body itself, this is not known.
  var isFramed: Bool {
    isWithoutBody
      || !headers.contains("Transfer-Encoding")
        && headers["Content-Length"].map { $0 == "\(body.count)" } != false
  }

  /// RFC 9110 §15.3.5 and §15.4.5: responses that never have a body.
  var isWithoutBody: Bool { status == 204 || status == 304 }
}
