import FormStreamMultipart
import FormStreamHTTP

/// The flags about proxies.
extension Flag {
  static let proxyFlags = [
    Flag(
      long: "proxy", short: "x", value: Value(placeholder: "[SCHEME://]HOST[:PORT]"),
      group: .connection, verbs: Verb.requesting,
      summary: "Send requests through this proxy; '' means none",
      detail: """
        The scheme is http, https, socks4, socks4a, socks5 or socks5h; the port, if none is given, is 1080, and 443 for https. Without the \
        flag, http_proxy, https_proxy and all_proxy of the environment name the proxy. To https URLs, proxies of http make a \
        tunnel (CONNECT), so that they see neither headers nor bodies.
        """
    ) { (arguments, argument) in arguments.request.proxy.address = .url(argument) },
    Flag(
      long: "socks5", value: Value(placeholder: "HOST[:PORT]"), group: .connection,
      verbs: Verb.requesting,
      summary: "Send requests through this SOCKS proxy; names are looked up on this machine"
    ) { (arguments, argument) in arguments.request.proxy.address = .host("socks5", argument) },
    Flag(
      long: "socks5-hostname", value: Value(placeholder: "HOST[:PORT]"), group: .connection,
      verbs: Verb.requesting,
      summary: "Send requests through this SOCKS proxy; it looks names up"
    ) { (arguments, argument) in arguments.request.proxy.address = .host("socks5h", argument) },
    Flag(
      long: "socks4", value: Value(placeholder: "HOST[:PORT]"), group: .connection,
      verbs: Verb.requesting,
      summary: "Send requests through this proxy of SOCKS4, and look names up here",
      detail:
        "Only servers with an address of IPv4 are reached. The proxy gets the user of -U, and no password."
    ) { (arguments, argument) in arguments.request.proxy.address = .host("socks4", argument) },
    Flag(
      long: "socks4a", value: Value(placeholder: "HOST[:PORT]"), group: .connection,
      verbs: Verb.requesting,
      summary: "Send requests through this proxy of SOCKS4, which looks names up",
      detail: "The proxy gets the user of -U, and no password."
    ) { (arguments, argument) in arguments.request.proxy.address = .host("socks4a", argument) },
    Flag(
      long: "proxy-user", short: "U", value: Value(placeholder: "USER:PASS"), group: .connection,
      verbs: Verb.requesting,
      summary: "User and password for the proxy; --proxy-user-file is safer"
    ) { (arguments, argument) throws(Failure) in
      try arguments.request.proxy.set(.user(argument))
    },
    Flag(
      long: "proxy-user-file", value: Value(placeholder: "FILE", completion: .path),
      group: .connection, verbs: Verb.requesting,
      summary: "A file that holds USER:PASS for the proxy; - is standard input"
    ) { (arguments, argument) throws(Failure) in
      try arguments.request.proxy.set(.userFile(argument))
    },
    Flag(
      long: "proxy-cacert", value: Value(placeholder: "FILE", completion: .path),
      group: .connection, verbs: Verb.requesting,
      summary: "Trust only the authorities in FILE (PEM) for a proxy of https"
    ) { (arguments, argument) in arguments.request.proxy.authorities = argument },
    Flag(
      long: "noproxy", value: Value(placeholder: "HOSTS"), group: .connection,
      verbs: Verb.requesting,
      summary: "Reach these hosts without a proxy, whatever no_proxy says",
      detail: """
        Names (each with all names below it), addresses, and blocks such as 10.0.0.0/8, with commas between them. * is \
        every host.
        """
    ) { (arguments, argument) in arguments.request.proxy.exceptions = argument },
  ]
}

/// The arguments about proxies.
struct ProxyArguments {
  enum Address {
    /// `-x`
    case url(Argument)
    /// `--socks5` and similar flags: the scheme, and the value of the flag.
    case host(String, Argument)
  }

  /// The flag for proxies of a scheme.
  static func flag(of scheme: String) -> String {
    scheme == "socks5h" ? "--socks5-hostname" : "--\(scheme)"
  }

  /// The proxy that was typed; nil if none was typed. The environment may then name a proxy.
  var address: Address?
  var exceptions: Argument?
  private(set) var credentials: CredentialsArgument?
  var authorities: Argument?

  fileprivate mutating func set(_ credentials: CredentialsArgument) throws(Failure) {
    if self.credentials != nil {
      throw .usage("-U and --proxy-user-file both set the proxy's user: give one of them.")
    }
    self.credentials = credentials
  }
}
