import FormStreamMultipart

/// What is asked of a resource, such as `POST`.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
  /// The method as it stands in the request line.
  public let description: String

  private init(_ text: String) {
    description = text
  }

  /// Takes any method; nil where it is no token (RFC 9110 §9.1: "method = token"), or is `CONNECT`, which
  /// asks for a tunnel and not for a resource. Case counts.
  public init?(parsing text: String) {
    guard HTTPSyntax.isToken(text.utf8), text.uppercased() != "CONNECT" else { return nil }
    self.init(text)
  }

  /// Asks for what is there.
  public static let get = HTTPMethod("GET")
  /// Asks for the head of what is there.
  public static let head = HTTPMethod("HEAD")
  /// Hands something over to be dealt with.
  public static let post = HTTPMethod("POST")
  /// Puts something in a place.
  public static let put = HTTPMethod("PUT")
  /// Changes something in part.
  public static let patch = HTTPMethod("PATCH")
  /// Takes something away.
  public static let delete = HTTPMethod("DELETE")

  /// Whether nothing is changed by it: RFC 9110 §9.2.1 calls these safe.
  var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(description) }

  /// Whether the same request sent twice means what it means once.
  ///
  /// RFC 9110 §9.2.2: "PUT, DELETE, and safe request methods are idempotent."
  public var isIdempotent: Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(description)
  }
}
