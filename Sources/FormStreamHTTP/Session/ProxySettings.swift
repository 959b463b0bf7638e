public import FormStreamMultipart
import FormStreamPlatform

/// Which proxy requests go through, and which go directly to their servers.
///
/// ```swift
/// configuration.proxy = try .proxy("http://proxy.example:3128", except: "localhost,.example.org")
/// configuration.proxy = .environment()
/// ```
///
/// An `http` or `https` proxy receives requests to http URLs and forwards them. For https URLs, the proxy opens a tunnel
/// (CONNECT), and can't read the traffic in it. A `socks5` or `socks4` proxy receives addresses to connect to. A `socks5h` or
/// `socks4a` proxy receives names, so names are not resolved on this machine. SOCKS4 supports no passwords and no IPv6
/// addresses.
public struct ProxySettings: Sendable, Hashable {
  private enum Source: Hashable {
    case none
    case one(Proxy)
    case environment([String: Variable])
  }

  /// A variable of the environment.
  private struct Variable: Hashable {
    let name: String
    /// Nil if the variable's value is not a proxy.
    let proxy: Proxy?
  }

  private let source: Source
  private var exceptions: ProxyExceptions
  /// The user and the password for the proxy; if nil, the ones in the proxy's URL are used.
  public var credentials: ProxyCredentials?
  /// A PEM file with the certificates of the authorities that are trusted for an `https` proxy; if nil, the system's
  /// authorities are trusted. The proxy's certificate is always verified.
  public var authorities: LocalPath?

  private init(_ source: Source, _ exceptions: String) {
    self.source = source
    self.exceptions = ProxyExceptions(exceptions)
  }

  /// Requests go directly to their servers, even if the environment names a proxy.
  public static let none = ProxySettings(.none, "")

  /// All requests go through one proxy.
  ///
  /// - Parameters:
  ///   - text: `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`. The scheme is `http` (the default), `https`, `socks4`, `socks4a`,
  ///     `socks5` or `socks5h`; the default port is 443 for `https`, otherwise 1080, as in curl.
  ///   - hosts: hosts that are reached without the proxy, separated by commas: names, which include the names below them,
  ///     addresses, and blocks such as `10.0.0.0/8`. `*` is every host.
  /// - Throws: `invalidSetting`.
  public static func proxy(
    _ text: String, except hosts: String = ""
  ) throws(TransferError) -> ProxySettings {
    guard let proxy = Proxy(text) else { throw .invalidProxy }
    return ProxySettings(.one(proxy), hosts)
  }

  /// The proxies that the environment names, as in curl: `http_proxy`, `https_proxy` or `HTTPS_PROXY`, and for both schemes
  /// `all_proxy` or `ALL_PROXY`. `no_proxy` or `NO_PROXY` lists the exceptions. `HTTP_PROXY` is not used, because web servers
  /// set it to a value that a client sends. If the value of a variable is not a proxy, the requests that need the variable
  /// fail.
  ///
  /// - Parameter variables: the variables; if nil, the environment of this process.
  public static func environment(_ variables: [String: String]? = nil) -> ProxySettings {
    func value(_ name: String) -> (name: String, value: String)? {
      let text = if let variables { variables[name] } else { environmentVariable(name) }
      return text.flatMap { $0.isEmpty ? nil : (name, $0) }
    }
    let all = value("all_proxy") ?? value("ALL_PROXY")
    let found = [
      "http": value("http_proxy") ?? all,
      "https": value("https_proxy") ?? value("HTTPS_PROXY") ?? all,
    ].compactMapValues { $0.map { Variable(name: $0.name, proxy: Proxy($0.value)) } }
    let exceptions = value("no_proxy") ?? value("NO_PROXY")
    return ProxySettings(found.isEmpty ? .none : .environment(found), exceptions?.value ?? "")
  }

  /// These proxies with other exceptions.
  ///
  /// - Parameter hosts: as for ``proxy(_:except:)``.
  public func except(_ hosts: String) -> ProxySettings {
    var settings = self
    settings.exceptions = ProxyExceptions(hosts)
    return settings
  }

  /// Whether no request goes through a proxy.
  package var isNone: Bool { source == .none }

  /// Whether one proxy was set for all requests, in place of the environment's proxies.
  package var isExplicit: Bool { if case .one = source { true } else { false } }

  /// The proxy for requests to an origin; nil if there is none.
  ///
  /// - Throws: `invalidSetting` if the value of the environment variable is not a proxy.
  func proxy(for origin: HTTPURL.Origin) throws(TransferError) -> Proxy? {
    var proxy: Proxy
    switch source {
    case .none: return nil
    case _ where exceptions.contain(origin.host): return nil
    case .one(let one): proxy = one
    case .environment(let variables):
      guard let variable = variables[origin.scheme] else { return nil }
      guard let named = variable.proxy else {
        throw .invalidProxy(ofVariable: variable.name)
      }
      proxy = named
    }
    proxy.credentials = credentials ?? proxy.credentials
    // RFC 7617 §2: the first colon ends the user.
    if proxy.isHTTP, proxy.credentials?.user.utf8.contains(UInt8(ascii: ":")) == true {
      throw .colonInUserOfProxy
    }
    return proxy
  }

  /// The proxy for requests to a URL, as text for people and without its credentials; nil if there is none.
  package func proxyName(for url: HTTPURL) throws(TransferError) -> String? {
    try proxy(for: url.origin)?.description
  }

  /// Whether the proxy for requests to a URL gets a user without a password, as with SOCKS4.
  package func hasUsersOnly(for url: HTTPURL) -> Bool {
    (try? proxy(for: url.origin))?.kind.hasPasswords == false
  }

  /// Whether a password was set, but the proxy for requests to a URL gets only the user, as with SOCKS4.
  package func losesPassword(for url: HTTPURL) -> Bool {
    hasUsersOnly(for: url) && (try? proxy(for: url.origin))?.credentials?.password.isEmpty == false
  }

  func check() throws(TransferError) {
    guard let credentials else { return }
    for text in [credentials.user, credentials.password]
    where !HTTPSyntax.isFieldValue(text.utf8) {
      throw .controlCharacterInCredentialsOfProxy
    }
  }
}
