public import FormStreamMultipart

/// A server's response.
public struct TransferResponse: Sendable {
  /// The status, such as 200.
  public let status: Int
  /// The HTTP version of the response, such as `1.1` or `2`.
  public let version: String
  /// The URL that the response came from, after all redirects.
  public let url: HTTPURL
  /// The headers.
  public private(set) var headers: HTTPHeaders
  /// The body, or the part of it that was kept; empty if it went to another target.
  public private(set) var body: [UInt8]
  /// Whether a part of the body is missing. This can happen in a result that has an error, in the response to a refused
  /// request, and with ``ResponseTarget/truncated(at:)``.
  public internal(set) var isTruncated: Bool
  /// The tag of the request; see ``TransferRequest/tag``.
  public internal(set) var tag: (any Sendable)?
  /// The outcome of the request, for errors about this response; nil if the request's result has the outcome.
  package var outcome: TransferResult.Outcome?

  /// Creates a response, for tests of code that handles one.
  public init(
    status: Int, version: String = "1.1", url: HTTPURL, headers: HTTPHeaders = [:], body: [UInt8] = [],
    isTruncated: Bool = false, tag: (any Sendable)? = nil
  ) {
    self.status = status
    self.version = version
    self.url = url
    self.headers = headers
    self.body = body
    self.isTruncated = isTruncated
    self.tag = tag
  }

  var withoutBody: TransferResponse {
    var response = self
    response.body = []
    return response
  }

  /// This response with a `Location` that traces and records don't show.
  func hidingLocation(_ location: String) -> TransferResponse {
    var response = self
    response.headers.set("Location", location, isSecret: true)
    return response
  }

  /// This response with at most `limit` bytes of the body.
  func keeping(_ limit: Int) -> TransferResponse {
    var response = self
    response.body = Array(body.prefix(limit))
    response.isTruncated = isTruncated || body.count > limit
    return response
  }

  /// The body as text, with malformed UTF-8 replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
