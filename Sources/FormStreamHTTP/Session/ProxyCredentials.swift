import FormStreamPlatform

/// A user and a password for a proxy (as in Basic or SOCKS). They are sent only to the proxy, and never shown in errors, traces
/// or records.
public struct ProxyCredentials: Sendable, Hashable, CustomStringConvertible {
  private let hiddenUser: Hidden<String>
  private let hiddenPassword: Hidden<String>

  /// A user and a password. They are sent without encryption to an `http` or SOCKS proxy.
  public init(user: String, password: String) {
    (hiddenUser, hiddenPassword) = (Hidden(user), Hidden(password))
  }

  var user: String { hiddenUser.value }
  var password: String { hiddenPassword.value }

  /// `***`, which shows only that there are credentials.
  public var description: String { "***" }
}
