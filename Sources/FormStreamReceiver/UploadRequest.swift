public import FormStreamIntake
import FormStreamMultipart

/// The head of a request that wants to upload something.
public struct UploadRequest: Hashable, Sendable {
  /// What tells where the body ends.
  public enum Framing: String, Hashable, Sendable {
    /// `Content-Length`.
    case contentLength = "content-length"
    /// `Transfer-Encoding: chunked`.
    case chunked
    /// There is no body.
    case none
  }

  /// The client's address and port, such as `127.0.0.1:50312`.
  public let peer: String
  /// `POST` or `PUT`.
  public let method: String
  /// The target as it was sent: path and query.
  public let target: String
  /// The target's path, decoded, and repaired where it is no UTF-8. It may hold anything, `..` too.
  public let path: String
  /// The headers in order; their names are as they were written.
  public let headers: [PartDescription.Header]
  /// How the body is framed.
  public let framing: Framing
  /// The body's length, where it was announced.
  public let contentLength: Int64?

  /// The head of a request, for the tests of a handler.
  public init(
    peer: String = "127.0.0.1:1", method: String = "POST", target: String = "/",
    path: String = "/", headers: [PartDescription.Header] = [], framing: Framing = .none,
    contentLength: Int64? = nil
  ) {
    self.peer = peer
    self.method = method
    self.target = target
    self.path = path
    self.headers = headers
    self.framing = framing
    self.contentLength = contentLength
  }

  /// The first header of a name, in whatever case its letters are.
  public subscript(name: String) -> String? {
    headers.first { $0.name.isSameHeaderName(as: name) }?.value
  }
}
