import FormStreamPlatform

/// Who sends a request. What stands here is never shown: not in errors, traces or records.
public struct Credentials: Sendable, Hashable, CustomStringConvertible {
  /// The value of the `Authorization` header.
  let header: String
  /// As curl would be told them, behind `-u` or `-H`.
  package let isBasic: Bool

  /// A user and a password (RFC 7617): readable by whoever can read the request, so use https.
  public static func basic(user: String, password: String) -> Credentials {
    Credentials(header: "Basic " + base64(Array("\(user):\(password)".utf8)), isBasic: true)
  }

  /// A token (RFC 6750).
  public static func bearer(_ token: String) -> Credentials {
    Credentials(header: "Bearer " + token, isBasic: false)
  }

  /// Says that there are some, and nothing of them.
  public var description: String { isBasic ? "Basic ***" : "Bearer ***" }
}
