import FormStreamPlatform

/// What a request authenticates itself with. It is never shown in errors, traces or records.
public struct Credentials: Sendable, Hashable, CustomStringConvertible {
  /// The value of the `Authorization` header.
  var header: String { hiddenHeader.value }
  private let hiddenHeader: Hidden<String>
  /// Whether these are a user and a password: curl passes those with `-u`, and others with `-H`.
  package let isBasic: Bool

  /// A user and a password (RFC 7617). They are not encrypted by themselves, so use https.
  public static func basic(user: String, password: String) -> Credentials {
    let header = "Basic " + base64(Array("\(user):\(password)".utf8))
    return Credentials(hiddenHeader: Hidden(header), isBasic: true)
  }

  /// A bearer token (RFC 6750).
  public static func bearer(_ token: String) -> Credentials {
    Credentials(hiddenHeader: Hidden("Bearer " + token), isBasic: false)
  }

  /// The kind of credentials, with everything else masked.
  public var description: String { isBasic ? "Basic ***" : "Bearer ***" }
}
