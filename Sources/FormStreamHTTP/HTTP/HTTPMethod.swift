import FormStreamMultipart

/// A request method, such as `POST` (RFC 9110 §9).
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
  /// The method as written in the request line.
  public let description: String

  private init(_ text: String) {
    description = text
  }

  /// Parses a method; nil if it isn't a token (RFC 9110 §9.1: "method = token"), or is `CONNECT`, which requests a tunnel and
  /// not a resource. Methods are case-sensitive.
  public init?(parsing text: String) {
    guard HTTPSyntax.isToken(text.utf8), text.uppercased() != "CONNECT" else { return nil }
    self.init(text)
  }

  /// Gets a resource.
  public static let get = HTTPMethod("GET")
  /// Gets the head of the response to a GET.
  public static let head = HTTPMethod("HEAD")
  /// Sends content for the resource to process.
  public static let post = HTTPMethod("POST")
  /// Creates or replaces a resource.
  public static let put = HTTPMethod("PUT")
  /// Changes a part of a resource.
  public static let patch = HTTPMethod("PATCH")
  /// Deletes a resource.
  public static let delete = HTTPMethod("DELETE")
  /// Makes a collection of resources (RFC 4918 §9.3).
  package static let makeCollection = HTTPMethod("MKCOL")
  /// Asks what is possible with a resource.
  static let options = HTTPMethod("OPTIONS")

  /// Whether the method only reads (RFC 9110 §9.2.1: "safe").
  var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(description) }

  /// Whether sending the same request twice has the effect of sending it once.
  ///
  /// RFC 9110 §9.2.2: "PUT, DELETE, and safe request methods are idempotent."
  public var isIdempotent: Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(description)
  }
}
