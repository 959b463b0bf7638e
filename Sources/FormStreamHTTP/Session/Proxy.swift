import FormStreamMultipart
import FormStreamPlatform

/// A proxy: its protocol, its address, and its credentials.
struct Proxy: Hashable, Sendable {
  /// The protocol that is spoken with a proxy, as the scheme of the proxy's URL.
  enum Kind: String, CaseIterable {
    case http, https
    /// Names are resolved on this machine, to addresses of IPv4. SOCKS4 sends the user, and no password.
    case socks4
    /// SOCKS4, but names are resolved by the proxy.
    case socks4a
    /// Names are resolved on this machine.
    case socks5
    /// Names are resolved by the proxy.
    case socks5h

    /// The name of the protocol.
    var protocolName: String {
      switch self {
      case .http, .https: "HTTP"
      case .socks4, .socks4a: "SOCKS4"
      case .socks5, .socks5h: "SOCKS5"
      }
    }

    /// Whether the proxy gets a password in addition to the user.
    var hasPasswords: Bool { self != .socks4 && self != .socks4a }
  }

  let kind: Kind
  /// The host, in lower case.
  let host: String
  let port: Int
  /// The user and the password of the proxy's URL; nil if it has none.
  var credentials: ProxyCredentials?

  /// Parses `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`, as curl does; nil if the text has another form.
  init?(_ text: String) {
    let (scheme, rest) = text.splitScheme
    guard let kind = scheme.map({ Kind(rawValue: $0.lowercased()) }) ?? .http,
      // A URL's host is read only if its scheme is http or https, so this URL always has `http`.
      let url = try? URLParts(parsing: "http://\(rest)"), url.path == "/", url.query == nil
    else { return nil }
    self.kind = kind
    host = url.host.text.lowercased()
    // curl's default ports.
    port = url.port ?? (kind == .https ? 443 : 1080)
    if let user = url.user { credentials = ProxyCredentials(user: user, password: url.password ?? "") }
  }

  /// Whether the proxy speaks HTTP, with or without TLS.
  var isHTTP: Bool { kind == .http || kind == .https }
  /// Whether the connection to the proxy is encrypted with TLS.
  var isEncrypted: Bool { kind == .https }
}

extension Proxy: CustomStringConvertible {
  /// The proxy without its credentials: `http://proxy.example:3128`.
  var description: String { "\(kind.rawValue)://\(host):\(port)" }
}

extension String {
  /// The text before and after `://`; nil and the complete text if there is no `://`.
  fileprivate var splitScheme: (scheme: Substring?, rest: Substring) {
    guard let separator = firstRange(of: "://") else { return (nil, self[...]) }
    return (self[..<separator.lowerBound], self[separator.upperBound...])
  }
}
