import FormStreamPlatform

/// What a proxy is shown: a user and a password (Basic, or those of SOCKS). They are sent to the proxy alone, and never
/// shown in errors, traces or records.
public struct ProxyCredentials: Sendable, Hashable, CustomStringConvertible {
  private let hiddenUser: Hidden<String>
  private let hiddenPassword: Hidden<String>

  /// A user and a password. To a proxy of `http` or SOCKS they are sent as they are, without encryption.
  public init(user: String, password: String) {
    (hiddenUser, hiddenPassword) = (Hidden(user), Hidden(password))
  }

  var user: String { hiddenUser.value }
  var password: String { hiddenPassword.value }

  /// That there are credentials, with everything masked.
  public var description: String { "***" }
}
