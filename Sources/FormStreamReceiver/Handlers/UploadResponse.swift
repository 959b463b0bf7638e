import FormStreamIntake
public import FormStreamMultipart
import FormStreamPlatform

/// A handler's own response to an upload; see ``RespondingUpload`` and ``UploadHandler/responding(_:)``.
public struct UploadResponse: Hashable, Sendable {
  /// The status, from 200 to 599.
  public let status: Int
  /// The headers, in order.
  public let headers: HTTPHeaders
  /// The body.
  public let body: [UInt8]
  /// Whether the receiver's own body is sent instead of ``body``.
  private(set) var isRecord = false

  /// Whether the response refuses the upload. The files of a refused upload are removed, unless the handler has stored them
  /// before.
  public var isRefusal: Bool { status >= 400 }

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: the status. 204, 205 and 304 have no body.
  ///   - headers: the headers, without `Content-Length`, `Connection` and `Date`, which the receiver adds.
  ///   - type: the media type of the body; nil if there is none, or if `headers` has a `Content-Type`.
  ///   - body: the bytes of the body.
  /// - Throws: `invalidResponse`.
  public init(
    status: Int, headers: HTTPHeaders = [:], type: MediaType? = nil,
    body: some Sequence<UInt8> = []
  ) throws(ReceiverError) {
    self.status = status
    var all: HTTPHeaders = [:]
    if let type { all.append("Content-Type", type.description) }
    for header in headers { all.append(header) }
    self.headers = all
    self.body = Array(body)
    if let flaw {
      throw ReceiverError(
        .invalidResponse, on: "\(status)",
        "The handler's response with status \(status) can't be sent: \(flaw).")
    }
  }

  /// A response of the receiver itself, whose parts are not checked.
  init(ownStatus: Int, headers: HTTPHeaders, body: [UInt8]) {
    (status, self.headers, self.body) = (ownStatus, headers, body)
  }

  /// Creates a response whose body is text.
  ///
  /// - Throws: `invalidResponse`.
  public init(
    status: Int, headers: HTTPHeaders = [:],
    type: MediaType = "text/plain; charset=utf-8", text: String
  ) throws(ReceiverError) {
    try self.init(status: status, headers: headers, type: type, body: text.utf8)
  }

  /// The receiver's own response, which is the record or a page for browsers, with another status.
  ///
  /// - Parameter status: the status. 204, 205 and 304 have no body, and so no record.
  /// - Throws: `invalidResponse`.
  public static func record(status: Int) throws(ReceiverError) -> UploadResponse {
    var response = try UploadResponse(status: status)
    response.isRecord = !withoutBody.contains(status)
    return response
  }

  /// The statuses without a body: RFC 9110 §15.3.5, §15.3.6 and §15.4.5.
  private static let withoutBody = [204, 205, 304]

  private var flaw: String? {
    guard (200...599).contains(status) else { return "use a status from 200 to 599" }
    guard headers.count(where: { $0.name.isSameHeaderName(as: "Content-Type") }) <= 1 else {
      return
        "it has more than one Content-Type; give the type of the body once, as its type or as a header"
    }
    if !body.isEmpty, Self.withoutBody.contains(status) { return "this status has no body" }
    for header in headers {
      guard HTTPSyntax.isToken(header.name.utf8) else {
        return "the header name \(header.name.quoted) is not valid"
      }
      guard HTTPSyntax.isFieldValue(header.bytes) else {
        return "the value of the header \(header.name.quoted) contains a control character"
      }
      if Self.derived.contains(where: header.name.isSameHeaderName) {
        return "the header \(header.name.quoted) is derived"
      }
    }
    return nil
  }

  /// The headers that a handler must not set: headers that belong to the connection (RFC 9110 §7.6.1), and headers that the
  /// server adds.
  private static let derived = [
    "Connection", "Content-Length", "Date", "Keep-Alive", "Transfer-Encoding", "Trailer", "Upgrade",
  ]
}
