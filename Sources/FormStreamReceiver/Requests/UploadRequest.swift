import FormStreamIntake
public import FormStreamMultipart

/// The head of a request. Handlers get only the heads of requests that upload something.
public struct UploadRequest: Hashable, Sendable {
  /// How the end of a body is marked (RFC 9112 §6).
  public enum Framing: String, Hashable, Sendable {
    /// By `Content-Length`.
    case contentLength = "content-length"
    /// By `Transfer-Encoding: chunked`.
    case chunked
    /// There is no body.
    case none
  }

  /// The client's address and port, such as `127.0.0.1:50312`.
  public let peer: String
  /// The method, which is `POST` or `PUT` if the request uploads something.
  public let method: String
  /// The target as the client sent it: path and query.
  public let target: String
  /// The version of HTTP, such as `HTTP/1.1`.
  public let version: String
  /// The path, percent-decoded. It may contain anything, such as `..`. Bytes that are not UTF-8 are replaced by U+FFFD.
  public let path: String
  /// The headers in order, with their names as the client wrote them.
  public let headers: HTTPHeaders
  /// How the body is framed.
  public internal(set) var framing: Framing
  /// The announced length of the body; nil if none was announced.
  public internal(set) var contentLength: Int64?
  /// Whether the complete body has arrived already, as the body of a resumable upload has. Then no room is needed for it.
  var hasArrived = false

  /// Whether the upload may be stored only if its target's name is free: the client sent `If-None-Match: *` (RFC 9110
  /// §13.1.2) with a PUT. If the name is taken, refuse with status 412.
  public var mustBeNew: Bool { self["If-None-Match"] != nil }

  /// Creates a head, for tests of a handler.
  public init(
    peer: String = "127.0.0.1:1", method: String = "POST", target: String = "/",
    version: String = "HTTP/1.1", path: String = "/", headers: HTTPHeaders = [:],
    framing: Framing = .none,
    contentLength: Int64? = nil
  ) {
    self.peer = peer
    self.method = method
    self.target = target
    self.version = version
    self.path = path
    self.headers = headers
    self.framing = framing
    self.contentLength = contentLength
  }

  /// The value of the first header with that name, ignoring case.
  public subscript(name: String) -> String? { headers[name] }
}
